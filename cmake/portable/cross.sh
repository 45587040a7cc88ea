#!/bin/bash
# cross.sh FOLDER: fills FOLDER with what it takes to build for 64-bit ARM on another machine, from
# Debian's arm64 packages:
#   root/            headers and libraries: C, C++, LLVM, MLIR, LLD, ANTLR, what they need, Python
#   prefix/          LLVM's prefix: libraries and headers of root, programs of this machine
#   toolchain.cmake  for cmake --toolchain
# LLVM and MLIR are of the very version that this machine has: its mlir-tblgen writes code for those
# headers.
set -euo pipefail
[ $# = 1 ] || { echo "usage: cross.sh FOLDER" >&2; exit 2; }
folder=$(realpath -m "$1") llvm=/usr/lib/llvm-22
made="# made by $(sha256sum "$0" | cut -d' ' -f1)"     # another list of packages: filled anew
! grep -qsxF "$made" "$folder/toolchain.cmake" || exit 0
rm -rf "$folder"
version=$(dpkg-query -W -f='${Version}' libmlir-22-dev)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
"$(dirname "$0")/fetch.sh" "$folder/root" arm64 "$suite,$suite-updates,$suite-security" \
  {libmlir-22-dev,libmlir-22,llvm-22-dev,libllvm22,liblld-22-dev,liblld-22}"=$version" \
  libc6 libc6-dev linux-libc-dev libcrypt-dev libcrypt1 \
  libstdc++-12-dev libgcc-12-dev libgcc-s1 libstdc++6 \
  libantlr4-runtime-dev libantlr4-runtime4.9 libzstd-dev libzstd1 zlib1g-dev zlib1g \
  libminizip-dev libminizip1 libxml2 libffi-dev libffi8 libsodium-dev libsodium23 \
  libxxhash-dev libxxhash0 \
  libpython3.11-dev python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1
cp -r /usr/include/nlohmann "$folder/root/usr/include/"          # for every architecture the same
mkdir -p "$folder/prefix/bin"
ln -sfn ../root$llvm/lib "$folder/prefix/lib"
ln -sfn ../root$llvm/include "$folder/prefix/include"
for program in mlir-tblgen llvm-tblgen ld.lld; do
  ln -sf "$llvm/bin/$program" "$folder/prefix/bin/$program"
done
# A copy: it finds its prefix by its own path.
cp "$(realpath "$llvm/bin/llvm-config")" "$folder/prefix/bin/llvm-config"
cat >"$folder/toolchain.cmake" <<END
$made
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT $folder/root)
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld-22)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -fuse-ld=lld-22)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -fuse-ld=lld-22)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(LLVM_PREFIX $folder/prefix CACHE PATH "")
set(TILE_PYTHON_INCLUDE $folder/root/usr/include/python3.11 CACHE PATH "")
END
