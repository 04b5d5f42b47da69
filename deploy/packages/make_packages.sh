#!/usr/bin/env bash
# Makes Debian packages of what is installed: make_packages.sh OUT TREE, where TREE/usr is what install.sh has installed.
# Writes OUT/PACKAGE_VERSION_ARCH.deb for the packages banyan, libbanyan1, libbanyan-dev and python3-banyan. Needs dpkg-dev.
# Times are those of SOURCE_DATE_EPOCH, by default the beginning of 2026.
set -euo pipefail

if (($# != 2)) || [[ ! -x "$2/usr/bin/banyan" ]]; then
  echo "make_packages.sh: expected OUT and a TREE with usr/bin/banyan, got: $*" >&2
  exit 2
fi
here="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)"
mkdir -p "$1"
out="$(cd "$1" && pwd)" tree="$(cd "$2" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-1767225600}"
umask 022

read -r _ program_version _ < <("$tree/usr/bin/banyan" --version)
# Releases have other libraries, so that the packages of one are not those of another.
version="$program_version+$(. /etc/os-release && echo "${ID/#debian/deb}${VERSION_ID:-}")"
architecture="$(dpkg --print-architecture)" multiarch="$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
maintainer="The Banyan authors <banyan@localhost>"
description="geo-distributed parameter server"

# take PACKAGE PATH...: moves what the tree has of these paths below usr/ into the package.
take() {
  local to="$work/$1" path
  shift
  for path in "$@"; do
    [[ -e "$tree/usr/$path" || -L "$tree/usr/$path" ]] || continue
    mkdir -p "$to/usr/$(dirname "$path")"
    cp -a "$tree/usr/$path" "$to/usr/$(dirname "$path")/"
  done
}

# Prints what the programs and libraries among the files need, as dpkg knows it.
needs() {
  mkdir -p "$work/shlibs/debian"
  : >"$work/shlibs/debian/control"
  (cd "$work/shlibs" && dpkg-shlibdeps -O --ignore-missing-info "$@" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# Prints which packages have what programs that link with the archive link with besides, as pkg-config tells them. Some of
# it comes with every compiler, in files of other names.
needs_to_link() {
  tr ' ' '\n' <"$tree/usr/lib/pkgconfig/banyan.pc" | sed -n "s|^-l\([^:]*\)\$|/usr/lib/$multiarch/lib\1.so|p" |
    { xargs dpkg -S 2>/dev/null || true; } | sed 's/:.*//' | sort -u | paste -sd, | sed 's/,/, /g'
}

# Where the files lie once they are installed.
at_home() {
  grep -rIl "$tree/usr" "$work/$1/usr" 2>/dev/null | while read -r file; do sed -i "s|$tree/usr|/usr|g" "$file"; done || true
}

document() {
  local doc="$work/$1/usr/share/doc/$1"
  mkdir -p "$doc"
  install -m 644 "$here/copyright" "$doc/copyright"
  printf 'banyan (%s) unstable; urgency=medium\n\n  * Made from the source.\n\n -- %s  %s\n' "$version" "$maintainer" \
    "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
  # Whoever makes a package is its maintainer, and has no address here.
  mkdir -p "$work/$1/usr/share/lintian/overrides"
  printf '%s: bogus-mail-host *\n%s: bogus-mail-host-in-debian-changelog *\n' "$1" "$1" \
    >"$work/$1/usr/share/lintian/overrides/$1"
}

# build PACKAGE SECTION DEPENDS SUMMARY TEXT
build() {
  local package="$1" root="$work/$1"
  at_home "$package"
  document "$package"
  mkdir -p "$root/DEBIAN"
  cat >"$root/DEBIAN/control" <<EOF
Package: $package
Source: banyan
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Section: $2
Priority: optional
Depends: $3
Description: $4
 $5
EOF
  [[ "$3" ]] || sed -i '/^Depends: $/d' "$root/DEBIAN/control"
  (cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$root" "$out/${package}_${version}_${architecture}.deb" >/dev/null
  echo "$out/${package}_${version}_${architecture}.deb"
}

# --- banyan: the command, units, samples ---
take banyan bin/banyan share/banyan share/bash-completion share/fish share/zsh
strip --strip-unneeded "$work/banyan/usr/bin/banyan" 2>/dev/null || true
mkdir -p "$work"/banyan/{usr/lib/systemd,etc/banyan,usr/share/man/man1,usr/share/man/man5}
mv "$work/banyan/usr/share/banyan/systemd" "$work/banyan/usr/lib/systemd/system"
"$tree/usr/bin/banyan" man "$work/banyan/usr/share/man/man1"
mv "$work"/banyan/usr/share/man/man1/*.5 "$work/banyan/usr/share/man/man5/"
gzip -9n "$work"/banyan/usr/share/man/man?/*
mkdir -p "$work/banyan/DEBIAN"
install -m 755 "$here/postinst" "$here/prerm" "$here/postrm" "$work/banyan/DEBIAN/"
build banyan net "$(needs "$work/banyan/usr/bin/banyan"), adduser" "$description" \
  "Data centres that are far apart train one model together: gradients travel
 compressed, along trees that are packed into the links. This package has the
 command with the scheduler and node daemons, systemd units and samples."

# --- libbanyan1: for C and what can call it ---
library="libbanyan1 (= $version)"
take libbanyan1 lib/libbanyan.so.1
strip --strip-unneeded "$work/libbanyan1/usr/lib/libbanyan.so.1"
chmod 644 "$work/libbanyan1/usr/lib/libbanyan.so.1"
mkdir -p "$work/libbanyan1/DEBIAN"
echo "activate-noawait ldconfig" >"$work/libbanyan1/DEBIAN/triggers"
echo "libbanyan 1 libbanyan1 (>= $version)" >"$work/libbanyan1/DEBIAN/shlibs"
build libbanyan1 libs "$(needs "$work/libbanyan1/usr/lib/libbanyan.so.1")" "$description, library for C" \
  "Sessions of training processes, and nodes inside of them, by a stable
 interface of C99."

# --- libbanyan-dev: headers and the archive ---
take libbanyan-dev include lib/libbanyan.a lib/libbanyan.so lib/pkgconfig lib/cmake
mkdir -p "$work/libbanyan-dev/usr/lib/$multiarch"
mv "$work/libbanyan-dev/usr/lib/pkgconfig" "$work/libbanyan-dev/usr/lib/$multiarch/"
build libbanyan-dev libdevel "$library, $(needs_to_link)" "$description, development files" \
  "Headers and libraries for training programs in C++, and in C."

# --- python3-banyan ---
take python3-banyan lib/python3
mkdir -p "$work/python3-banyan/DEBIAN"
install -m 755 "$here/python.postinst" "$work/python3-banyan/DEBIAN/postinst"
install -m 755 "$here/python.prerm" "$work/python3-banyan/DEBIAN/prerm"
build python3-banyan python "$library, banyan, python3" "$description, for Python" \
  "Sessions for numpy and PyTorch: synchronous gradients, and local updates
 that are averaged now and then."
