#!/usr/bin/env bash
# Runs fit_test.py, with Debian's Python, which has Debian's torch.
set -euo pipefail

export BANYAN_LIBRARY="$PWD/runtime/c_api/libbanyan.so"
export BANYAN_COMMAND="$PWD/tools/banyan"
export FIT="$PWD/examples/local_updates/fit"
export PYTHONPATH="$PWD/python:$PWD/examples/local_updates"
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 -m unittest -v fit_test
