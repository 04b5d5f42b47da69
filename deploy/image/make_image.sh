#!/usr/bin/env bash
# Makes an OCI image of the command: make_image.sh FOLDER IMAGE.tar, where `./banyan package FOLDER` has put Debian
# packages. As root; needs debootstrap and buildah, and Debian's mirror (or DEBIAN_MIRROR). `podman load -i IMAGE.tar`
# and `docker load -i IMAGE.tar` take it as localhost/banyan. It runs `banyan` as the user banyan, with number 990.
set -euo pipefail

if (($# != 2)) || ! compgen -G "$1/banyan_*.deb" >/dev/null; then
  echo "make_image.sh: expected a FOLDER with banyan_*.deb and an IMAGE.tar, got: $*" >&2
  exit 2
fi
if ((EUID != 0)); then
  echo "make_image.sh: expected to be root, which debootstrap needs" >&2
  exit 1
fi
package="$(realpath "$(compgen -G "$1/banyan_*.deb" | sort -V | tail -1)")"
image="$(realpath -m "$2")"
version="$(dpkg-deb -f "$package" Version)"
case "$version" in
  *+deb12) release=bookworm ;;
  *+deb13) release=trixie ;;
  *) echo "make_image.sh: expected a package for Debian 12 or 13, got version $version" >&2 && exit 2 ;;
esac
version="${version%+*}"
mirror="${DEBIAN_MIRROR:-http://deb.debian.org/debian}"

work="$(mktemp -d)"
container=
clean_up() {
  if [[ "$container" ]]; then buildah rm "$container" >/dev/null 2>&1 || true; fi
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
# What runs here needs neither an overlay file system nor a name space of its own.
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot

root="$work/root"
debootstrap --variant=minbase --include=ca-certificates "$release" "$root" "$mirror" >"$work/log" ||
  { tail -5 "$work/log" >&2 && exit 1; }
# The package's own script would make the user too, with whatever number is free.
chroot "$root" useradd --system --uid 990 --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin banyan
cp "$package" "$root/banyan.deb"
chroot "$root" apt-get -qq install -y --no-install-recommends /banyan.deb >>"$work/log" 2>&1 ||
  { tail -5 "$work/log" >&2 && exit 1; }
chroot "$root" install -d -o banyan -g banyan -m 750 /var/lib/banyan /run/banyan /etc/banyan
rm -rf "$root"/banyan.deb "$root"/var/lib/apt/lists/* "$root"/var/cache/* "$root"/var/log/* "$root"/usr/share/{doc,man,locale,info}/*

container="$(buildah from scratch)"
buildah add --quiet "$container" "$root" / >/dev/null
buildah config --user 990:990 --workingdir /var/lib/banyan --entrypoint '["/usr/bin/banyan"]' --cmd '["--help"]' \
  --label "org.opencontainers.image.title=banyan" --label "org.opencontainers.image.version=$version" "$container"
rm -f "$image"
buildah commit --quiet --rm "$container" "docker-archive:$image:localhost/banyan:$version" >/dev/null
container=
echo "$image"
