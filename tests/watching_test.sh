#!/usr/bin/env bash
# The alert rules and the dashboard: promtool takes the rules, they do what alerts_test.yaml says, and what they ask for are
# metrics that docs/reference/metrics.md has.
set -euo pipefail
fail() { echo "watching_test: $*" >&2; exit 1; }

promtool check rules deploy/prometheus/alerts.yaml
(cd deploy/prometheus && promtool test rules alerts_test.yaml)

# Prints the names of metrics in the expressions of the alerts and of the dashboard.
used() {
  sed -n '/expr:/,/labels:/p' deploy/prometheus/alerts.yaml
  python3 - <<'PY'
import json
for panel in json.load(open("deploy/grafana/banyan.json"))["panels"]:
    for target in panel["targets"]:
        print(target["expr"])
PY
}
names=$(used | grep -o 'banyan_[a-z_]*' | sort -u)
[[ $(wc -w <<<"$names") -gt 15 ]] || fail "expected to find the metrics that are asked for, found: $names"
for name in $names; do
  grep -q "\`$name\`" docs/reference/metrics.md || fail "$name is no metric that docs/reference/metrics.md has"
done

# Every expression of the dashboard is one that Prometheus can read: as rules they are checked in the same way.
rules=$(mktemp)
trap 'rm -f "$rules"' EXIT
python3 - >"$rules" <<'PY'
import json
print("groups: [{name: dashboard, rules: [")
panels = json.load(open("deploy/grafana/banyan.json"))["panels"]
for panel in panels:
    for target in panel["targets"]:
        print("  {record: \"panel:%d_%s\", expr: %s}," % (panel["id"], target["refId"], json.dumps(target["expr"])))
print("]}]")
PY
promtool check rules "$rules" >/dev/null || fail "the dashboard asks for what Prometheus cannot read"
