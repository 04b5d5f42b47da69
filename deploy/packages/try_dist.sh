#!/usr/bin/env bash
# Tries the tarball and the wheel as their readers would: try_dist.sh FOLDER, as root of a minimal system with Python, iproute2 and
# zsh that is of no use afterwards (debian_root.sh makes one). FOLDER has both, README.md, docs/ and python/tests.
# An ordinary user installs them, runs the package's tests that need no torch, and follows README.md from the overlay to
# the status and docs/tutorial.md to its end, in bash and in zsh. The addresses of these pages are this machine's.
set -euo pipefail
if [[ "${2:-}" != inside ]]; then exec unshare --net bash "$0" "$1" inside; fi
folder="$1"
ip link set lo up
for i in 0 1 2; do ip address add "10.0.$i.1/32" dev lo; done

say() { echo "try_dist: $*"; }

fail() {
  say "$@" >&2
  tail -n 20 /home/reader/*.log >&2 || true
  exit 1
}

install -d -o 12345 -g 12345 /home/reader
cd /home/reader
# as_reader SHELL COMMAND: runs it as a user without any rights, whom Ctrl-C ends: what is started in the background may ignore it.
as_reader() {
  setpriv --reuid=12345 --regid=12345 --clear-groups \
    env -i --default-signal=INT HOME=/home/reader PATH=/home/reader/venv/bin:/home/reader/banyan/bin:/usr/bin:/bin LC_ALL=C.UTF-8 "$1" -c "$2"
}

say "installing $(. /etc/os-release && echo "$PRETTY_NAME"): $(ls "$folder" | tr '\n' ' ')"
as_reader bash "mkdir banyan && tar -xf '$folder'/banyan-*.tar.gz -C banyan --strip-components=1"
as_reader bash "python3 -m venv venv && venv/bin/pip install --quiet --no-index '$folder'/banyan_train-*.whl" >pip.log 2>&1 ||
  fail "expected pip to install the wheel"
for command in banyan/bin/banyan venv/bin/banyan; do
  as_reader bash "$command plan ~/banyan/share/banyan/topologies/internet2.yaml" | grep -q 'predicted rate' ||
    fail "expected $command to plan a sample"
done
[[ "$(as_reader bash 'python3 -c "import banyan; print(banyan.__version__, banyan.__file__)"')" == *\ /home/reader/venv/* ]] ||
  fail "expected the package of the wheel"

say "the package's tests"
for test in core_test launch_test traps_test; do
  as_reader bash "cd '$folder' && BANYAN_COMMAND=/home/reader/venv/bin/banyan PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=python/tests python3 -m unittest $test" >"$test.log" 2>&1 || fail "expected python/tests/$test.py to pass"
  say "$test: $(tail -n 1 "$test.log")"
done

# shown COMMAND: the line of README.md that begins so, without its comment.
shown() {
  sed -nE "s/^ *(banyan $1 .*[^ ]) *(  #.*)?\$/\1/p" "$folder/README.md" | sed -E 's/ +#.*//' | head -n 1
}

cat >train.py <<'END'
import array, os
import banyan
job = banyan.join()
job.init("w", array.array("f", [0, 0]))
print("mean", *job.all_reduce("w", array.array("f", [1, 2])))
# All go on until each has seen that the status was shown.
while job.all_reduce("w", array.array("f", [0, float(os.path.exists("/home/reader/seen"))]))[1] < 1: pass
job.close()
END

# new_job PAGE: a folder with its overlay, and nothing that is left of another job.
new_job() {
  rm -rf job .local seen && install -d -o 12345 -g 12345 job job/second
  cp train.py job/ && cp train.py job/second/
  awk '/^ *```yaml$/ { inside = 1; next } /^ *```/ { if (inside) exit } inside' "$folder/$1" >job/overlay.yaml
}

# all_have_trained SITE...: waits until each has printed the mean.
all_have_trained() {
  local site tries
  for site in "$@"; do
    for ((tries = 0; tries < 600; ++tries)); do
      if grep -q "mean 1.0 2.0" "$site.log"; then break; fi
      sleep 0.1
    done
    grep -q "mean 1.0 2.0" "$site.log" || fail "expected the mean at $site"
  done
}

for shell in bash zsh; do
  say "README.md in $shell"
  new_job README.md
  as_reader "$shell" "cd job && $(shown keygen)" >keys.log 2>&1 || fail "expected keys of '$(shown keygen)'"
  as_reader "$shell" "cd job && exec $(shown scheduler)" >scheduler.log 2>&1 &
  started=($!)
  run="$(shown run)"
  for site in n1 n2; do
    as_reader "$shell" "cd job && exec ${run//n1/$site}" >"$site.log" 2>&1 &
    started+=($!)
  done
  all_have_trained n1 n2
  status="$(shown status)"
  as_reader "$shell" "cd job && ${status% --watch}" >status.log 2>&1 || fail "expected a status of '$status'"
  grep -q ': running' status.log || fail "expected a job that runs"
  touch seen
  for process in "${started[@]}"; do wait "$process" || fail "expected all to end well with the job, got $?"; done

  say "docs/tutorial.md in $shell"
  new_job docs/tutorial.md
  # step LOG FOLDER BEGIN: runs the first line of the tutorial that begins so, in the folder of its machine.
  step() {
    local line
    line="$(sed -nE "s/^    (banyan $3.*)/\\1/p" "$folder/docs/tutorial.md" | head -n 1)"
    as_reader "$shell" "cd '$2' && exec ${line% --watch}" >"$1.log" 2>&1
  }
  step keys job keygen || fail "expected keys"
  as_reader bash "cp job/keys/overlay.yaml job/keys/b.key job/second/"
  step all job 'doctor .*--all' &
  started=($!)
  step a job 'doctor .*--name a' &
  started+=($!)
  step b job/second 'doctor overlay' || fail "expected no fault at b"
  for process in "${started[@]}"; do wait "$process" || fail "expected no fault at a, nor between sites"; done
  step scheduler job 'scheduler keys' &
  started=($!)
  step a job 'run keys' &
  started+=($!)
  step b job/second 'run overlay' &
  started+=($!)
  all_have_trained a b
  step status job status && grep -q ': running' status.log || fail "expected a job that runs"
  touch seen
  for process in "${started[@]}"; do wait "$process" || fail "expected all to end well with the job, got $?"; done
  code=0
  step scheduler job 'scheduler keys' || code=$?
  ((code == 3)) || fail "expected code 3 of a job that is over, got $code"
  step scheduler job 'scheduler .*--another' &
  started=($!)
  until step status job status && grep -q ': waiting' status.log; do sleep 0.2; done
  step stop job stop || fail "expected the job to take its end"
  wait "${started[0]}" || fail "expected the scheduler to end with its job, got $?"
done
say "done"
