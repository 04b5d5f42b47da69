#!/usr/bin/env bash
# The keys of a running job, changed one after the other: a scheduler and two nodes as users start them. An old key works
# until its node has come with the new one, and not after that. Then one is withdrawn with its node, and the operator's.
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

# replace_key NAME: makes NAME.key, and lists it in the place of the one in keys/.
replace_key() {
  local name="$1" new old
  "$banyan" keygen "$name" --dir . \
    --scheduler-key "$(sed -n "s/^scheduler_public_key: '\(.*\)'$/\1/p" "keys/$name.key")" >"$name.line"
  new="$(sed "s/^public_key: '\(.*\)'$/\1/" "$name.line")"
  old="$(sed -n "s/^public_key: '\(.*\)'$/\1/p" "keys/$name.key")"
  OLD="$old" NEW="$new" python3 -c '
import os
text = open("keys/overlay.yaml").read()
assert os.environ["OLD"] in text
open("keys/overlay.yaml", "w").write(text.replace(os.environ["OLD"], os.environ["NEW"]))'
}
for name in n1 n2; do
  replace_key "$name"
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

operate remove n2 >remove.out 2>remove.log || fail "expected n2 to be removed"
until_shown "was removed from the job" n2-again.log "n2 to hear why it is cut off"
if "$banyan" status --scheduler "$scheduler" --key n2.key --timeout 2s >status.out 2>n2-status.log; then
  fail "expected the key of a removed node to be refused"
fi
grep -q "does not list the key of this process" n2-status.log || fail "expected a word on n2's key: $(<n2-status.log)"

grep -q "used the key n2.key" n2-status.log || fail "expected to hear which key it was: $(<n2-status.log)"
# An operator's key of another job in the home does not come before the one beside the overlay.
mkdir -p .config/banyan
cp n2.key .config/banyan/operator.key
"$banyan" status --scheduler "$scheduler" --json >status.json 2>status.log || fail "expected the key in ./keys to be taken"

replace_key operator
operate reconfigure keys/overlay.yaml >reconfigure.out 2>reconfigure.log || fail "expected to hear that it is done"
grep -q "the key that gave this order counts no more" reconfigure.out || fail "expected a word: $(<reconfigure.out)"
if operate stop --timeout 2s >stop.out 2>operator-stop.log; then fail "expected a withdrawn operator to be refused"; fi
operate() { "$banyan" "$@" --scheduler "$scheduler" --key operator.key; }
operate status --json >status.json 2>status.log || fail "expected a job that runs"
operate stop >stop.out 2>stop.log || fail "expected the job to take its end"
