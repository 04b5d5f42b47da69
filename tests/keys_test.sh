#!/usr/bin/env bash
# The keys of a running job, changed one after the other: a scheduler and two nodes as users start them. An old key works
# until its node has come with the new one, and not after that.
set -euo pipefail

fail() {
  echo "keys_test: $*" >&2
  tail -n 20 "$work"/*.log >&2 || true
  exit 1
}

banyan="$PWD/tools/banyan"
work="$(mktemp -d)"
cd "$work"
export HOME="$work" XDG_STATE_HOME="$work"
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

# until_shown TEXT FILE WHAT: waits until the file says so.
until_shown() {
  for ((tries = 0; tries < 600; ++tries)); do
    if grep -qs -- "$1" "$2"; then return 0; fi
    sleep 0.1
  done
  fail "expected $3: '$1' in $2"
}

cat >overlay.yaml <<'END'
job: keys-test
scheduler: {address: "tcp://127.0.0.1:7700"}
nodes:
  - {name: n1, address: "tcp://127.0.0.1:7701"}
  - {name: n2, address: "tcp://127.0.0.1:7702"}
links: [{between: [n1, n2], mbps: 100, delay_ms: 1}]
END
"$banyan" keygen --all overlay.yaml keys >/dev/null
"$banyan" scheduler keys/overlay.yaml --key keys/scheduler.key --listen tcp://127.0.0.1:0 --port-file port \
  >/dev/null 2>scheduler.log &
processes+=($!)
until_shown tcp: port "the scheduler's address"
scheduler="$(<port)"

# start NAME KEY LOG: runs the node with this key; its process is in `started`.
start() {
  "$banyan" node --name "$1" --key "$2" --scheduler "$scheduler" >/dev/null 2>"$3" &
  started=$!
  processes+=($!)
}
declare -A node
for name in n1 n2; do
  start "$name" "keys/$name.key" "$name.log"
  node[$name]=$started
done
operate() { "$banyan" "$@" --scheduler "$scheduler" --key keys/operator.key; }
for name in n1 n2; do until_shown "joined job 'keys-test'" "$name.log" "$name to join"; done
until_shown "policy 1" scheduler.log "a job that runs"

for name in n1 n2; do
  "$banyan" keygen "$name" --folder . \
    --scheduler-key "$(sed -n "s/^scheduler_public_key: '\(.*\)'$/\1/p" "keys/$name.key")" >"$name.line"
  new="$(sed "s/^public_key: '\(.*\)'$/\1/" "$name.line")"
  old="$(sed -n "s/^public_key: '\(.*\)'$/\1/p" "keys/$name.key")"
  OLD="$old" NEW="$new" python3 -c '
import os
text = open("keys/overlay.yaml").read()
assert os.environ["OLD"] in text
open("keys/overlay.yaml", "w").write(text.replace(os.environ["OLD"], os.environ["NEW"]))'
  operate reconfigure keys/overlay.yaml >reconfigure.out 2>reconfigure.log || fail "expected $name's new key to be taken"
  grep -q public_key reconfigure.out || fail "expected to hear what changes, got: $(<reconfigure.out)"
  kill -0 "${node[$name]}" || fail "$name has ended when its new key was listed"
  kill "${node[$name]}"
  wait "${node[$name]}" || true
  start "$name" "$name.key" "$name-again.log"
  node[$name]=$started
  until_shown "joined job 'keys-test'" "$name-again.log" "$name to come with its new key"
  start "$name" "keys/$name.key" "$name-old.log"
  until_shown "does not list the key of this process" "$name-old.log" "the old key of $name to be refused"
  kill "$started"
  wait "$started" || true
done
operate status --json >status.json 2>status.log || fail "expected a job that runs"
operate stop >stop.out 2>stop.log || fail "expected the job to take its end"
