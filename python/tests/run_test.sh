#!/usr/bin/env bash
# Runs a test of the Python package: run_test.sh NAME. With Debian's Python, which has Debian's torch and numpy.
set -euo pipefail

export BANYAN_LIBRARY="$PWD/runtime/c_api/libbanyan.so"
export BANYAN_COMMAND="$PWD/tools/banyan"
export PYTHONPATH="$PWD/python:$PWD/python/tests"
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 -m unittest -v "$1"
