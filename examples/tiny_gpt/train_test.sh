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

/usr/bin/python3 - "$(train --mode single)" "$(train --mode ddp)" "$(train --mode streaming --sync-every 10)" <<'END'
import json, sys
single, ddp, streaming = map(json.loads, sys.argv[1:])
assert abs(single["validation"]["20"] - ddp["validation"]["20"]) < 0.001, (single, ddp)
assert ddp["sent"] == 20 * ddp["parameters"], ddp
assert 0 < streaming["sent"] <= ddp["sent"] / 8, streaming
assert streaming["validation"]["20"] < 4.2, streaming  # 73 characters at random: 4.29
END
