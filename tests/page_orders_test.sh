#!/usr/bin/env bash
# Operators at the page of a real job: who may give orders there, and each button pressed in Chromium, where it is installed.
set -euo pipefail

fail() {
  echo "page_orders_test: $*" >&2
  tail -n 20 "$work"/*.log >&2 || true
  exit 1
}

banyan="$PWD/tools/banyan"
look="$PWD/tools/page/look.py"
# Paths of sockets must be short.
work="$(mktemp -d)"
cd "$work"
export HOME="$work" XDG_STATE_HOME="$work"
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

# until_shown TEXT FILE WHAT: waits until the file says so.
until_shown() {
  for ((tries = 0; tries < 600; ++tries)); do
    if grep -qs -- "$1" "$2"; then return 0; fi
    sleep 0.1
  done
  fail "expected $3: '$1' in $2"
}

cat >overlay.yaml <<'END'
job: page-orders
scheduler: {address: "tcp://127.0.0.1:7700", http: "127.0.0.1:0"}
nodes:
  - {name: n1, address: "tcp://127.0.0.1:7701"}
  - {name: n2, address: "tcp://127.0.0.1:7702"}
  - {name: n3, address: "tcp://127.0.0.1:7703"}
links:
  - {between: [n1, n2], mbps: 100, delay_ms: 1}
  - {between: [n2, n3], mbps: 100, delay_ms: 1}
  - {between: [n1, n3], mbps: 100, delay_ms: 1}
END
umask 077
echo "ada-0123456789abcdef" >ada.token
echo "reader-0123456789abcdef" >reader.token
flags=(--http-token reader.token --http-operator ada=ada.token)

chmod 644 ada.token
if "$banyan" scheduler overlay.yaml --check "${flags[@]}" --forgetful >/dev/null 2>open.err; then fail "a file that all can read"; fi
grep -q "ada.token" open.err || fail "expected a word on ada.token: $(<open.err)"
chmod 600 ada.token

"$banyan" scheduler overlay.yaml --listen tcp://127.0.0.1:0 --port-file port --forgetful --stay "${flags[@]}" \
  >/dev/null 2>scheduler.log &
processes+=($!)
until_shown "dashboard at " scheduler.log "where the page is"
until_shown tcp: port "the scheduler's address"
for name in n1 n2 n3; do
  "$banyan" node --name "$name" --scheduler "$(<port)" --listen tcp://127.0.0.1:0 --worker-socket "unix:$work/$name.sock" \
    2>"$name.log" &
  processes+=($!)
done
page="$(sed -n "s/.*dashboard at \(http[^ ]*\).*/\1/p" scheduler.log)"

# Who is refused, and how, at a job that runs; one order that is taken, and one that the scheduler refuses.
python3 - "$page" <<'PY' || fail "expected orders of operators to be taken, and no others"
import base64, json, sys, time, urllib.error, urllib.request
page = sys.argv[1]
ADA, READER = "ada-0123456789abcdef", "reader-0123456789abcdef"

def ask(path, body=None, token=None, method=None, **headers):
    request = urllib.request.Request(page + path, body, method=method)
    for name, value in headers.items():
        request.add_header(name, value)
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()

def order(name, body=b"", token=ADA, **headers):
    code, answer = ask("api/operator/" + name, body, token, **headers)
    return code, json.loads(answer)

while json.loads(ask("api/status", token=READER)[1]).get("state") != "running":
    time.sleep(0.1)
basic = "Basic " + base64.b64encode(f"ada:{ADA}".encode()).decode()
refused = {"no token": (401, order("stop", token=None)), "a wrong one": (401, order("stop", token=ADA + "x")),
           "that of readers": (403, order("stop", token=READER)),
           "a browser's password": (401, order("stop", token=None, Authorization=basic)),
           "another site": (403, order("stop", Origin="http://evil.example")),
           "too much": (413, order("stop", b"x" * 5000))}
for what, (expected, (code, answer)) in refused.items():
    assert code == expected and answer["accepted"] is False and answer["text"], (what, code, answer)
assert ask("api/operator/stop", token=READER)[0] == 405, "GET stops nothing"
assert ask("api/operator/stop", b"", ADA, "OPTIONS")[0] == 405
assert json.loads(ask("api/status", token=READER)[1])["state"] == "running"
assert order("who") == (200, {"accepted": True, "text": "ada"}), order("who")
overlay = order("overlay")[1]["text"]
assert overlay == open("overlay.yaml").read(), overlay
mistake = order("reconfigure", overlay.replace("mbps: 100", "mbps: -1").encode())[1]
assert not mistake["accepted"] and "the overlay of ada:" in mistake["text"], mistake
unknown = order("remove", b"n9")[1]
assert not unknown["accepted"] and "n9" in unknown["text"], unknown
same = order("reconfigure", overlay.encode(), Origin=page.rstrip("/"))[1]
assert same["accepted"] and same["text"].startswith("policy "), same
PY
until_shown "operator 'ada' on the page: reconfigure the job" scheduler.log "who reconfigures"
until_shown "operator 'ada' on the page: not done: .*n9" scheduler.log "what was refused"

if ! command -v chromium >/dev/null; then
  echo "chromium is not installed: no button was pressed"
  exit 0
fi
# Presses of a button count once, so these expressions are true at once.
press() { echo "(document.getElementById('$1').click(), true)"; }
shows() { echo "document.getElementById('$1').textContent.includes('$2')"; }
edit="(() => { const text = document.getElementById('order-overlay');
  if (!text.value.includes('page-orders')) return false;
  text.value = text.value.replace('mbps: 100', 'mbps: 60').replace('links:', '  - {name: n4, address: \"tcp://127.0.0.1:7704\"}\nlinks:')
    .trimEnd() + '\n  - {between: [n1, n4], mbps: 50, delay_ms: 1}\n';
  text.dispatchEvent(new Event('input')); return true; })()"
choose="(() => { const node = document.getElementById('order-node'); node.value = 'n3';
  node.dispatchEvent(new Event('change')); return node.value === 'n3'; })()"
closed="!document.getElementById('order').open"
# With the token of readers in the address, as the browser would ask for it.
python3 "$look" "${page/\/\//\/\/me:reader-0123456789abcdef@}" \
  --until "document.title === 'page-orders – Banyan' && !document.getElementById('unlock').hidden" \
  --until "(document.getElementById('token').focus(), true)" --type ada-0123456789abcdef --press Enter \
  --until "$(shows operator ada)" --press Enter \
  --until "$edit" --until "$(shows order-give 'Apply 4 changed lines')" --until "$(shows order-changes n4)" \
  --until "$(press order-give)" --until "$(shows order-answer 'policy ')" --press Enter --until "$closed" \
  --until "$(shows member-table n4)" \
  --until "$(press open-remove)" --until "$choose" --until "$(shows order-what 'n3 falls out of job page-orders')" \
  --until "$(press order-give)" --until "$(shows order-answer 'n3 is removed')" --press Escape --until "$closed" \
  --until "$(shows member-table removed)" \
  --until "$(press open-stop)" --press Enter --until "$closed" --until "$(shows state running)" \
  --until "$(press open-stop)" --until "(document.getElementById('order-reason').focus(), true)" --type 'enough of it' \
  --press Enter --until "$(shows order-answer 'is over for all its nodes')" \
  --until "$(shows news 'enough of it')" || fail "expected each button to do what it says"
until_shown "stopped by an operator: ada: enough of it" scheduler.log "who stopped the job"
until_shown "operator 'ada' on the page: remove n3" scheduler.log "who removed n3"
