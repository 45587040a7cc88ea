#!/bin/bash
# sysroot.sh FOLDER: fills FOLDER with the C library of Debian 11 (glibc 2.31), to link against.
# Installs nothing: the packages are fetched and checked by an apt of their own, and unpacked.
set -euo pipefail
[ $# = 1 ] || { echo "usage: sysroot.sh FOLDER" >&2; exit 2; }
folder=$(realpath -m "$1")
[ ! -e "$folder/.done" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"/.apt/{lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d,deb}
apt=$folder/.apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=${TILE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
echo "deb [signed-by=$keyring] $mirror bullseye main" >"$apt/etc/sources.list"
touch "$apt/status"
options=(-q -o Dir::State="$apt" -o Dir::State::Lists="$apt/lists"
         -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o Dir::Etc="$apt/etc"
         -o Dir::Etc::SourceList="$apt/etc/sources.list" -o Dir::Etc::SourceParts=/dev/null
         -o APT::Sandbox::User=root -o Acquire::Languages=none)
apt-get "${options[@]}" update
(cd "$apt/deb" && apt-get "${options[@]}" download libc6 libc6-dev linux-libc-dev libcrypt-dev \
  libcrypt1 libgcc-s1)
for package in "$apt"/deb/*.deb; do dpkg-deb -x "$package" "$folder"; done
# LLD looks for the target of an absolute link outside of the sysroot.
find "$folder" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$folder$(readlink "$link")")" "$link"
done
rm -rf "$apt"
touch "$folder/.done"
