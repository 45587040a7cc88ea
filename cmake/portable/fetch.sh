#!/bin/bash
# fetch.sh FOLDER ARCHITECTURE SUITE[,SUITE...] PACKAGE...: unpacks Debian packages of another
# release or architecture into FOLDER. Installs nothing: the packages are fetched and checked by an
# apt of their own. A suite that ends in -security comes from the archive of security updates.
# TILE_DEBIAN_MIRROR and TILE_DEBIAN_SECURITY_MIRROR name other mirrors.
set -euo pipefail
if [ $# -lt 4 ]; then
  echo "usage: fetch.sh FOLDER ARCHITECTURE SUITE[,SUITE...] PACKAGE..." >&2
  exit 2
fi
folder=$(realpath -m "$1") architecture=$2 suites=$3
shift 3
rm -rf "$folder"
mkdir -p "$folder"/.apt/{lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d,deb}
apt=$folder/.apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
for suite in ${suites//,/ }; do
  case $suite in
    *-security) mirror=${TILE_DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security} ;;
    *) mirror=${TILE_DEBIAN_MIRROR:-http://deb.debian.org/debian} ;;
  esac
  echo "deb [signed-by=$keyring] $mirror $suite main" >>"$apt/etc/sources.list"
done
touch "$apt/status"
options=(-q -o APT::Architecture="$architecture" -o APT::Architectures="$architecture"
         -o Dir::State="$apt" -o Dir::State::Lists="$apt/lists"
         -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o Dir::Etc="$apt/etc"
         -o Dir::Etc::SourceList="$apt/etc/sources.list" -o Dir::Etc::SourceParts=/dev/null
         -o APT::Sandbox::User=root -o Acquire::Languages=none)
apt-get "${options[@]}" update
(cd "$apt/deb" && apt-get "${options[@]}" download "$@")
for package in "$apt"/deb/*.deb; do dpkg-deb -x "$package" "$folder"; done
# LLD looks for the target of an absolute link outside of the sysroot.
find "$folder" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$folder$(readlink "$link")")" "$link"
done
rm -rf "$apt"
touch "$folder/.done"
