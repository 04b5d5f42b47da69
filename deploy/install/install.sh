#!/usr/bin/env bash
# Installs what is built: install.sh PREFIX COMMAND ARCHIVE FLAGS, run in the root of the repository. COMMAND is the built
# program, ARCHIVE the library, and FLAGS a file that names what a program has to be linked with besides.
set -euo pipefail

if (($# != 4)) || [[ "$1" != /* ]]; then
  echo "install.sh: expected an absolute PREFIX, COMMAND, ARCHIVE and FLAGS, got: $*" >&2
  exit 2
fi
prefix="${1%/}" command="$2" archive="$3" flags="$4"
share="$prefix/share/banyan"
read -r _ version _ < <("$command" --version)

put() {
  local mode="$1" to="$2"
  shift 2
  install -d "$to"
  install -m "$mode" "$@" "$to/"
}

put 755 "$prefix/bin" "$command"
put 644 "$prefix/include/banyan" runtime/local_node.h runtime/session/session.h
put 644 "$prefix/lib" "$archive"
put 644 "$share" deploy/README.md deploy/overlay.yaml
put 644 "$share/docs" docs/chaos.md docs/compression.md docs/configuration.md docs/metrics.md docs/recovery.md docs/wan.md
put 644 "$share/topologies" deploy/topologies/*.yaml
put 644 "$share/chrony" deploy/chrony/*.conf
put 644 "$share/prometheus" deploy/prometheus/alerts.yaml
put 644 "$share/grafana" deploy/grafana/banyan.json

install -d "$share/systemd" "$prefix/lib/pkgconfig"
for unit in deploy/systemd/*.service; do
  sed "s|/usr/bin/banyan|$prefix/bin/banyan|" "$unit" >"$share/systemd/${unit##*/}"
done

# All in Libs: there is no shared library, so whoever links with Banyan links with what it needs.
cat >"$prefix/lib/pkgconfig/banyan.pc" <<EOF
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: Banyan
Description: Training sessions and nodes of a geo-distributed parameter server
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lbanyan -Wl,--push-state,--as-needed $(<"$flags") -Wl,--pop-state
EOF
chmod 644 "$share"/systemd/*.service "$prefix/lib/pkgconfig/banyan.pc"
