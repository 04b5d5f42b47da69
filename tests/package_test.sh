#!/usr/bin/env bash
# The Debian packages: lintian finds nothing, commands and overlay.yaml have pages, bash completes commands and flags, files name where they
# will lie.
set -euo pipefail
fail() { echo "package_test: $*" >&2; exit 1; }

built=deploy/install
tree="$TEST_TMPDIR/tree" out="$TEST_TMPDIR/out" root="$TEST_TMPDIR/root"
"$built/install.sh" "$tree/usr" tools/banyan "$built/libbanyan.a" "$built/libbanyan.flags" runtime/c_api/libbanyan.so
deploy/packages/make_packages.sh "$out" "$tree"
for package in "$out"/*.deb; do dpkg-deb -x "$package" "$root"; done
found="$(lintian --no-cfg --allow-root "$out"/*.deb)"
[[ -z "$found" ]] || fail "expected lintian to find nothing, it found: $found"

read -r _ version _ < <(tools/banyan --version)
version+="+deb$(. /etc/os-release && echo "$VERSION_ID")"
dpkg-deb -f "$out"/banyan_*.deb Version | grep -x "$version" >/dev/null || fail "expected version $version"
dpkg-deb -f "$out"/banyan_*.deb Depends | grep 'libzmq5' >/dev/null || fail "expected the libraries that it needs among Depends"
dpkg-deb -f "$out"/libbanyan-dev_*.deb Depends | grep 'libabsl-dev.*libzmq3-dev' >/dev/null ||
  fail "expected the libraries that programs link with among what libbanyan-dev depends on"
if grep -rIl "$tree" "$root"; then fail "expected no file to name the place where it was made; those above do"; fi

for page in man1/banyan.1 man1/banyan-node.1 man1/banyan-wan-up.1 man5/overlay.yaml.5; do
  zcat "$root/usr/share/man/$page.gz" | grep '^\.SH NAME' >/dev/null || fail "expected a manual page $page"
done

PATH="$PWD/tools:$PATH"
source "$root/usr/share/bash-completion/completions/banyan"
COMP_WORDS=(banyan sim-fa) COMP_CWORD=1
_banyan
[[ "${COMPREPLY[*]}" == sim-faults ]] || fail "expected sim-faults, got: ${COMPREPLY[*]}"
COMP_WORDS=(banyan plan --advi) COMP_CWORD=2
_banyan
[[ "${COMPREPLY[*]}" == --advise ]] || fail "expected --advise, got: ${COMPREPLY[*]}"
