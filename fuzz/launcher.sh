# What `./banyan fuzz` does: the launcher reads this file.

# Runs the fuzzer on one target for some seconds; what it finds interesting is kept for the next time.
fuzz_target() {
  local fuzzer="$1" target="$2" seconds="$3" kept="$HOME/.cache/banyan-fuzz/$2" seeds log
  seeds="$(mktemp -d)" log="$(mktemp)"
  mkdir -p "$kept"
  "$fuzzer" --target="$target" --seeds="$seeds" || die "$target: no seeds"
  local folders=("$kept" "$seeds") code=0
  if [[ "$target" == overlay ]]; then folders+=("$root/deploy/topologies"); fi
  "$fuzzer" --target="$target" "${folders[@]}" -max_total_time="$seconds" -timeout=10 -reload=0 -print_final_stats=1 \
    -artifact_prefix="$kept." >"$log" 2>&1 || code=1
  if ((code == 0)); then
    say "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, nothing found"
  else
    grep -v '^#[0-9]' "$log" | tail -60 >&2
    say "$target: found something. These bytes do it again: $(sed -n 's/.*Test unit written to //p' "$log" | tail -1)"
  fi
  rm -rf "$seeds" "$log"
  return "$code"
}

# fuzz [NAMES] [--seconds N]: `./banyan fuzz`.
fuzz() {
  local seconds=10 names=() known target failed=0
  while (($# > 0)); do
    case "$1" in
      --seconds) seconds="${2:-}" && shift ;;
      -*) die "expected names of targets or --seconds N after 'fuzz', got '$1'" ;;
      *) names+=("$1") ;;
    esac
    shift || true
  done
  [[ "$seconds" =~ ^[1-9][0-9]*$ ]] || die "expected a number of seconds after --seconds, got '$seconds'"
  need_packages "${build_packages[@]}" "${fuzz_packages[@]}"
  local library fuzzer
  library="$(compgen -G "/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-$(uname -m).a" | sort -V | tail -1)" ||
    die "no libFuzzer for $(uname -m)"
  build_quietly --config=fuzz --linkopt="$library" //fuzz:fuzzer
  fuzzer="$(cd "$root" && bazel info output_path 2>/dev/null)/k8-opt-fuzz/bin/fuzz/fuzzer"
  known="$("$fuzzer")"
  ((${#names[@]})) || mapfile -t names <<<"$known"
  for target in "${names[@]}"; do
    grep -qx -- "$target" <<<"$known" || die "expected one of $(tr '\n' ' ' <<<"$known")as target, got '$target'"
    fuzz_target "$fuzzer" "$target" "$seconds" || failed=1
  done
  return "$failed"
}
