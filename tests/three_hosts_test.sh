#!/usr/bin/env bash
# Follows README.md, docs/tutorial.md, docs/cpp.md and deploy/README.md from nothing to rounds, with four hosts: network
# namespaces that have the addresses of these pages. Commands and C++ are those of the pages. README.md and the tutorial are
# followed by a user without rights, in bash and, where it is installed, in zsh. Skipped where namespaces cannot be made.
set -euo pipefail

fail() {
  echo "$@" >&2
  exit 1
}

if [[ "${1:-}" != inside ]]; then
  if ! unshare --user --map-root-user --net --mount --pid --fork true 2>/dev/null; then
    echo "skipped: this system lets nobody make namespaces"
    exit 0
  fi
  # What is left running ends with its process namespace.
  exec unshare --user --map-root-user --net --mount --pid --fork --mount-proc --kill-child bash "$0" inside
fi

root="$PWD"
work="$(mktemp -d "${TEST_TMPDIR:?}/hosts.XXXX")"
export HOME="$work"
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /opt
ip link add name switch type bridge
ip link set switch up
for i in 0 1 2 3; do
  ip netns add "host$i"
  ip -n "host$i" link set lo up
  ip link add "port$i" type veth peer name eth0 netns "host$i"
  ip link set "port$i" master switch
  ip link set "port$i" up
  ip -n "host$i" address add "10.0.$i.1/16" dev eth0
  ip -n "host$i" link set eth0 up
done

# shown PAGE BEGIN: the first text in backquotes of the page that begins so, in one line.
shown() {
  tr -s ' \n' ' ' <"$1" | tr '`' '\n' |
    awk -v begin="$2" 'index($0, begin) == 1 && !found { print; found = 1 } END { exit !found }' ||
    fail "expected '$2' in $1"
}
# block PAGE LANGUAGE: the first block of code in that language.
block() { awk -v start='^ *```'"$2"'$' '/^ *```/ && inside { exit } inside { print } $0 ~ start { inside = 1 }' "$1"; }

# docs/cpp.md: the installation, and the program that attaches to a node, as its lines have it.
install="$(shown docs/cpp.md './banyan install ')"
prefix="${install##* }"
deploy/install/install.sh "$prefix" tools/banyan deploy/install/libbanyan.a deploy/install/libbanyan.flags \
  runtime/c_api/libbanyan.so
export PATH="$prefix/bin:$PATH"
cd "$work"
lines="$(block "$root/docs/cpp.md" cpp)"
[[ "$lines" == *PushPull* ]] || fail "expected the C++ lines of docs/cpp.md, got: $lines"
# The sites differ in socket and worker; what the page leaves out is filled in.
{
  grep '#include' <<<"$lines"
  printf '#include <unistd.h>\n#include <iostream>\n#include <vector>\nint main(int argc, char** argv) {\n'
  echo 'std::vector<float> values(8), gradient(8, 1);'
  grep -v '#include' <<<"$lines" | sed -E \
    -e 's|"unix:/run/banyan/[a-z0-9]+", \.worker = 0|argv[1], .worker = static_cast<uint32_t>(std::stoi(argv[2]))|' \
    -e 's|for \(\.\.\.\)|for (int round = 1; round <= 3; ++round)|' \
    -e 's|(absl::Status done = [^;]*;).*|\1 if (!done.ok()) { std::cerr << done << "\\n"; return 1; }|' \
    -e 's|^( *)\}$|std::cout << "round " << round << std::endl; }|'
  # Where they are told to, they stay until they are let go, or the job would be over with the first look at it.
  echo 'char one; return (argc < 4 || read(0, &one, 1) == 1) && gradient == std::vector<float>(8, 1) ? 0 : 2; }'
} >train.cc
export PKG_CONFIG_PATH
PKG_CONFIG_PATH="$(shown "$root/docs/cpp.md" PKG_CONFIG_PATH=)"
PKG_CONFIG_PATH="${PKG_CONFIG_PATH#*=}"
if command -v pkg-config >/dev/null; then
  bash -c "$(shown "$root/docs/cpp.md" 'g++ ') -o train" || fail "expected the lines of docs/cpp.md to compile: $(<train.cc)"
else
  read -r -a libs < <(sed -n 's|^Libs: ||p' "$PKG_CONFIG_PATH/banyan.pc" | sed "s|\${libdir}|$prefix/lib|")
  g++ -std=c++20 train.cc "-I$prefix/include" "${libs[@]}" -o train
fi

# on HOST LOG COMMAND: runs it there, as typed into `shell`, by means of what `reader` has, if anything.
reader=()
shell=bash
on() { ip netns exec "host$1" "${reader[@]}" "$shell" -c "exec $3" 2>"$work/$2.log"; }

# deploy/README.md, with the sample beside it as it is.
page="$prefix/share/banyan/README.md"
cp "$prefix/share/banyan/overlay.yaml" .
on 0 plan "$(shown "$page" 'banyan plan ')" >/dev/null || fail "expected a plan: $(<plan.log)"
on 0 keys "$(shown "$page" 'banyan keygen ')" >/dev/null || fail "expected keys: $(<keys.log)"
# All hosts share this home.
mkdir -p .config/banyan
cp keys/*.key .config/banyan
scheduler="$(shown "$page" 'banyan scheduler ')"
on 0 check "$scheduler --check" >/dev/null || fail "expected the sample to be right: $(<check.log)"
on 0 scheduler "$scheduler" >scheduler.out &
first_scheduler=$!
node="$(shown "$page" 'banyan node ')"
[[ "$node" == *"--name berlin "*10.0.1.1*/berlin ]] || fail "expected the node of berlin, got '$node'"
sites=(host berlin madrid vienna)
for i in 1 2 3; do
  of_site="${node//berlin/${sites[i]}}"
  on "$i" "${sites[i]}" "${of_site/10.0.1.1/10.0.$i.1}" >/dev/null &
done
mkfifo hold
exec 3<>hold
trainers=()
# The last site has two.
for place in "1 0" "2 0" "3 0" "3 1"; do
  read -r host worker <<<"$place"
  on "$host" "train-$host-$worker" "./train unix:/run/banyan/${sites[host]} $worker stay" <hold >"train-$host-$worker.out" &
  trainers+=($!)
done
for output in train-{1-0,2-0,3-0,3-1}; do
  until [[ "$(cat "$output.out" 2>/dev/null)" == $'round 1\nround 2\nround 3' ]]; do
    [[ ! -s "$output.log" ]] || fail "expected three rounds of $output: $(tail -n 5 ./*.log)"
    sleep 0.1
  done
done

# What the page says of looking at the job, and of its end.
status="$(shown "$page" 'banyan status ')"
on 1 status "${status% --watch}" >status.out || fail "expected a status: $(<status.log)"
grep -q '^job fashion-mnist: running' status.out || fail "expected a job that runs, got: $(<status.out)"
# Who has no key, another's or too small a role does nothing, and hears why.
if HOME=/run on 3 stranger "env -C / banyan status --scheduler tcp://10.0.0.1:7700" >/dev/null; then fail "expected no status"; fi
grep -q 'asks for a key' stranger.log || fail "expected a stranger to hear of keys, got: $(<stranger.log)"
if on 3 watcher "banyan stop --key keys/observer.key --scheduler tcp://10.0.0.1:7700" >/dev/null; then
  fail "expected an observer to stop nothing"
fi
grep -q "observer 'observer'" watcher.log || fail "expected an observer to hear of his role, got: $(<watcher.log)"
if HOME=/run on 0 bare "env -C / banyan scheduler $PWD/overlay.yaml --listen tcp://10.0.0.1:7799" >/dev/null; then
  fail "expected no scheduler without keys"
fi
grep -q 'banyan keygen --all' bare.log || fail "expected to hear how keys are made, got: $(<bare.log)"
BANYAN_SCHEDULER=tcp://10.0.0.1:7700 on 2 stop "$(shown "$page" 'banyan stop')" >/dev/null ||
  fail "expected the job to take its end: $(<stop.log)"
printf 1234 >&3
for trainer in "${trainers[@]}"; do
  wait "$trainer" || fail "expected the right mean; a program ended with $?: $(tail -n 5 train-*.log)"
done

# README.md: the overlay and the commands of several machines, with this program in place of Python's.
follow_readme() {
  local commands scheduler run second
  block "$root/README.md" yaml >overlay.yaml
  commands="$(block "$root/README.md" sh)"
  said() { sed -n "s/ *#.*//; /^banyan $1 /p" <<<"$commands"; }
  on 0 readme-keys "$(said keygen)" >/dev/null || fail "expected keys: $(<"$work/readme-keys.log")"
  on 0 readme-scheduler "$(said scheduler)" >/dev/null &
  scheduler=$!
  run="$(said run)"
  [[ "$run" == *"--name n1 -- python3 train.py" ]] || fail "expected the command of a site, got '$run'"
  run="${run/python3 train.py/bash -c \'$work/train \$BANYAN_NODE 0\'}"
  on 2 readme-n2 "${run/n1/n2}" >n2.out &
  second=$!
  on 1 readme-n1 "$run" >n1.out || fail "expected n1 to train: $(cat n1.out "$work/readme-n1.log")"
  wait "$second" || fail "expected n2 to train: $(cat n2.out "$work/readme-n2.log")"
  grep -q '^\[n2\] round 3' n2.out || fail "expected three rounds of n2, got: $(<n2.out)"
  wait "$scheduler" || fail "expected the scheduler to end with its job: $(<"$work/readme-scheduler.log")"
}

# docs/tutorial.md: the job of two hosts from its keys to its second run and its end, the second host in a folder of its
# own.
follow_tutorial() {
  local tutorial="$root/docs/tutorial.md" all first second scheduler status code
  mkdir second
  block "$tutorial" yaml >overlay.yaml
  said() { sed -n "s/^    \(banyan $1.*\)/\1/p" "$tutorial"; }
  on 0 tutorial-keys "$(said keygen)" >/dev/null || fail "expected keys: $(<"$work/tutorial-keys.log")"
  [[ "$(grep -c '^    scp -r keys/overlay.yaml keys/b.key ' "$tutorial")" == 1 ]] || fail "expected the files of the second host"
  cp keys/overlay.yaml keys/b.key second
  on 0 tutorial-all "$(said 'doctor .*--all')" >all.out &
  all=$!
  on 0 tutorial-a "$(said 'doctor .*name a')" >a.out &
  first=$!
  (cd second && on 1 tutorial-b "$(said 'doctor .*name b')") >b.out ||
    fail "expected no fault at b: $(cat b.out "$work/tutorial-b.log")"
  wait "$first" || fail "expected no fault at a: $(cat a.out "$work/tutorial-a.log")"
  wait "$all" || fail "expected no fault at all: $(cat all.out "$work/tutorial-all.log")"
  scheduler="$(said 'scheduler keys' | sed -n 1p)"
  on 0 tutorial-scheduler "$scheduler" >/dev/null &
  first=$!
  run_site() { on "$1" "tutorial-run-$2" "${3/python3 train.py/bash -c \'$work/train \$BANYAN_NODE 0\'}"; }
  (cd second && run_site 1 b "$(said 'run overlay.yaml')" >b.out) &
  second=$!
  run_site 0 a "$(said 'run keys')" >a.out || fail "expected a to train: $(cat a.out "$work/tutorial-run-a.log")"
  wait "$second" || fail "expected b to train: $(cat second/b.out "$work/tutorial-run-b.log")"
  wait "$first" || fail "expected the scheduler to end with its job: $(<"$work/tutorial-scheduler.log")"
  code=0
  on 0 tutorial-again "$scheduler" >/dev/null || code=$?
  ((code == 3)) || fail "expected code 3 of a job that is over, got $code: $(<"$work/tutorial-again.log")"
  on 0 tutorial-another "$(said 'scheduler .*--another')" >/dev/null &
  first=$!
  status="$(said status)"
  until on 0 tutorial-status "${status% --watch}" >status.out 2>/dev/null; do sleep 0.2; done
  grep -q '^job first: waiting' status.out || fail "expected another job that waits, got: $(<status.out)"
  on 0 tutorial-stop "$(said stop)" >/dev/null || fail "expected the job to take its end: $(<"$work/tutorial-stop.log")"
  wait "$first" || fail "expected the scheduler to end with its job: $(<"$work/tutorial-another.log")"
}

wait "$first_scheduler" || fail "expected the scheduler to end with its job: $(<scheduler.log)"
# A reader is another user, who has no capability, no home but his own, and nothing to write outside of it.
mount -o remount,ro /run
mount -o remount,ro /opt
reader=(unshare --user --map-user=1000 --map-group=1000)
on 0 reader "bash -c '((EUID == 1000)) && ! ip link set lo down && ! touch /run/x'" || fail "expected a reader without rights"
for shell in bash zsh; do
  if ! command -v "$shell" >/dev/null; then
    echo "skipped: $shell is not installed"
    continue
  fi
  for page in readme tutorial; do
    export HOME="$work/$page-$shell"
    mkdir "$HOME"
    cd "$HOME"
    "follow_$page"
  done
done
