#!/usr/bin/env bash
# Holds the types and functions of libbanyan.so against banyan.abi, as programs were compiled with them. Where all of
# these still work, `abi_test.sh --write LIBRARY`, run from the repository's root, writes banyan.abi anew.
set -euo pipefail

folder=runtime/c_api
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Only what banyan.h declares: the library's own types are nobody's business.
mkdir "$work/headers"
cp "$folder/banyan.h" "$work/headers"

# write_types LIBRARY FILE
write_types() {
  abidw --headers-dir "$work/headers" --drop-private-types --exported-interfaces-only --no-corpus-path \
    --no-comp-dir-path --no-show-locs --no-elf-needed --out-file "$2" "$1"
}

if [[ "${1:-}" == --write ]]; then
  write_types "$2" "$folder/banyan.abi"
  exit
fi
write_types "$folder/libbanyan_with_types.so" "$work/now.abi"
abidiff "$folder/banyan.abi" "$work/now.abi" || {
  echo "what programs are compiled against has changed: go back, or write banyan.abi anew if they all still work" >&2
  exit 1
}
