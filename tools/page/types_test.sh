#!/usr/bin/env bash
# The page's TypeScript has no error of types.
set -euo pipefail

if ! command -v tsc >/dev/null; then
  echo "tsc (node-typescript) is not installed: types were not checked"
  exit 0
fi
tsc -p tools/page/web
