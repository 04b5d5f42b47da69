#!/usr/bin/env bash
# Fails where clang-format would change a C++ file of the repository. Where it is not installed there is nothing to ask.
set -euo pipefail

if ! command -v clang-format >/dev/null; then
  echo "clang-format is not installed; skipped"
  exit 0
fi

# Bazel links this test's data to where the repository lies.
root="$(dirname "$(dirname "$(dirname "$(readlink -f tests/tidy/BUILD)")")")"

# Prints what is not in form among the files on stdin (separated by zero bytes); fails if there is such.
check() {
  xargs -0 -r clang-format --style="file:$root/.clang-format" --dry-run -Werror
}

bad="$(mktemp -d)"
trap 'rm -rf "$bad"' EXIT
printf 'int  main( ){return 0 ;}\n' >"$bad/bad.cc"
if printf '%s\0' "$bad/bad.cc" | check 2>/dev/null; then
  echo "the check itself is broken: it passed a file that is not in form"
  exit 1
fi

find "$root" -mindepth 1 -name '.*' -prune -o \
  -type f \( -name '*.h' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' \) -print0 | check ||
  { echo "run: clang-format -i FILE..."; exit 1; }
