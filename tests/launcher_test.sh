#!/usr/bin/env bash
# Holds `./banyan test` to its last line and to its end by signals, with a Bazel that only pretends: it writes results as
# Bazel does, or waits as a long test does.
set -euo pipefail
# Each launcher gets a process group of its own, as from a terminal, and does not ignore SIGINT.
set -m

fail() {
  echo "$@" >&2
  exit 1
}

root="$(mktemp -d "${TEST_TMPDIR:?}/launcher.XXXX")"
cp -L banyan "$root/banyan"
mkdir "$root/bin" "$root/home" "$root/deploy"
cp -L deploy/debian_root.sh "$root/deploy/debian_root.sh"
mkfifo "$root/started"

cat >"$root/bin/dpkg-query" <<'END'
#!/usr/bin/env bash
shift 2
printf '%s install ok installed\n' "$@"
END

# Says by the pipe `started` that it runs, and with which process id. Ends by a signal as Bazel does: with a code.
cat >"$root/bin/bazel" <<'END'
#!/usr/bin/env bash
here="$(dirname "$(dirname "$0")")"
[[ "$1" == test ]] || exit 0
echo test >>"$here/calls"
if [[ -e "$here/must_wait" ]]; then
  (($(wc -l <"$here/calls") == 1)) || exit 0
  sleep 600 &
  trap 'kill $!; exit 8' INT TERM
  echo "$$" >"$here/started"
  wait
fi
for argument in "$@"; do
  if [[ "$argument" == --build_event_json_file=* ]]; then cp "$here/events" "${argument#*=}"; fi
done
exit "$(cat "$here/code")"
END
chmod +x "$root/bin/dpkg-query" "$root/bin/bazel"

# Runs the launcher in the place of this shell.
launch() {
  exec env HOME="$root/home" TMPDIR="$root" PATH="$root/bin:$PATH" "$root/banyan" "$@"
}

# add_result NAME STATUS XML: adds one test's result to what the pretended Bazel writes.
add_result() {
  echo "$3" >"$root/$1.xml"
  echo '{"id":{"testResult":{"label":"//:'"$1"'"}},"testResult":{"testActionOutput":[{"name":"test.xml","uri":"file://'"$root/$1.xml"'"}],"status":"'"$2"'"}}' \
    >>"$root/events"
}

# expect_last_line LINE CODE [TARGETS]: runs all stages, or that of the targets, and looks at their end.
expect_last_line() {
  local code=0 said
  rm -f "$root/calls"
  said="$(launch test "${@:3}" 2>"$root/log")" || code=$?
  [[ "$(tail -n 1 <<<"$said")" == "$1" ]] || fail "expected '$1' as the last line, got: $said"
  ((code == $2)) || fail "expected exit code $2, got $code"
}

# Help fits a terminal, by all ways to ask for it.
for question in "--help" "-h" "help" "help test" "test --help" "build -h" "help install" "install --help" "package --help"; do
  # shellcheck disable=SC2086
  said="$(launch $question)" || fail "expected help after '$question'"
  [[ "$said" == "usage: ./banyan "* ]] || fail "expected usage after '$question', got: $said"
  if grep -E '.{81}' <<<"$said"; then fail "expected help within 80 columns after '$question'; the lines are above"; fi
done
for wrong in "--fast" "test fast" "test --on fast" "test --on fast //core:all" "test --quick fast" "package --on fast"; do
  code=0
  # shellcheck disable=SC2086
  said="$(launch $wrong 2>&1)" || code=$?
  ((code == 2)) || fail "expected exit code 2 after '$wrong', got $code"
  [[ "$said" == "banyan: expected "*fast* ]] || fail "expected a word on '$wrong', got: $said"
done

# Three stages have the same results.
echo 0 >"$root/code"
add_result good PASSED '<testsuites tests="7" failures="0" disabled="1" errors="0">
  <testsuite name="A" tests="4" failures="0" disabled="0" skipped="1" errors="0"></testsuite>
  <testsuite name="B" tests="3" failures="0" disabled="1" skipped="0" errors="0"></testsuite></testsuites>'
expect_last_line "15 passed, 0 failed, 6 skipped" 0
# Targets that are named make one.
expect_last_line "5 passed, 0 failed, 2 skipped" 0 //core:all -//core:some
echo 3 >"$root/code"
add_result bad FAILED '<testsuites>
  <testsuite name="C" tests="5" failures="1" disabled="0" skipped="2" errors="1"></testsuite></testsuites>'
expect_last_line "18 passed, 6 failed, 12 skipped" 1
# A program that died has written no results, and a build that broke has none.
echo 1 >"$root/code"
add_result dead FAILED ''
expect_last_line "18 passed, 12 failed, 12 skipped" 1

# expect_end SIGNAL CODE TARGET: sends SIGNAL during the first stage, to the launcher alone (TARGET: process) or to all of
# its group, as a terminal does.
expect_end() {
  local code=0 launcher bazel
  rm -f "$root/calls"
  touch "$root/must_wait"
  launch test 2>"$root/log" &
  launcher=$!
  read -r bazel <"$root/started"
  if [[ "$3" == group ]]; then kill "-$1" -- "-$launcher"; else kill "-$1" "$launcher"; fi
  wait "$launcher" || code=$?
  ((code == $2)) || fail "expected exit code $2 after SIG$1 to the $3, got $code: $(cat "$root/log")"
  if kill -0 "$bazel" 2>/dev/null; then fail "expected Bazel to be gone after SIG$1 to the $3"; fi
  [[ "$(cat "$root/calls")" == test ]] || fail "expected no stage after SIG$1 to the $3"
  grep -q "ended by SIG$1" "$root/log" || fail "expected a word on SIG$1, got: $(cat "$root/log")"
  [[ -z "$(find "$root" -mindepth 1 -maxdepth 1 -name 'tmp.*')" ]] || fail "expected no files to be left behind"
}

expect_end INT 130 group
expect_end INT 130 process
expect_end TERM 143 group
expect_end TERM 143 process
