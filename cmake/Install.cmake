# What `cmake --install` and `./dev dist` put into a folder: the compiler, the runtime library with its headers, the Python
# package, and what CMake and pkg-config need to find them.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/TileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/package/tile.pc.in ${CMAKE_BINARY_DIR}/cmake/tile.pc @ONLY)
install(TARGETS tilec RUNTIME DESTINATION bin)
install(TARGETS tile_runtime LIBRARY DESTINATION lib)
if(TARGET tile_native)
  install(TARGETS tile_native LIBRARY DESTINATION lib)
endif()
install(DIRECTORY runtime/include/ DESTINATION include)
install(DIRECTORY python/tile DESTINATION python PATTERN __pycache__ EXCLUDE)
install(FILES cmake/package/TileConfig.cmake ${CMAKE_BINARY_DIR}/cmake/TileConfigVersion.cmake DESTINATION lib/cmake/Tile)
install(FILES ${CMAKE_BINARY_DIR}/cmake/tile.pc DESTINATION lib/pkgconfig)
