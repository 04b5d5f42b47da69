#!/usr/bin/env bash
# What the command says and returns as a process: its output, its environment, the signals that daemons get.
set -euo pipefail

banyan="$PWD/tools/banyan"
sample="$PWD/deploy/topologies/internet2.yaml"
work="$(mktemp -d "${TEST_TMPDIR:?}/words.XXXX")"

fail() {
  echo "$@" >&2
  exit 1
}

# expect CODE TEXT COMMAND...: runs the command, which must end with CODE and say TEXT on standard error.
expect() {
  local expected="$1" text="$2" code=0 said
  shift 2
  said="$("$@" 2>&1 >/dev/null)" || code=$?
  ((code == expected)) || fail "expected code $expected of '$*', got $code: $said"
  [[ "$said" == *"$text"* ]] || fail "expected '$text' of '$*', got: $said"
}

cat >"$work/job.yaml" <<'END'
scheduler: {address: tcp://127.0.0.1:1}
nodes: [{name: a, address: tcp://127.0.0.1:2}, {name: b, address: tcp://127.0.0.1:3}]
END

# Output that cannot be written: a full disk, a closed descriptor, a pipe whose reader has gone.
mkfifo "$work/pipe"
for arguments in "plan $sample" "plan $sample --json" "sim $sample --rounds 1 --model-size 400k --json" "--version" "--help" \
  "scheduler $work/job.yaml --check --forgetful" "scheduler --help" "node --version" "help status"; do
  # shellcheck disable=SC2086
  expect 1 "cannot write the output: No space left on device" bash -c '"$@" >/dev/full' - "$banyan" $arguments
  # shellcheck disable=SC2086
  expect 1 "cannot write the output: standard output is closed" bash -c '"$@" >&-' - "$banyan" $arguments
  # shellcheck disable=SC2086
  (exec 3<>"$work/pipe" && exec 4>"$work/pipe" 3<&- && expect 1 "" bash -c '"$@" >&4' - "$banyan" $arguments)
done

# Standard input where a file is read; a device is not read for ever.
"$banyan" plan - <"$sample" >/dev/null || fail "expected the plan of standard input"
expect 1 "the file is too large" "$banyan" plan /dev/zero
expect 1 "the file is empty" "$banyan" plan - </dev/null
expect 1 "the file is empty" bash -c '"$@" <&-' - "$banyan" plan -
printf 'nodes:\n\t- a\n' | expect 1 "-:2:1: a tab indents this line" "$banyan" sim -

# Who reads no further, as head, need not be told; the first piece of this is written before the last.
exec 7> >(:)
wait $!
said="$("$banyan" sim "$sample" --rounds 100 --model-size 1MB --json 2>&1 >&7)" && fail "expected an exit code for what nobody reads"
[[ -z "$said" ]] || fail "expected no word on a reader that has gone, got: $said"
exec 7>&-

# The environment.
expect 2 "BANYAN_SCHEDULER: expected an address" env BANYAN_SCHEDULER=10.0.0.1 "$banyan" status
expect 0 "" env BANYAN_SCHEDULER=10.0.0.1 "$banyan" status --help
expect 2 "expected --scheduler or the variable BANYAN_SCHEDULER" env -u BANYAN_SCHEDULER "$banyan" stop
expect 4 "tcp://127.0.0.1:9" env BANYAN_SCHEDULER=tcp://127.0.0.1:9 "$banyan" status --timeout 200ms
expect 2 "BANYAN_LOG_LEVEL: unknown value 'loud'" env BANYAN_LOG_LEVEL=loud "$banyan" node -n a -s tcp://127.0.0.1:9

# What needs the repository says so where the command is installed alone.
mkdir "$work/bin"
cp -L "$banyan" "$work/bin/banyan"
expect 1 "nothing was measured: " "$work/bin/banyan" bench wan "$sample"
expect 1 "it is not installed" "$work/bin/banyan" bench loopback
expect 1 "it is not installed" "$work/bin/banyan" bench accuracy
expect 1 "it is not installed" "$work/bin/banyan" demo --network loopback
expect 1 "in the repository, not installed" "$work/bin/banyan" sim-figures "$work/figures"

# A node's port where a scheduler's is meant.
"$banyan" node --name a --scheduler tcp://127.0.0.1:1 >"$work/node" 2>/dev/null &
node=$!
until [[ -s "$work/node" ]]; do sleep 0.05; done
port="$(sed 's/node a: //' "$work/node")"
words="this is the port of node a, not of a scheduler; a's scheduler is at tcp://127.0.0.1:1"
expect 1 "$port: $words" "$banyan" status --scheduler "$port"
expect 1 "$words" "$banyan" stop --scheduler "$port"
expect 1 "$words" "$banyan" node --name b --scheduler "$port"
kill "$node"
code=0
wait "$node" || code=$?
[[ $code == 143 ]] || fail "expected the node to end as it was asked to, got $code"

# Daemons outlive the readers of their logs, full disks and, under nohup, their terminal; without, its end is theirs.
run_scheduler() {
  exec "$banyan" scheduler "$work/job.yaml" --forgetful --listen tcp://127.0.0.1:0 --port-file "$work/port" --log-level debug
}
await_port() {
  until [[ -s "$work/port" ]]; do sleep 0.05; done
}
# expect_end CODE PID: the scheduler answers, and ends so after SIGNAL.
expect_end() {
  local expected="$1" pid="$2" signal="$3" code=0
  await_port
  "$banyan" status --scheduler "$(<"$work/port")" >/dev/null || fail "expected an answer of a scheduler"
  kill "-$signal" "$pid"
  wait "$pid" || code=$?
  ((code == expected)) || fail "expected code $expected after SIG$signal, got $code"
  rm "$work/port"
}
mkfifo "$work/log"
(run_scheduler) >/dev/null 2>"$work/log" &
daemon=$!
head -n 1 "$work/log" >/dev/null
expect_end 129 "$daemon" HUP
(run_scheduler) >/dev/full 2>/dev/full &
expect_end 143 $! TERM
(
  trap '' HUP
  run_scheduler
) >/dev/null 2>&1 &
daemon=$!
await_port
kill -HUP "$daemon"
expect_end 143 "$daemon" TERM

# A service manager hears when a daemon is ready and that it ends; the journal gets priorities.
notify="$(mktemp -u /tmp/banyan-notify.XXXXXX)"  # a short path, as sockets want it
python3 - "$notify" >"$work/heard" <<'END' &
import socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
said = ""
while "STOPPING" not in said:
    said = manager.recv(4096).decode()
    print(said)
END
manager=$!
until [[ -S "$notify" ]]; do sleep 0.05; done
touch "$work/journal"
(NOTIFY_SOCKET="$notify" JOURNAL_STREAM="$(stat -c %d:%i "$work/journal")" run_scheduler) >/dev/null 2>"$work/journal" &
expect_end 143 $! TERM
wait "$manager"
rm "$notify"
[[ "$(<"$work/heard")" == "READY=1"*"STOPPING=1" ]] || fail "expected the manager to hear READY and STOPPING, got: $(<"$work/heard")"
grep -q '^<6>' "$work/journal" || fail "expected lines with priorities, got: $(<"$work/journal")"

# Manual pages, without a warning of groff.
mkdir "$work/pages"
"$banyan" man "$work/pages"
[[ -f "$work/pages/banyan-wan-up.1" && -f "$work/pages/overlay.yaml.5" ]] || fail "expected pages of wan up and overlay.yaml"
if command -v groff >/dev/null; then
  warned="$(groff -man -Tutf8 -ww -z "$work"/pages/* 2>&1)"
  [[ -z "$warned" ]] || fail "expected groff to have nothing to say, got: $warned"
fi
