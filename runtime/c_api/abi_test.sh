#!/usr/bin/env bash
# Holds the types and functions of libbanyan.so against banyan.abi, as programs were compiled with them. After something
# was added `abi_test.sh --write` writes banyan.abi anew; run it from the repository's root, with the library's path.
set -euo pipefail

folder=runtime/c_api
# Only what banyan.h declares: the library's own types are nobody's business.
headers="$(mktemp -d)"
trap 'rm -rf "$headers"' EXIT
cp "$folder/banyan.h" "$headers"

if [[ "${1:-}" == --write ]]; then
  abidw --headers-dir "$headers" --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path \
    --no-show-locs --no-elf-needed --out-file "$folder/banyan.abi" "$2"
  exit
fi

# 4: something differs; 8: in a way that breaks programs.
abidiff --headers-dir2 "$headers" --drop-private-types --exported-interfaces-only --no-show-locs "$folder/banyan.abi" \
  "$folder/libbanyan_with_types.so" || {
  echo "what programs are compiled against has changed: go back, or write banyan.abi anew if they all still work" >&2
  exit 1
}
