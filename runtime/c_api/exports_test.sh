#!/usr/bin/env bash
# Holds what libbanyan.so exports against exports.txt, and its name against what programs ask for.
set -euo pipefail

library=runtime/c_api/libbanyan.so
diff -u runtime/c_api/exports.txt <(nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort) || {
  echo "a symbol that is gone or another breaks programs; a new one goes into exports.txt" >&2
  exit 1
}
readelf -d "$library" | grep -q 'soname: \[libbanyan.so.1\]' || {
  echo "expected the soname libbanyan.so.1" >&2
  exit 1
}
