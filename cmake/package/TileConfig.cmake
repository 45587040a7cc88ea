# find_package(Tile): the compiler Tile::tilec, the library Tile::runtime, and tile_add_kernels().
# Works from wherever the folder that holds bin, lib and include lies.
cmake_minimum_required(VERSION 3.20)
get_filename_component(_tile_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Tile::tilec)
  add_executable(Tile::tilec IMPORTED)
  set_target_properties(Tile::tilec PROPERTIES IMPORTED_LOCATION "${_tile_prefix}/bin/tilec")
  add_library(Tile::runtime SHARED IMPORTED)
  set_target_properties(Tile::runtime
    PROPERTIES IMPORTED_LOCATION "${_tile_prefix}/lib/libtile_runtime.so.0"
    IMPORTED_SONAME libtile_runtime.so.0 INTERFACE_INCLUDE_DIRECTORIES "${_tile_prefix}/include")
endif()
find_package(Threads REQUIRED)

# tile_add_kernels(NAME FILE.tile [ARCH name...] [DEFINES NAME=VALUE...] [OPTIONS option...]
# [PACKAGE])
#
# Without PACKAGE: a static library NAME of the kernels as C. Link it and include "FILE.h"; nothing
# of Tile is needed when the program runs. With PACKAGE: a target NAME that makes NAME.tilepkg in
# the current build folder, for Tile::runtime to load; the target's property TILE_PACKAGE is its
# path. ARCH lists GPUs (sm_80 sm_90a), native or cpu; native unless stated.
function(tile_add_kernels name file)
  cmake_parse_arguments(arg "PACKAGE" "" "ARCH;DEFINES;OPTIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tile_add_kernels(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_ARCH)
    set(arg_ARCH native)
  endif()
  if(NOT IS_ABSOLUTE "${file}")
    set(file "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  endif()
  list(JOIN arg_ARCH "," targets)
  set(command Tile::tilec "${file}" --target ${targets} ${arg_OPTIONS})
  foreach(define ${arg_DEFINES})
    list(APPEND command -D "${define}")
  endforeach()
  get_filename_component(stem "${file}" NAME_WE)
  if(arg_PACKAGE)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${name}.tilepkg")
    set(outputs "${output}")
  else()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}")
    file(MAKE_DIRECTORY "${folder}")
    set(output "${folder}/${stem}.c")
    set(outputs "${output}" "${folder}/${stem}.h")
    if(arg_ARCH STREQUAL "cpu")
      list(APPEND outputs "${folder}/${stem}.o")
    endif()
  endif()
  add_custom_command(OUTPUT ${outputs} DEPENDS "${file}" DEPFILE "${output}.d" VERBATIM
    COMMAND ${command} -o "${output}" -MD -MF "${output}.d"
      COMMENT "tilec ${stem}.tile for ${targets}")
  if(arg_PACKAGE)
    add_custom_target(${name} ALL DEPENDS "${output}")
    set_target_properties(${name} PROPERTIES TILE_PACKAGE "${output}")
    return()
  endif()
  add_library(${name} STATIC ${outputs})
  set_source_files_properties("${folder}/${stem}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${name} PUBLIC "${folder}")
  target_link_libraries(${name} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
endfunction()
