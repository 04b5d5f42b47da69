#!/usr/bin/env bash
# Makes the tarball of the command for other systems: make_tarball.sh FOLDER COMMAND SHARED, run in the root of the
# repository. COMMAND and SHARED are self-contained (third_party/shared_library.bzl). It holds bin, lib, include and share,
# as below /usr/local, and is the same for the same contents: times are those of SOURCE_DATE_EPOCH, by default the
# beginning of 2026. Prints its path.
set -euo pipefail

if (($# != 3)); then
  echo "make_tarball.sh: expected FOLDER, COMMAND and SHARED, got: $*" >&2
  exit 2
fi
mkdir -p "$1"
folder="$(cd "$1" && pwd)" command="$2" shared="$3"
read -r _ version _ < <("$command" --version)
name="banyan-$version-linux-$(uname -m)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
umask 022

tree="$work/$name"
"$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/install.sh" "$tree" "$command" "" "" "$shared"
# The Python package is the wheel's.
rm -r "$tree/lib/python3"
grep -rIl "$tree" "$tree" | xargs -r sed -i "s|$tree|/usr/local|g"
install -m 644 LICENSE "$tree/share/banyan/LICENSE"
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-1767225600}" \
  --directory "$work" "$name" | gzip -9n >"$folder/$name.tar.gz"
echo "$folder/$name.tar.gz"
