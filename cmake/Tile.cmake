# How this project's libraries, TableGen files and tools are built.
# MLIR_DIR, or this prefix, says where MLIR is; LLVM, LLD and their tools come from beside it. A
# cross build names a prefix whose tools are of this machine and whose libraries are not.
set(LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH "Prefix of LLVM and MLIR 22")
if(NOT TILE_RUNTIME_ONLY AND NOT CMAKE_CROSSCOMPILING)
  find_package(MLIR REQUIRED CONFIG HINTS ${LLVM_PREFIX})
  if(NOT LLVM_VERSION_MAJOR EQUAL 22)
    message(FATAL_ERROR
      "expected MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}; set MLIR_DIR")
  endif()
  set(LLVM_PREFIX ${LLVM_INSTALL_PREFIX})
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_compile_options(-ffunction-sections -fdata-sections -Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Lets ccache reuse objects built against the precompiled header.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
if(TILE_SANITIZE)
  # A report ends the program, so that a test fails. Types of functions are not compared: the CUDA
  # driver's functions are found by name, and its handles are opaque pointers.
  add_compile_options(-fsanitize=${TILE_SANITIZE} -fno-sanitize=function -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TILE_SANITIZE})
endif()
# What is shipped: no writable code or tables of addresses (programs are position independent by
# default), all symbols bound when it is loaded, the stack guarded, and copies and prints of the C
# library checked.
if(NOT TILE_SANITIZE)
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
option(TILE_REPRODUCIBLE
  "Binaries that do not hold the folders of sources and build, so that every folder gives the same"
  OFF)
if(TILE_REPRODUCIBLE)
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
    -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
endif()
include_directories(${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
include_directories(SYSTEM ${LLVM_PREFIX}/include)
# Include as "dialect/Tile/TileOps.h.inc", "frontend/Diag/Engine.h", and so on, from the root of the
# tree.

# LLVM's name for this machine's processors, which code for the CPU is compiled for.
set(TILE_HOST_LLVM X86)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(TILE_HOST_LLVM AArch64)
endif()
string(TOLOWER ${TILE_HOST_LLVM} TILE_HOST_COMPONENT)

# The archives that a tool links: MLIR, LLVM's code generators and ORC. Never the shared libraries
# as well.
if(NOT TILE_RUNTIME_ONLY)
  execute_process(COMMAND ${LLVM_PREFIX}/bin/llvm-config --link-static --libfiles
    ${TILE_HOST_COMPONENT}codegen ${TILE_HOST_COMPONENT}asmparser nvptxcodegen
    orcjit passes option lto dtlto
    OUTPUT_VARIABLE TILE_LLVM_ARCHIVES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(TILE_LLVM_ARCHIVES)
  list(FILTER TILE_LLVM_ARCHIVES EXCLUDE REGEX Polly)
  # Links what packages hold for the CPU.
  set(TILE_LLD_ARCHIVES ${LLVM_PREFIX}/lib/liblldELF.a ${LLVM_PREFIX}/lib/liblldCommon.a)
  file(GLOB TILE_MLIR_ARCHIVES ${LLVM_PREFIX}/lib/libMLIR*.a)
  list(FILTER TILE_MLIR_ARCHIVES EXCLUDE REGEX "MLIR(CAPI|Test|MlirOpt|Lsp)")
endif()

# tile_tablegen(TARGET FILE.td OUT.inc-name:flag[:flag...] ...): makes custom target TARGET that
# writes OUT.inc files.
function(tile_tablegen target td)
  file(RELATIVE_PATH dir ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(pair ${ARGN})
    string(REPLACE ":" ";" flags ${pair})
    list(POP_FRONT flags out)
    add_custom_command(OUTPUT ${out}.inc DEPENDS ${td} DEPFILE ${out}.d
      COMMAND ${LLVM_PREFIX}/bin/mlir-tblgen ${flags} -I${LLVM_PREFIX}/include -I${CMAKE_SOURCE_DIR}
              ${CMAKE_CURRENT_SOURCE_DIR}/${td}
                --write-if-changed -o ${CMAKE_CURRENT_BINARY_DIR}/${out}.inc -d ${out}.d
      COMMENT "TableGen ${dir}/${out}.inc")
    list(APPEND outs ${CMAKE_CURRENT_BINARY_DIR}/${out}.inc)
  endforeach()
  add_custom_target(${target} DEPENDS ${outs})
endfunction()

# tile_library(NAME [MLIR] [DEPENDS target...] [LINK lib...]): a static library of every .cpp below
# this folder.
function(tile_library name)
  cmake_parse_arguments(arg "MLIR" "" "DEPENDS;LINK;SOURCES" ${ARGN})
  if(NOT arg_SOURCES)
    file(GLOB_RECURSE arg_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_MLIR)
    target_precompile_headers(${name} REUSE_FROM TilePrecompiled)
  endif()
  # What libFuzzer needs to see which code an input reaches; not -fsanitize=fuzzer-no-link, which
  # the precompiled header would need too.
  if(TILE_FUZZ_COVERAGE AND name MATCHES "^Tile(Syntax|Sema|Frontend|Passes)$")
    target_compile_options(${name}
      PRIVATE -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
  endif()
endfunction()

# tile_tool(NAME SOURCES... LINK lib...): an executable in bin/ linked with MLIR and LLVM archives.
function(tile_tool name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)   # as the precompiled header: -fPIE would differ
  target_precompile_headers(${name} REUSE_FROM TilePrecompiled)
  target_link_libraries(${name} PRIVATE ${arg_LINK} ${TILE_MLIR_ARCHIVES} ${TILE_LLVM_ARCHIVES}
    -l:libz.a -l:libzstd.a pthread dl)
  target_link_options(${name} PRIVATE -fuse-ld=lld -B${LLVM_PREFIX}/bin -Wl,--gc-sections,--icf=all
    -static-libstdc++ -static-libgcc)
endfunction()

# One precompiled header for everything that includes MLIR: a pass file then takes a second instead
# of six.
if(NOT TILE_RUNTIME_ONLY)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cpp "\n")
  add_library(TilePrecompiled STATIC ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_precompile_headers(TilePrecompiled PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Precompiled.h)
endif()
