#!/usr/bin/env bash
# Installs what is built: install.sh PREFIX COMMAND ARCHIVE FLAGS SHARED, run in the root of the repository. COMMAND is the
# built program, ARCHIVE the library for C++, FLAGS a file that names what a program has to be linked with besides, and
# SHARED the library for C, which needs nothing besides. Without ARCHIVE and FLAGS nothing for C++ is installed, and
# nothing that only holds below PREFIX.
set -euo pipefail

if (($# != 5)) || [[ "$1" != /* ]]; then
  echo "install.sh: expected an absolute PREFIX, COMMAND, ARCHIVE, FLAGS and SHARED, got: $*" >&2
  exit 2
fi
prefix="${1%/}" command="$2" archive="$3" flags="$4" shared="$5"
share="$prefix/share/banyan"
read -r _ version _ < <("$command" --version)

put() {
  local mode="$1" to="$2"
  shift 2
  install -d "$to"
  install -m "$mode" "$@" "$to/"
}

put 755 "$prefix/bin" "$command"
put 644 "$prefix/include/banyan" runtime/c_api/banyan.h
install -d "$prefix/lib"
install -m 644 "$shared" "$prefix/lib/libbanyan.so.1"
ln -sf libbanyan.so.1 "$prefix/lib/libbanyan.so"
put 644 "$prefix/lib/python3/dist-packages/banyan" python/banyan/*.py python/banyan/py.typed
put 644 "$prefix/lib/python3/dist-packages/banyan/torch" python/banyan/torch/*.py
put 644 "$share" deploy/README.md deploy/overlay.yaml
put 644 "$share/docs" docs/*.md docs/*.svg docs/*.png
put 644 "$share/docs/reference" docs/reference/*.md
# Their links lead to what is installed; the rest is named.
sed -i -E 's#\[([^]]*)\]\(\.\./([A-Z]+\.md|bench/[^)]*|examples/[^)]*)\)#\1 (\2 in the source)#g
  s#\]\(\.\./docs/#](docs/#g; s#\]\(\.\./deploy/#](../#g' "$share/README.md" "$share"/docs/*.md
put 644 "$share/precision" deploy/precision/*.yaml deploy/precision/tensors.txt
put 644 "$share/topologies" deploy/topologies/*.yaml
put 644 "$share/chrony" deploy/chrony/*.conf
put 644 "$share/prometheus" deploy/prometheus/alerts.yaml
put 644 "$share/grafana" deploy/grafana/banyan.json
put 644 "$share/kubernetes" deploy/kubernetes/*.yaml
put 644 "$share/helm" deploy/helm/*.yaml
put 644 "$share/helm/templates" deploy/helm/templates/*.yaml
put 755 "$share/slurm" deploy/slurm/banyan.sbatch
put 755 "$share/image" deploy/image/make_image.sh

# What shells read by themselves below /usr and /usr/local.
complete() {
  install -d "$(dirname "$prefix/share/$2")"
  "$command" completion "$1" >"$prefix/share/$2"
  chmod 644 "$prefix/share/$2"
}
complete bash bash-completion/completions/banyan
complete zsh zsh/vendor-completions/_banyan
complete fish fish/vendor_completions.d/banyan.fish

install -d "$share/systemd"
put 644 "$share/systemd" deploy/systemd/node.env.example
for unit in deploy/systemd/*.service; do
  sed "s|/usr/bin/banyan|$prefix/bin/banyan|" "$unit" >"$share/systemd/${unit##*/}"
done
chmod 644 "$share"/systemd/*.service
if [[ -z "$archive" ]]; then exit 0; fi

put 644 "$prefix/include/banyan" runtime/local_node.h runtime/local_updates/local_updates.h runtime/session/session.h
# What session.h includes of the repository.
put 644 "$prefix/include/banyan/core" core/check.h core/data_type.h core/tensor_view.h
sed -i 's|^#include "core/\(.*\)"|#include <banyan/core/\1>|; s|^#include "runtime/session/\(.*\)"|#include <banyan/\1>|' \
  "$prefix"/include/banyan/*.h "$prefix"/include/banyan/core/*.h
put 644 "$prefix/lib" "$archive"
install -d "$prefix/lib/pkgconfig"

# For C++. The archive goes by its file's name, as -lbanyan is the shared library, which has no C++ to offer. All is in
# Libs, since whoever links with an archive links with what it needs.
libraries="-Wl,--push-state,--as-needed $(<"$flags") -Wl,--pop-state"
cat >"$prefix/lib/pkgconfig/banyan.pc" <<EOF
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: Banyan
Description: Training sessions and nodes of a geo-distributed parameter server
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -l:libbanyan.a $libraries
EOF

# For C, and what can call it. Programs find the library where it is now, without ldconfig.
cat >"$prefix/lib/pkgconfig/banyan-c.pc" <<EOF
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: Banyan for C
Description: Training sessions and nodes of a geo-distributed parameter server, for C
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lbanyan -Wl,-rpath,\${libdir}
EOF

# find_package(banyan): banyan::c is the shared library, banyan::session the archive with C++.
install -d "$prefix/lib/cmake/banyan"
cat >"$prefix/lib/cmake/banyan/banyan-config.cmake" <<EOF
set(banyan_VERSION $version)
if(NOT TARGET banyan::c)
  add_library(banyan::c SHARED IMPORTED)
  set_target_properties(banyan::c PROPERTIES
    IMPORTED_LOCATION "$prefix/lib/libbanyan.so.1"
    IMPORTED_SONAME libbanyan.so.1
    INTERFACE_INCLUDE_DIRECTORIES "$prefix/include")
  add_library(banyan::session STATIC IMPORTED)
  set_target_properties(banyan::session PROPERTIES
    IMPORTED_LOCATION "$prefix/lib/libbanyan.a"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES "$prefix/include"
    INTERFACE_LINK_LIBRARIES "$libraries")
endif()
EOF
cat >"$prefix/lib/cmake/banyan/banyan-config-version.cmake" <<EOF
set(PACKAGE_VERSION $version)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
EOF
chmod 644 "$prefix"/lib/pkgconfig/banyan*.pc "$prefix"/lib/cmake/banyan/*.cmake
