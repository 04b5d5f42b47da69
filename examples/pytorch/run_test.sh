#!/usr/bin/env bash
# Runs each example as its first lines say, at sites of this machine, and compares what the sites have learned.
set -euo pipefail

fail() {
  echo "$@" >&2
  exit 1
}

if ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
  echo "python3-torch is not installed; skipped"
  exit 0
fi
export BANYAN_LIBRARY="$PWD/runtime/c_api/libbanyan.so"
export PYTHONPATH="$PWD/python:$PWD/examples/pytorch"
export PYTHONDONTWRITEBYTECODE=1
export CHECKPOINTS="$TEST_TMPDIR"
# The names that the examples' lines have.
bin="$TEST_TMPDIR/bin"
mkdir "$bin"
ln -s "$PWD/tools/banyan" "$bin/banyan"
ln -s /usr/bin/python3 "$bin/python3"
export PATH="$bin:$PATH"
cd examples/pytorch

# run EXAMPLE PROCESSES [DIFFERENT]: runs its line; all processes shall have the same weights, or so many different ones.
run() {
  local line said weights
  line="$(sed -n 's/^ *\(banyan local .*\)$/\1/p' "$1")"
  [[ "$line" == *" $1" ]] || fail "expected $1 to say how it is run, got: $line"
  said="$TEST_TMPDIR/$1.out"
  bash -c "$line" >"$said" 2>&1 || fail "expected $1 to run; it said: $(<"$said")"
  weights="$(sed -n 's/.*weights //p' "$said")"
  [[ "$(wc -l <<<"$weights")" == "$2" && "$(sort -u <<<"$weights" | wc -l)" == "${3:-1}" ]] ||
    fail "expected $2 processes with ${3:-1} kind of weights of $1, got: $(<"$said")"
}

run attach.py 3
run ddp.py 4
run diloco.py 3
run streaming.py 3 3
# Debian 12's torch cannot import FSDP with its Python, and Debian 13's torchrun cannot start without libuv.
if python3 -c 'import torch.distributed.fsdp' 2>/dev/null; then
  cat >"$bin/torchrun" <<'END'
#!/bin/bash
MASTER_PORT="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT
RANK=1 LOCAL_RANK=1 python3 "${@: -1}" &
RANK=0 LOCAL_RANK=0 python3 "${@: -1}" && wait $!
END
  chmod 755 "$bin/torchrun"
  run fsdp.py 4
else
  echo "fsdp.py: skipped, since this torch cannot import FSDP"
fi
# Once to the half of it, and then on from there.
STEPS=50 bash -c "$(sed -n 's/^ *\(banyan local .*\)$/\1/p' resume.py)" >"$TEST_TMPDIR/half.out" 2>&1 ||
  fail "expected half of resume.py to run; it said: $(<"$TEST_TMPDIR/half.out")"
run resume.py 2
[[ "$(grep -c 'begins at step 50$' "$TEST_TMPDIR/resume.py.out")" == 2 ]] ||
  fail "expected both sites to begin at step 50, got: $(<"$TEST_TMPDIR/resume.py.out")"
