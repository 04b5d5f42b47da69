#!/usr/bin/env bash
# `banyan doctor --all` over a scheduler and two nodes, each in a network namespace of its own with a router in between:
# faults that the router has are found from one place, and none where there is none. Skipped where the system lets
# nobody make namespaces.
set -euo pipefail

fail() {
  echo "$@" >&2
  exit 1
}

if [[ "${1:-}" != inside ]]; then
  if ! unshare --user --map-root-user --net --mount --pid --fork true 2>/dev/null; then
    echo "skipped: this system lets nobody make namespaces"
    exit 0
  fi
  # What is left running ends with its process namespace.
  exec unshare --user --map-root-user --net --mount --pid --fork --mount-proc --kill-child bash "$0" inside
fi

banyan="$PWD/tools/banyan"
cd "$(mktemp -d "${TEST_TMPDIR:?}/view.XXXX")"
mount -t tmpfs tmpfs /run
ip netns add router
for i in 0 1 2; do
  ip netns add "host$i"
  ip -n "host$i" link set lo up
  ip link add eth0 netns "host$i" type veth peer name "port$i" netns router
  ip -n "host$i" address add "10.0.$i.1/24" dev eth0
  ip -n "host$i" link set eth0 up
  ip -n "host$i" route add default via "10.0.$i.254"
  ip -n router address add "10.0.$i.254/24" dev "port$i"
  ip -n router link set "port$i" up
  # The fault would be healed.
  ip netns exec "host$i" sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_mtu_probing'
done
ip netns exec router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'

cat >overlay.yaml <<'END'
scheduler: {address: tcp://10.0.0.1:7700}
nodes:
  - {name: n1, address: tcp://10.0.1.1:7701}
  - {name: n2, address: tcp://10.0.2.1:7701}
END
printf '#!/bin/sh\necho 0A000001,10.0.0.1,3,1.5,-0.0001,0.00003,0.00004,-12.3,0.0,0.1,0.06,0.0009,16.2,Normal\n' >chronyc
chmod +x chronyc

# doctor HOST NAME FLAGS: its output is in NAME.out.
doctor() {
  ip netns exec "host$1" "$banyan" doctor overlay.yaml --name "$2" --wait 2s --chronyc ./chronyc "${@:3}" \
    >"$2.out" 2>"$2.log"
}
# view SITES...: runs the doctors of these nodes and the scheduler's, whose exit code is in `code`.
view() {
  local site
  for site in "$@"; do doctor "${site#n}" "$site" & done
  code=0
  doctor 0 scheduler --all || code=$?
  wait
}
# expect_faults LINE...: these and no others, by their beginnings.
expect_faults() {
  local found line
  found="$(grep '^fix: ' scheduler.out || true)"
  [[ "$code" == $(($# > 0 ? 5 : 0)) ]] || fail "expected another exit code than $code: $(<scheduler.out) $(tail *.log)"
  [[ "$(grep -c . <<<"$found")" == $# ]] || fail "expected $# faults, got: $(<scheduler.out)"
  for line in "$@"; do
    grep -q "^fix: $line" <<<"$found" || fail "expected '$line', got: $(<scheduler.out)"
  done
}

view n1 n2
expect_faults
grep -q '^ok: all 3 sites' scheduler.out || fail "expected no fault, got: $(<scheduler.out)"

ip -n router rule add from 10.0.1.1 to 10.0.2.1 ipproto tcp dport 7701 blackhole
view n1 n2
expect_faults 'n1 -> n2: reach: .*a firewall drops'
grep -Eq '^n1 +n2 +silent .*fix$' scheduler.out || fail "expected the direction that is closed: $(<scheduler.out)"
grep -Eq '^n2 +n1 +yes ' scheduler.out || fail "expected the direction that is open: $(<scheduler.out)"
ip -n router rule del from 10.0.1.1 to 10.0.2.1 ipproto tcp dport 7701 blackhole

view n1
expect_faults 'n2: report: has not reported: '

# A tunnel with smaller packets, and nobody who tells.
ip -n router route add 10.0.2.0/24 dev port2 mtu lock 1280 table 9
ip -n router rule add from 10.0.1.1 to 10.0.2.1 table 9
ip -n router rule add ipproto icmp blackhole
view n1 n2
expect_faults 'n1 <-> n2: large: small messages pass, large ones do not'
