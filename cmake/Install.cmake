# What `cmake --install` and `./dev dist` put into a folder: the compiler, the runtime library with
# its headers, the Python package, licences, documentation, and what CMake and pkg-config need to
# find them.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/TileConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(cmake/package/tile.pc.in ${CMAKE_BINARY_DIR}/cmake/tile.pc @ONLY)
install(TARGETS tilec RUNTIME DESTINATION bin)
install(TARGETS tile_runtime LIBRARY DESTINATION lib)
if(TARGET tile_native)
  install(TARGETS tile_native LIBRARY DESTINATION lib)
endif()
install(DIRECTORY runtime/include/ DESTINATION include)
install(DIRECTORY python/tile_compiler DESTINATION python PATTERN __pycache__ EXCLUDE)
install(FILES cmake/package/TileConfig.cmake ${CMAKE_BINARY_DIR}/cmake/TileConfigVersion.cmake
  DESTINATION lib/cmake/Tile)
install(FILES ${CMAKE_BINARY_DIR}/cmake/tile.pc DESTINATION lib/pkgconfig)

# Licences and documentation lie in share/doc of a prefix. The portable release and the wheel have
# them where the sources do, so that what one page says of another holds; they install the
# components `release` and `Unspecified`, without this one.
set(licences LICENSE LICENSE.generated-code THIRD-PARTY-NOTICES)
install(FILES ${licences} README.md CHANGELOG.md CONTRIBUTING.md DESTINATION share/doc/tile
  COMPONENT prefix)
install(DIRECTORY docs editors DESTINATION share/doc/tile COMPONENT prefix)

install(FILES ${licences} README.md CHANGELOG.md CONTRIBUTING.md DESTINATION . COMPONENT release
  EXCLUDE_FROM_ALL)
install(FILES manifest/Manifest.md DESTINATION manifest COMPONENT release EXCLUDE_FROM_ALL)
install(FILES formats/package.schema.json DESTINATION formats COMPONENT release EXCLUDE_FROM_ALL)
install(DIRECTORY docs editors examples DESTINATION . COMPONENT release
  EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
# To read: tilec has it inside.
install(DIRECTORY library/std DESTINATION library COMPONENT release EXCLUDE_FROM_ALL)

# For those who test and measure on a machine without the sources.
install(PROGRAMS dev DESTINATION . COMPONENT tests EXCLUDE_FROM_ALL)
install(TARGETS tile-opt RUNTIME DESTINATION bin COMPONENT tests EXCLUDE_FROM_ALL)
install(DIRECTORY bench DESTINATION . COMPONENT tests EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
install(DIRECTORY test/gpu test/e2e test/conformance test/random test/language DESTINATION test
  COMPONENT tests EXCLUDE_FROM_ALL
  PATTERN __pycache__ EXCLUDE)
