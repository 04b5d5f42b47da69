#!/usr/bin/env bash
# Follows deploy/README.md with three hosts, which are network namespaces, from nothing to a round. Skipped where the
# system lets nobody make namespaces.
set -euo pipefail

fail() {
  echo "$@" >&2
  exit 1
}

banyan="$PWD/tools/banyan"
worker="$PWD/tests/worker_process"
if [[ "${1:-}" != inside ]]; then
  if ! unshare --user --map-root-user --net --mount --pid --fork true 2>/dev/null; then
    echo "skipped: this system lets nobody make namespaces"
    exit 0
  fi
  # What is left running ends with its process namespace.
  exec unshare --user --map-root-user --net --mount --pid --fork --mount-proc --kill-child bash "$0" inside
fi

work="$(mktemp -d "${TEST_TMPDIR:?}/hosts.XXXX")"
sockets="$(mktemp -d /tmp/banyan-hosts.XXXX)"
trap 'rm -rf "$sockets"' EXIT
mount -t tmpfs tmpfs /run
ip link add name switch type bridge
ip link set switch up
for i in 0 1 2 3; do
  ip netns add "host$i"
  ip -n "host$i" link set lo up
  ip link add "port$i" type veth peer name eth0 netns "host$i"
  ip link set "port$i" master switch
  ip link set "port$i" up
  ip -n "host$i" address add "10.77.0.$((i + 1))/24" dev eth0
  ip -n "host$i" link set eth0 up
done

# Host 0 has the scheduler, the others a node and a training process each.
cat >"$work/overlay.yaml" <<'END'
job: hosts
scheduler: {address: tcp://10.77.0.1:7700}
nodes:
  - {name: n1, address: tcp://10.77.0.2:7701}
  - {name: n2, address: tcp://10.77.0.3:7701}
  - {name: n3, address: tcp://10.77.0.4:7701}
END
export BANYAN_SCHEDULER=tcp://10.77.0.1:7700
"$banyan" plan "$work/overlay.yaml" >/dev/null
"$banyan" scheduler "$work/overlay.yaml" --check --state-dir "$work/state" >/dev/null
ip netns exec host0 "$banyan" scheduler "$work/overlay.yaml" --state-dir "$work/state" >"$work/scheduler.out" \
  2>"$work/scheduler.log" &
for i in 1 2 3; do
  ip netns exec "host$i" "$banyan" node --name "n$i" --listen 'tcp://*:7701' --advertise "tcp://10.77.0.$((i + 1)):7701" \
    --attach "unix:$sockets/n$i" >/dev/null 2>"$work/n$i.log" &
done
mkfifo "$work/rounds"
for i in 1 2 3; do
  until [[ -S "$sockets/n$i" ]]; do sleep 0.1; done
  if ((i == 1)); then to="$work/rounds"; else to=/dev/null; fi
  ip netns exec "host$i" "$worker" "unix:$sockets/n$i" 0 >"$to" 2>"$work/w$i.log" &
done
exec 3<"$work/rounds"
for expected in 1 2 3; do
  read -r -t 60 round <&3 || fail "expected round $expected within a minute; logs: $(tail -n 5 "$work"/*.log)"
  [[ "$round" == "round $expected" ]] || fail "expected round $expected, got '$round'"
done
ip netns exec host1 "$banyan" status | grep -q '^job hosts' || fail "expected a status of the job"
ip netns exec host2 "$banyan" stop --reason "the test is over" >/dev/null || fail "expected the job to take its end"
