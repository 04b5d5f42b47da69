#!/usr/bin/env bash
# The page's TypeScript has no error of types. Those of what it is told come from the program that is the argument.
set -euo pipefail

if ! command -v tsc >/dev/null; then
  echo "tsc (node-typescript) is not installed: types were not checked"
  exit 0
fi
cp -rL tools/page/web "$TEST_TMPDIR/web"
"$1" >"$TEST_TMPDIR/web/page_types.ts"
tsc -p "$TEST_TMPDIR/web"
