#!/usr/bin/env bash
# Runs `./banyan test` of this checkout on another release of Debian: debian_root.sh RELEASE [ARGUMENTS of test]. In a root
# that debootstrap makes below ~/.cache, where what was installed and built remains for the next time. As root; needs
# debootstrap and Debian's mirror (or DEBIAN_MIRROR).
set -euo pipefail

checkout="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
release="${1:-}"
root="$HOME/.cache/banyan-$release"
log="$root.log"
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

# Makes the root under another name first, so that what was interrupted is not taken for whole.
make_root() {
  if [[ -d "$root" ]]; then return; fi
  echo "banyan: making a root of Debian $release at $root (some minutes)" >&2
  rm -rf --one-file-system "$root.partial"
  mkdir -p "$root.partial"
  contain debootstrap --variant=minbase --include=ca-certificates,procps "$release" "$root.partial" \
    "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$log" 2>&1 ||
    die "debootstrap failed; $log says why: $(tail -1 "$log")"
  mv "$root.partial" "$root"
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
  exec env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin /banyan/banyan test "$@"'

case "$release" in
  bookworm | trixie) ;;
  *) die "expected bookworm or trixie after --on, got '$release'" 2 ;;
esac
shift
((EUID == 0)) || die "expected to be root, which debootstrap and mounts need; try: sudo $checkout/banyan test --on $release"
command -v debootstrap >/dev/null || die "debootstrap is missing; run: apt-get install debootstrap"
trap 'stop 130' INT
trap 'stop 143' TERM
make_root
copy_checkout
cp /etc/resolv.conf /etc/hosts "$root/etc/"
contain bash -c "$in_root" "$root" "$@"
