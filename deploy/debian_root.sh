#!/usr/bin/env bash
# Runs a command of this checkout on another release of Debian, as root: debian_root.sh COMMAND RELEASE [ARGUMENTS].
#   test [ARGUMENTS]     `./banyan test ARGUMENTS`
#   package [DIRECTORY]  `./banyan package DIRECTORY`; then lintian looks at the packages, and packages/try_packages.sh at
#                        what they do on a machine that has nothing else, in a second root that is not kept
#   dist [DIRECTORY]     `./banyan dist DIRECTORY` here; packages/try_dist.sh looks at what they do in a root that is not kept
# In a root that debootstrap makes below ~/.cache, where what was installed and built remains for the next time. Needs
# debootstrap and Debian's mirror (or DEBIAN_MIRROR).
set -euo pipefail

checkout="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
command="${1:-}" release="${2:-}"
root="$HOME/.cache/banyan-$release"
child=

die() {
  echo "banyan: $1" >&2
  exit "${2:-1}"
}

# Runs a command in name spaces of its own: its mounts and all its processes end with it.
contain() {
  local code=0
  unshare --mount --pid --fork --kill-child=TERM "$@" </dev/null &
  child=$!
  wait "$child" || code=$?
  child=
  return "$code"
}

# Ends with code $1 after what `contain` runs, of which the first process gets the signal: the others end with it.
stop() {
  trap '' INT TERM
  local first=
  if [[ "$child" ]]; then read -r first <"/proc/$child/task/$child/children" || true; fi
  if [[ "$first" ]]; then
    kill -TERM "$first" || true
    for ((tries = 0; tries < 300; ++tries)); do
      kill -0 "$child" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$first" 2>/dev/null || true
    wait "$child" || true
  fi
  exit "$1"
}

# make_root ROOT [ARGUMENTS of debootstrap]: makes it under another name first, so that what was interrupted is not taken
# for whole.
make_root() {
  local to="$1" log="$1.log"
  shift
  if [[ -d "$to" ]]; then return; fi
  echo "banyan: making a root of Debian $release at $to (some minutes)" >&2
  rm -rf --one-file-system "$to.partial"
  mkdir -p "$to.partial"
  contain debootstrap --variant=minbase "$@" "$release" "$to.partial" \
    "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$log" 2>&1 ||
    die "debootstrap failed; $log says why: $(tail -1 "$log")"
  mv "$to.partial" "$to"
}

# Copies what git knows and what it would take up; what was deleted here is to be gone there too.
copy_checkout() {
  rm -rf --one-file-system "$root/banyan"
  mkdir "$root/banyan"
  (cd "$checkout" && git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do if [[ -e "$file" ]]; then printf '%s\0' "$file"; fi; done |
    tar --null --files-from=- --create) | tar --extract --directory="$root/banyan"
}

# In a chroot nobody may make a name space of users, as Bazel's sandbox and some tests do. Hence a new root of all mounts.
readonly in_root='
  set -e
  mount --bind "$0" "$0"
  mount -t proc proc "$0/proc"
  mount --rbind /sys "$0/sys"
  mount --rbind /dev "$0/dev"
  cd "$0"
  mkdir -p old
  pivot_root . old
  cd /
  umount --lazy old
  exec env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"'

# inside ROOT COMMAND...: runs a command there.
inside() {
  cp /etc/resolv.conf /etc/hosts "$1/etc/"
  contain bash -c "$in_root" "$@"
}

# Makes the packages, and has lintian look at them.
make_packages() {
  local found="$root/packages/lintian.log"
  rm -rf "$root/packages"
  inside "$root" /banyan/banyan package /packages >&2
  inside "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends lintian >&2
  if ! inside "$root" bash -c 'lintian --no-cfg --allow-root /packages/*.deb' >"$found" || [[ -s "$found" ]]; then
    die "expected lintian to find nothing, it found: $(<"$found")"
  fi
}

# fresh_root [ARGUMENTS of debootstrap]: sets `fresh` to a root that has nothing else and is gone at the end.
fresh_root() {
  fresh="$root.fresh"
  rm -rf --one-file-system "$fresh"
  trap "rm -rf --one-file-system '$fresh' '$fresh.partial' '$fresh.log'" EXIT
  make_root "$fresh" "$@"
}

# Installs them, uses them and takes them away again where nothing else is.
try_packages() {
  fresh_root
  mkdir "$fresh/packages"
  cp "$root"/packages/*.deb "$checkout/deploy/packages/try_packages.sh" "$checkout/examples/c/average.c" "$fresh/packages/"
  inside "$fresh" bash /packages/try_packages.sh /packages >&2
}

package() {
  (($# <= 1)) && [[ "${1:-}" != -* ]] || die "expected at most a DIRECTORY after --on $release, got '$*'" 2
  local out="${1:-$checkout/.build/packages-$release}"
  make_packages
  try_packages
  mkdir -p "$out"
  cp "$root"/packages/*.deb "$out/"
  ls "$out"/*.deb
}

dist() {
  (($# <= 1)) && [[ "${1:-}" != -* ]] || die "expected at most a DIRECTORY after --on $release, got '$*'" 2
  local out="${1:-$checkout/.build/dist}"
  "$checkout/banyan" dist "$out"
  fresh_root --include=iproute2,python3,python3-venv,zsh
  install -d -m 755 "$fresh/dist/docs" "$fresh/dist/python"
  cp "$out"/banyan-*.tar.gz "$out"/banyan_train-*.whl "$checkout/README.md" "$fresh/dist/"
  cp "$checkout"/docs/*.md "$fresh/dist/docs/"
  cp -r "$checkout/python/tests" "$fresh/dist/python/"
  cp "$checkout/deploy/packages/try_dist.sh" "$fresh/"
  inside "$fresh" bash /try_dist.sh /dist >&2
}

case "$command $release" in
  *\ bookworm | *\ trixie | dist\ bullseye) ;;
  *) die "expected bookworm or trixie after --on (or bullseye, for dist), got '$release'" 2 ;;
esac
shift 2
((EUID == 0)) || die "expected to be root, which debootstrap and mounts need; try: sudo $checkout/banyan $command --on $release"
command -v debootstrap >/dev/null || die "debootstrap is missing; run: apt-get install debootstrap"
trap 'stop 130' INT
trap 'stop 143' TERM
case "$command" in
  test | package)
    make_root "$root" --include=ca-certificates,procps
    copy_checkout
    ;;
esac
case "$command" in
  dist) dist "$@" ;;
  test) inside "$root" /banyan/banyan test "$@" ;;
  package) package "$@" ;;
esac
