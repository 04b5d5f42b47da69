#!/usr/bin/env bash
# Installs into a new folder and builds a program against it, with nothing of this repository in sight.
set -euo pipefail

built=deploy/install
prefix="$(mktemp -d "${TEST_TMPDIR:?}/prefix.XXXX")"

fail() {
  echo "$@" >&2
  exit 1
}

"$built/install.sh" "$prefix" tools/banyan "$built/libbanyan.a" "$built/libbanyan.flags"

# Included from elsewhere, a header has only itself, its neighbours, Abseil and the standard library.
if grep -Hn '^#include "' "$prefix"/include/banyan/*.h | grep -v '"absl/'; then
  fail "expected public headers that include only <banyan/...>, Abseil and the standard library; the lines are above"
fi

for file in bin/banyan share/banyan/overlay.yaml share/banyan/topologies/internet2.yaml share/banyan/README.md \
  share/banyan/systemd/banyan-scheduler.service share/banyan/systemd/banyan-node@.service \
  share/banyan/chrony/scheduler.conf share/banyan/chrony/node.conf share/banyan/docs/configuration.md; do
  [[ -s "$prefix/$file" ]] || fail "expected $file to be installed"
done
grep -q "^ExecStart=$prefix/bin/banyan " "$prefix/share/banyan/systemd/banyan-scheduler.service" ||
  fail "expected the units to start the installed program"
"$prefix/bin/banyan" plan "$prefix/share/banyan/topologies/internet2.yaml" --json | grep -q '"trees"' ||
  fail "expected the installed program to plan an installed sample"

version="$("$prefix/bin/banyan" --version)"
[[ "$version" =~ ^banyan\ ([0-9]+\.[0-9]+\.[0-9]+)\ \(protocol\ [0-9]+\)$ ]] || fail "expected a version, got: $version"
grep -qx "Version: ${BASH_REMATCH[1]}" "$prefix/lib/pkgconfig/banyan.pc" || fail "expected pkg-config to have $version"
# Samples are found by the names that they have in the repository, wherever the command is called.
(cd / && "$prefix/bin/banyan" plan deploy/topologies/internet2.yaml >/dev/null) || fail "expected to find the sample"
(cd / && "$prefix/bin/banyan" scheduler deploy/overlay.yaml --check --forgetful >/dev/null) ||
  fail "expected the sample job to be right"

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
cd "$TEST_TMPDIR"

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

# The lines of README.md, with tensors in vectors.
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

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  rm hello
  read -r -a flags < <(pkg-config --cflags --libs banyan)
  g++ -std=c++20 hello.cc "${flags[@]}" -o hello
  check_program
fi

# From nothing to a round, as README.md and deploy/README.md say, with what is installed: three sites on loopback.
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
sockets="$(mktemp -d /tmp/banyan-install.XXXX)"
"$prefix/bin/banyan" scheduler job.yaml --state-dir "$TEST_TMPDIR/state" >/dev/null 2>scheduler.log &
started+=($!)
for i in 1 2 3; do
  "$prefix/bin/banyan" node --name "n$i" --listen "tcp://127.0.0.1:1779$i" --attach "unix:$sockets/n$i" \
    >/dev/null 2>"n$i.log" &
  started+=($!)
done
workers=()
for i in 1 2 3; do
  ./vectors "unix:$sockets/n$i" &
  workers+=($!)
done
for worker in "${workers[@]}"; do
  wait "$worker" || fail "expected a round with the right mean; a worker ended with $?: $(tail -n 5 scheduler.log n?.log)"
done
rm -r "$sockets"
