#!/usr/bin/env bash
# Installs into a new folder and builds a program against it, with nothing of this repository in sight.
set -euo pipefail

built=deploy/install
prefix="$(mktemp -d "${TEST_TMPDIR:?}/prefix.XXXX")"

fail() {
  echo "$@" >&2
  exit 1
}

"$built/install.sh" "$prefix" tools/banyan "$built/libbanyan.a" "$built/libbanyan.flags" \
  runtime/c_api/libbanyan.so

# Included from elsewhere, a header has only itself, its neighbours, Abseil and the standard library.
if grep -Hn '^#include "' "$prefix"/include/banyan/*.h | grep -v '"absl/'; then
  fail "expected public headers that include only <banyan/...>, Abseil and the standard library; the lines are above"
fi

for file in bin/banyan share/banyan/overlay.yaml share/banyan/topologies/internet2.yaml share/banyan/README.md \
  share/banyan/systemd/banyan-scheduler.service share/banyan/systemd/banyan-node@.service \
  share/banyan/chrony/scheduler.conf share/banyan/chrony/node.conf share/banyan/docs/configuration.md share/banyan/docs/security.md \
  share/banyan/systemd/node.env.example; do
  [[ -s "$prefix/$file" ]] || fail "expected $file to be installed"
done
# What an installed document links to is installed.
for document in "$prefix"/share/banyan/docs/*.md "$prefix"/share/banyan/docs/reference/*.md "$prefix/share/banyan/README.md"; do
  while read -r linked; do
    [[ -s "${document%/*}/$linked" ]] || fail "expected $linked to be installed, since ${document##*/} links to it"
  done < <(grep -oE '\]\([^)#:]+[)#]' "$document" | sed 's|^..||; s|.$||')
done
grep -q "^ExecStart=$prefix/bin/banyan " "$prefix/share/banyan/systemd/banyan-scheduler.service" ||
  fail "expected the units to start the installed program"
"$prefix/bin/banyan" plan "$prefix/share/banyan/topologies/internet2.yaml" --json | grep -q '"trees"' ||
  fail "expected the installed program to plan an installed sample"

if (cd / && "$prefix/bin/banyan" --help) | grep -E '^  (demo|sim-figures) '; then
  fail "expected help to list no command that needs the repository"
fi

version="$("$prefix/bin/banyan" --version)"
[[ "$version" =~ ^banyan\ ([0-9]+\.[0-9]+\.[0-9]+)\ \(protocol\ [0-9]+\)$ ]] || fail "expected a version, got: $version"
grep -qx "Version: ${BASH_REMATCH[1]}" "$prefix/lib/pkgconfig/banyan.pc" || fail "expected pkg-config to have $version"
# Samples are found by the names that they have in the repository, wherever the command is called.
(cd / && "$prefix/bin/banyan" plan deploy/topologies/internet2.yaml >/dev/null) || fail "expected to find the sample"
(cd / && "$prefix/bin/banyan" scheduler deploy/overlay.yaml --check --forgetful --insecure >/dev/null) ||
  fail "expected the sample job to be right"

PYTHONPATH="$prefix/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - <<'EOF' || fail "expected the Python package to find its library"
import banyan
try:
    banyan.join("unix:/nonexistent/node", timeout=0.1)
except banyan.Error as error:
    assert "/nonexistent/node" in str(error), error
EOF

# The launcher's own words on it.
./banyan install --help | grep -q '^usage: ./banyan install PREFIX$' || fail "expected help on install"
for wrong in "" "--fast" "one two" "/tmp/a;b"; do
  code=0
  # shellcheck disable=SC2086
  said="$(./banyan install $wrong 2>&1)" || code=$?
  ((code == 2)) || fail "expected code 2 after 'install $wrong', got $code"
  [[ "$said" == "banyan: expected "*PREFIX* ]] || fail "expected a word on PREFIX after 'install $wrong', got: $said"
done

# The flags as the .pc file has them, on machines without pkg-config too.
pc="$prefix/lib/pkgconfig/banyan.pc"
value() { sed -n "s|^$1: ||p" "$pc" | sed "s|\${includedir}|$prefix/include|g; s|\${libdir}|$prefix/lib|g"; }
read -r -a cflags < <(value Cflags)
read -r -a libs < <(value Libs)
root="$PWD"
cd "$TEST_TMPDIR"

# The example in C, as its own first lines say.
cp "$root/examples/c/average.c" .
read -r -a c_flags <<<"$(sed -n 's/^Cflags: //p; s/^Libs: //p' "$prefix/lib/pkgconfig/banyan-c.pc" | tr '\n' ' ' |
  sed "s|\${includedir}|$prefix/include|g; s|\${libdir}|$prefix/lib|g")"
gcc -std=c99 -pedantic -Wall -Wextra -Werror average.c "${c_flags[@]}" -o average

# The example in C++, likewise.
cp "$root/examples/local_updates/fit.cc" .
g++ -std=c++20 -Wall -Wextra -Werror fit.cc "${cflags[@]}" "${libs[@]}" -o fit

# A training program as a user would write it, only that both of its addresses are wrong.
cat >hello.cc <<'EOF'
#include <banyan/local_node.h>
#include <banyan/session.h>

#include <iostream>

int main() {
  const auto session = banyan::Session::Open({.node = "unix:/nonexistent/node", .open_timeout = absl::Seconds(1)});
  std::cout << "session: " << session.status() << "\n";
  banyan::LocalNodeOptions options;
  options.name = "n1";
  options.scheduler = "tcp://127.0.0.1:1";
  options.listen = "nowhere";
  const auto node = banyan::LocalNode::Start(options);
  std::cout << "node: " << node.status() << "\n";
  return session.ok() || node.ok() ? 1 : 0;
}
EOF

# The lines of docs/cpp.md, with tensors in vectors.
cat >vectors.cc <<'EOF'
#include <banyan/session.h>

#include <vector>

int main(int argc, char** argv) {
  std::vector<float> values(8), gradient(8, 1);
  auto session = banyan::Session::Open({.node = argc > 1 ? argv[1] : "unix:/nonexistent/node", .worker = 0});
  if (!session.ok()) return 2;
  if (!(*session)->Init("w", values, values).Wait(absl::Seconds(60)).ok()) return 3;
  banyan::Ticket ticket = (*session)->PushPull("w", gradient, gradient, {.priority = 3});
  if (!ticket.Wait(absl::Seconds(60)).ok()) return 4;
  return gradient == std::vector<float>(8, 1) && (*session)->Pull("w", values).Wait().ok() ? 0 : 5;
}
EOF

check_program() {
  local said
  said="$(./hello)" || fail "expected the program to end well; it said: $said"
  grep -q '^session: [A-Z_]*: .*/nonexistent/node' <<<"$said" || fail "expected an error that names the node, got: $said"
  grep -q '^node: [A-Z_]*: .*nowhere' <<<"$said" || fail "expected an error that names the address, got: $said"
}

g++ -std=c++20 -Wall -Wextra -Werror hello.cc "${cflags[@]}" "${libs[@]}" -o hello
check_program

if command -v cmake >/dev/null; then
  cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(programs C CXX)
find_package(banyan 0.1 REQUIRED)
add_executable(hello_cmake hello.cc)
target_link_libraries(hello_cmake banyan::session)
add_executable(average_cmake average.c)
target_link_libraries(average_cmake banyan::c)
EOF
  cmake -S . -B cmake_build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null && cmake --build cmake_build >/dev/null ||
    fail "expected CMake to find and link Banyan"
fi

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  rm hello
  read -r -a flags < <(pkg-config --cflags --libs banyan)
  g++ -std=c++20 hello.cc "${flags[@]}" -o hello
  check_program
fi

# From nothing to a round, as docs/cpp.md and deploy/README.md say, with what is installed: three sites on loopback.
g++ -std=c++20 vectors.cc "${cflags[@]}" "${libs[@]}" -o vectors
started=()
trap 'kill "${started[@]}" 2>/dev/null || true' EXIT
cat >job.yaml <<'EOF'
job: readme
scheduler: {address: tcp://127.0.0.1:17790}
nodes: [{name: n1, address: tcp://127.0.0.1:17791}, {name: n2, address: tcp://127.0.0.1:17792},
        {name: n3, address: tcp://127.0.0.1:17793}]
EOF
export BANYAN_SCHEDULER=tcp://127.0.0.1:17790
# run_job PROGRAM ARGUMENTS...: runs the program at each site of a job of its own, with the site's node socket before the
# arguments; what it says is in said1 to said3.
run_job() {
  local program="$1" sockets workers=() worker i
  shift
  sockets="$(mktemp -d /tmp/banyan-install.XXXX)"
  "$prefix/bin/banyan" scheduler job.yaml --state-dir "$TEST_TMPDIR/state_$program" >/dev/null 2>scheduler.log &
  started+=($!)
  for i in 1 2 3; do
    "$prefix/bin/banyan" node --name "n$i" --listen "tcp://127.0.0.1:1779$i" --worker-socket "unix:$sockets/n$i" \
      >/dev/null 2>"n$i.log" &
    started+=($!)
  done
  for i in 1 2 3; do
    "./$program" "unix:$sockets/n$i" "$@" >"said$i" 2>&1 &
    workers+=($!)
  done
  for worker in "${workers[@]}"; do
    wait "$worker" ||
      fail "expected a round with the right mean; $program ended with $?: $(cat said?; tail -n 5 scheduler.log n?.log)"
  done
  # The daemons end with their job.
  wait "${started[@]}"
  started=()
  rm -r "$sockets"
}

run_job vectors
run_job average grades 2 4
[[ "$(<said2)" == $'2\n4' ]] || fail "expected the means 2 and 4, got: $(cat said2)"

run_job fit diloco
cmp said1 said2 && cmp said1 said3 || fail "expected the same weights at all sites, got: $(paste said1 said2 said3)"
awk '{ distance += ($1 - NR / 10) ^ 2 } END { exit NR != 8 || distance > 0.001 }' said1 ||
  fail "expected weights near 0.1, 0.2 and so on, got: $(tr '\n' ' ' <said1)"
