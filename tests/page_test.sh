#!/usr/bin/env bash
# The page of a real job: a scheduler serves it, and events tell of nodes that join. Where Chromium is installed the page is
# opened in it too, and must say the same without a word on its console.
set -euo pipefail

fail() {
  echo "page_test: $*" >&2
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

cat >overlay.yaml <<'END'
job: page-test
scheduler: {address: "tcp://127.0.0.1:7700", http: "127.0.0.1:0"}
nodes:
  - {name: n1, address: "tcp://127.0.0.1:7701", place: [52.5, 13.4]}
  - {name: n2, address: "tcp://127.0.0.1:7702", place: [48.1, 11.6]}
links: [{between: [n1, n2], mbps: [38, 54], delay_ms: 6}]
END

"$banyan" scheduler overlay.yaml --listen tcp://127.0.0.1:0 --port-file port --forgetful >scheduler.out 2>scheduler.log &
processes+=($!)
for ((tries = 0; tries < 600; ++tries)); do
  if [[ -s port ]] && grep -q "dashboard at " scheduler.log; then break; fi
  kill -0 "${processes[0]}" || fail "the scheduler has ended"
  sleep 0.1
done
page="$(sed -n "s/.*dashboard at \(http[^ ]*\).*/\1/p" scheduler.log)"
[[ -n "$page" ]] || fail "the scheduler does not say where the page is"

# get PATH: headers to headers.txt, the body to stdout.
get() {
  python3 - "$page$1" <<'PY'
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:
    open("headers.txt", "w").write(str(answer.headers))
    sys.stdout.buffer.write(answer.read())
PY
}
get "" >index.html
grep -q '<script src="/page.js" defer>' index.html || fail "expected the page at $page"
grep -q "Content-Security-Policy: default-src 'none'; script-src 'self'" headers.txt || fail "$(<headers.txt)"
get page.js >page.js
grep -q EventSource page.js || fail "expected a script"
get page.css >page.css
grep -q prefers-color-scheme page.css || fail "expected a style"

# The change comes while the events are read: nodes start after the first.
python3 - "$page" "$banyan" "$(<port)" <<'PY' || fail "expected an event that tells of both nodes"
import json, os, subprocess, sys, urllib.request
page, banyan, scheduler = sys.argv[1:]
nodes = []

def start(name):
    command = [banyan, "node", "--name", name, "--scheduler", scheduler, "--listen", "tcp://127.0.0.1:0"]
    nodes.append(subprocess.Popen(command + ["--worker-socket", f"unix:{os.getcwd()}/{name}.sock"], stderr=open(f"{name}.log", "w")))

def read_events(lines):
    kind = None
    for line in lines:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            kind = text[7:]
        elif text.startswith("data: "):
            yield kind, json.loads(text[6:])
        else:
            assert text == "", text

try:
    seen = []
    for kind, data in read_events(urllib.request.urlopen(page + "api/events", timeout=60)):
        if kind == "history":
            assert data["rounds"] == [], data
        if kind != "status":
            continue
        states = [node["state"] for node in data["nodes"]]
        if not seen:
            assert states == ["absent", "absent"], states
            assert data["job"] == "page-test" and data["nodes"][0]["place"] == [52.5, 13.4], data
            start("n1")
            start("n2")
        seen.append(states)
        if states == ["joined", "joined"] and data["policy"] > 0:
            break
    asked = subprocess.run([banyan, "status", "--json", "--scheduler", scheduler], capture_output=True, check=True)
    told = json.load(urllib.request.urlopen(page + "api/status", timeout=60))
    assert list(told) == list(json.loads(asked.stdout)), "the page's status is not that of banyan status"
    assert [link["mbps"] for link in told["links"]] == [38, 54], told["links"]
    # Somebody looks into rounds, of which there are none: the page says so.
    trace = [banyan, "trace", "trace.json", "--rounds", "1", "--timeout", "1s", "--scheduler", scheduler]
    traced = subprocess.run(trace, capture_output=True, text=True)
    assert traced.returncode == 1 and "no round was complete at all nodes" in traced.stderr, traced
    for kind, data in read_events(urllib.request.urlopen(page + "api/events", timeout=60)):
        if kind == "trace":
            assert data == {"missing": [], "round": None}, data
            break
finally:
    for node in nodes:
        node.terminate()
        node.wait()
PY

if ! command -v chromium >/dev/null; then
  echo "chromium is not installed: the page was not opened in a browser"
  exit 0
fi
traced="document.getElementById('traced').textContent.includes('No round was complete')"
python3 "$look" "$page" --until "document.title === 'page-test – Banyan' && $traced" || fail "expected the page to show the job"

# The same page over a recording of a simulation, played to its end.
"$banyan" sim overlay.yaml --model-size 20M --rounds 2 --record sim.rec >sim.log 2>&1 || fail "expected a recording"
"$banyan" view sim.rec --speed 100 >view.log 2>&1 &
processes+=($!)
for ((tries = 0; tries < 600; ++tries)); do
  if grep -q "until Ctrl-C" view.log; then break; fi
  sleep 0.1
done
recorded="$(sed -n 's/.* at \(http[^ ]*\) until Ctrl-C/\1/p' view.log)"
[[ -n "$recorded" ]] || fail "banyan view does not say where the page is"
ended="document.getElementById('play').textContent === 'Play' && document.getElementById('position').value > 1"
# inside WORD: the sentence of the traced round that is shown begins so.
inside() { echo "document.querySelector('#traced .sentence').textContent.startsWith('$1')"; }
# seek PART: moves the slider to a part of the whole.
seek() {
  echo "(() => { const slider = document.getElementById('position'); slider.value = $1 * slider.max;
    slider.dispatchEvent(new Event('input')); return true; })()"
}
python3 "$look" "$recorded" --until "document.title === 'page-test – Banyan' && $ended" --until "$(inside 'Round 2 took ')" \
  --until "$(seek 0)" --until "document.getElementById('traced').hidden" \
  --until "$(seek 0.8)" --until "$(inside 'Round 1 took ')" || fail "expected the recording to be played, with its rounds"
