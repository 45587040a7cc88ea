#!/bin/bash
# sysroot.sh FOLDER [ARCHITECTURE]: fills FOLDER with the C library of Debian 11 (glibc 2.31), to
# link against, for amd64 or arm64.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: sysroot.sh FOLDER [amd64|arm64]" >&2; exit 2; }
[ ! -e "$1/.done" ] || exit 0
exec "$(dirname "$0")/fetch.sh" "$1" "${2:-amd64}" bullseye libc6 libc6-dev linux-libc-dev \
  libcrypt-dev libcrypt1 libgcc-s1
