#!/usr/bin/env bash
# Tries Debian packages as users would: try_packages.sh FOLDER, as root of a minimal Debian that is of no use afterwards
# (debian_root.sh makes one). FOLDER has the packages and examples/c/average.c. Installs them, verifies the units, has four
# programs in C++, C and Python train as deploy/README.md and its overlay say, in network namespaces with the addresses of
# that page, and purges the packages: no file, user or group may remain.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
folder="$1"
work="$(mktemp -d)"
cd "$work"
chmod 755 .

say() { echo "try_packages: $*"; }

fail() {
  say "$@" >&2
  tail -n 10 ./*.log >&2 || true
  exit 1
}

# apt COMMAND PACKAGE...: as root would, but for suggestions.
apt() { apt-get -qq -y --no-install-recommends "$@" >>apt.log 2>&1 || fail "expected apt-get $* to go well"; }

# Prints every file with its owner and mode, and all users and groups. What the tools used here note for themselves is left
# out.
list() {
  local path out=()
  for path in /proc /sys /dev "$work" /run/netns /run/systemd /var/log /var/cache/apt /var/lib/apt; do
    out+=(-path "$path" -prune -o)
  done
  find / -xdev "${out[@]}" -printf '%M %u %g %p %l\n' | sort
  cat /etc/passwd /etc/group /etc/shadow /etc/gshadow
}

# until_shown TEXT FILE: waits until the file has it.
until_shown() {
  for ((tries = 0; tries < 600; ++tries)); do
    if grep -qs -- "$1" "$2"; then return 0; fi
    sleep 0.1
  done
  fail "expected '$1' in $2"
}

# --- the machine ---
say "installing what every machine has, and what the packages need"
packages=()
for file in "$folder"/*.deb; do packages+=("$(dpkg-deb -f "$file" Package)"); done
apt update
apt install systemd iproute2 g++ pkgconf adduser
adduser --quiet --disabled-password --comment '' trainer
mapfile -t needed < <(apt-get install -s --no-install-recommends "$folder"/*.deb | sed -n 's/^Inst \([^ ]*\) .*/\1/p' |
  grep -vxF "$(printf '%s\n' "${packages[@]}")")
if ((${#needed[@]} > 0)); then apt install "${needed[@]}"; fi
list >before

# --- the packages ---
say "installing ${packages[*]}, which need ${needed[*]}"
apt install "$folder"/*.deb
for unit in banyan-scheduler.service banyan-node@berlin.service; do
  systemd-analyze verify --man=no "$unit" >>verify.log 2>&1 || fail "expected nothing to say against $unit"
done
[[ ! -s verify.log ]] || fail "expected nothing to say against the units"

# --- the job ---
say "training at three sites"
# host NAME ADDRESS: a network namespace, at a switch that has one too.
ip netns add switch
ip -n switch link add bridge type bridge
ip -n switch link set bridge up
host() {
  ip netns add "$1"
  ip -n switch link add "$1" type veth peer name eth0 netns "$1"
  ip -n switch link set "$1" master bridge up
  ip -n "$1" address add "$2/16" dev eth0
  ip -n "$1" link set eth0 up
  ip -n "$1" link set lo up
}
# on HOST USER COMMAND...: runs it there.
on() { ip netns exec "$1" setpriv --reuid="$2" --regid="$2" --init-groups "${@:3}"; }
# unit NAME: prints what the unit runs.
unit() { sed -n 's/^ExecStart=//p' "$(dpkg -L banyan | grep "/$1.service\$")"; }

cp /usr/share/banyan/overlay.yaml .
banyan plan overlay.yaml >plan.log 2>&1 || fail "expected a plan"
banyan keygen --all overlay.yaml keys >keys.log 2>&1 || fail "expected keys"
cp keys/* /etc/banyan/
chown banyan /etc/banyan/{scheduler,berlin,madrid,vienna}.key
# What the units would make.
install -d -o banyan -g banyan /var/lib/banyan /run/banyan
usermod --append --groups banyan trainer

daemons=()
host scheduler 10.0.0.1
XDG_STATE_HOME=/var/lib OPTIONS='' on scheduler banyan sh -c "exec $(unit banyan-scheduler)" >scheduler.log 2>&1 &
daemons+=($!)
node() {
  host "$1" "$2"
  local run
  run="$(unit banyan-node@)"
  BANYAN_SCHEDULER=tcp://10.0.0.1:7700 BANYAN_LISTEN="tcp://*:7701" BANYAN_ADVERTISE="tcp://$2:7701" OPTIONS='' \
    on "$1" banyan sh -c "exec ${run//%i/$1}" >"node-$1.log" 2>&1 &
  daemons+=($!)
}
node berlin 10.0.1.1
node madrid 10.0.2.1
node vienna 10.0.3.1

cat >average.cc <<'END'
#include <banyan/session.h>

#include <iostream>
#include <vector>

int main(int, char** argv) {
  absl::StatusOr<std::unique_ptr<banyan::Session>> session = banyan::Session::Open({.node = argv[1], .worker = 0});
  if (!session.ok()) return std::cerr << session.status() << '\n', 1;
  std::vector<float> numbers = {1, 2};
  absl::Status done = (*session)->Init("grades", numbers, numbers).Wait(absl::Seconds(60));
  if (done.ok()) {
    numbers = {1, 2};
    done = (*session)->PushPull("grades", numbers, numbers, {.priority = 1}).Wait(absl::Seconds(60));
  }
  if (!done.ok()) return std::cerr << done << '\n', 1;
  std::cout << numbers[0] << ' ' << numbers[1] << std::endl;
}
END
cat >average.py <<'END'
import array, os, sys
import banyan
job = banyan.join()
job.init("grades", array.array("f", [0, 0]))
print(*job.all_reduce("grades", array.array("f", [float(number) for number in sys.argv[1:]])), flush=True)
os.read(0, 1)
END
# shellcheck disable=SC2046
g++ -std=c++20 average.cc $(pkg-config --cflags --libs banyan) -o average_cc
# shellcheck disable=SC2046
gcc -std=c99 "$folder/average.c" $(pkg-config --cflags --libs banyan-c) -o average_c
mkfifo hold
exec 3<>hold
trainers=()
# trainer SITE WORKER PROGRAM ARGUMENTS: runs it as a user who has nothing but the group.
trainer() {
  BANYAN_NODE="unix:/run/banyan/$1" LOCAL_RANK="$2" on "$1" trainer "${@:3}" <hold >"trained-$1-$2.log" 2>&1 &
  trainers+=($!)
}
trainer berlin 0 ./average_cc unix:/run/banyan/berlin
trainer madrid 0 ./average_c unix:/run/banyan/madrid grades 2 3
trainer vienna 0 python3 average.py 3 4
trainer vienna 1 python3 average.py 6 7
for log in trained-{berlin-0,madrid-0,vienna-0,vienna-1}.log; do
  until_shown 4 "$log"
  [[ "$(tr '\n' ' ' <"$log")" =~ ^3(\.0)?\ 4(\.0)?\ $ ]] || fail "expected the mean, 3 and 4, in $log"
done
on scheduler root banyan status --scheduler tcp://10.0.0.1:7700 >status.log 2>&1 || fail "expected a status"
grep -q '^job fashion-mnist: running' status.log || fail "expected a job that runs"
printf 12 >&3
for process in "${trainers[@]}" "${daemons[@]}"; do wait "$process" || fail "expected all to end well with the job, got $?"; done
# As root would, whose Python may write beside what is installed.
python3 -c 'import banyan'

# --- the end ---
say "purging them"
for name in switch scheduler berlin madrid vienna; do ip netns delete "$name"; done
apt purge "${packages[@]}"
list >after
diff before after >left.log || fail "expected nothing to remain of the packages"
say "done: nothing remains"
