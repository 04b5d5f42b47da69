#!/usr/bin/env bash
# Makes the wheel, installs it into a new environment and trains with it, with nothing of this repository in sight: the
# first five lines of docs/python.md at two sites.
set -euo pipefail

fail() {
  echo "$@" >&2
  exit 1
}

python=/usr/bin/python3
wheel="$("$python" python/make_wheel.py "$TEST_TMPDIR/wheels" runtime/c_api/libbanyan.so tools/banyan)"
root="$PWD"
cd "$TEST_TMPDIR"
"$python" -m venv --system-site-packages --without-pip environment
if "$python" -m pip --version >/dev/null 2>&1; then
  "$python" -m pip --python environment/bin/python install --quiet --no-index "$wheel" 2>/dev/null ||
    "$python" -m pip install --quiet --no-index --no-deps --prefix environment --ignore-installed "$wheel"
else
  # What pip does with it.
  site="$(environment/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
  "$python" -m zipfile -e "$wheel" "$site"
  install -m 755 "$site"/banyan-*.data/scripts/banyan environment/bin/banyan
fi
export PATH="$PWD/environment/bin:$PATH"
[[ "$(command -v banyan)" == "$PWD/environment/bin/banyan" ]] || fail "expected the wheel to have the command"
environment/bin/python -c 'import banyan; print(banyan.__file__)' | grep -q "^$PWD/environment/" ||
  fail "expected the package of the wheel"

# The first block of code in the tutorial, with a job around it.
awk '/^```python/ { inside = 1; next } /^```/ { if (inside) exit } inside' "$root/docs/python.md" >five.py
(($(wc -l <five.py) > 5)) || fail "expected docs/python.md to begin with a program"
cat >job.py <<'END'
import os, subprocess, sys
from banyan.testing import LocalJob
with LocalJob(nodes=2) as job:
    sites = [
        subprocess.Popen([sys.executable, "five.py"], env={**os.environ, "BANYAN_SCHEDULER": job.scheduler, "BANYAN_NAME": name})
        for name in job.names
    ]
    sys.exit(sum(site.wait() for site in sites))
END
if environment/bin/python -c 'import torch' 2>/dev/null; then
  environment/bin/python job.py >said || fail "expected the tutorial's first lines to run; they said: $(cat said)"
  [[ "$(sort -u said | wc -l)" == 1 && "$(wc -l <said)" == 2 ]] || fail "expected both sites to say the same, got: $(cat said)"
fi
