#!/usr/bin/env bash
# Trains by several methods for a few steps: gradients of every step are those of one process, and local updates send less.
set -euo pipefail

if ! /usr/bin/python3 -c 'import torch' 2>/dev/null || ! command -v bible >/dev/null; then
  echo "python3-torch or bible-kjv is not installed; skipped"
  exit 0
fi
export BANYAN_LIBRARY="$PWD/runtime/c_api/libbanyan.so"
export BANYAN_COMMAND="$PWD/tools/banyan"
export PYTHONPATH="$PWD/python"
export PYTHONDONTWRITEBYTECODE=1

train() { /usr/bin/python3 examples/tiny_gpt/train.py --sites 2 --steps 20 "$@"; }

plot="$TEST_TMPDIR/losses.svg"
table="$(/usr/bin/python3 examples/tiny_gpt/compare.py --sites 2 --steps 10 --seeds 2 --methods "single;ddp;hfa, 2 workers" \
  --plot "$plot" -- --sync-every 5)"
grep -q "hfa, 2 workers" "$plot"
/usr/bin/python3 - "$(train --mode single)" "$(train --mode ddp)" "$(train --mode streaming --sync-every 10)" "$table" <<'END'
import json, sys
single, ddp, streaming = map(json.loads, sys.argv[1:4])
assert abs(single["validation"]["20"] - ddp["validation"]["20"]) < 0.001, (single, ddp)
assert ddp["sent"] == 20 * ddp["parameters"], ddp
assert 0 < streaming["sent"] <= ddp["sent"] / 8, streaming
assert streaming["validation"]["20"] < 4.2, streaming  # 73 characters at random: 4.29
assert ddp["bytes"] > 4 * ddp["sent"], ddp  # two sites: each sends its sums, or the results, of each number
assert streaming["bytes"] < ddp["bytes"] / 5, streaming
rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in sys.argv[4].splitlines()]
assert [row[0] for row in rows[2:]] == ["`single`", "`ddp`", "`hfa, 2 workers`"], rows
(_, single_losses, *_), (_, ddp_losses, _, _, once), (_, hfa_losses, _, _, seldom) = rows[2:]
assert once == "1" and float(seldom) >= 2, rows
for one, other in zip(single_losses.split(","), ddp_losses.split(",")):
    assert abs(float(one) - float(other)) < 0.002 and float(one) < 4.3, rows
assert len(set(hfa_losses.split(","))) == 2, rows  # two seeds
END
