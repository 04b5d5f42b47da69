#!/usr/bin/env bash
# Makes the wheel, installs it into a new environment and trains with it at two sites, with nothing of this repository in
# sight: the program of README.md by its command, and the first program of docs/pytorch.md.
set -euo pipefail

fail() {
  echo "$@" >&2
  exit 1
}

python=/usr/bin/python3
wheel="$("$python" python/make_wheel.py "$TEST_TMPDIR/wheels" runtime/c_api/self_contained/libbanyan.so tools/self_contained/banyan)"
root="$PWD"

# What it holds needs glibc 2.31 and what unwinds stacks, and offers nothing to other libraries of the same process.
for file in runtime/c_api/self_contained/libbanyan.so tools/self_contained/banyan; do
  needed="$(objdump -p "$file" | sed -n 's/^ *NEEDED *//p' | grep -vE '^(lib(m|dl|pthread|gcc_s|c)\.so\.[0-9]|ld-linux.*)$')" || true
  [[ -z "$needed" ]] || fail "expected $file to need glibc alone, it needs: $needed"
  newest="$(objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)"
  [[ "$(printf '%s\n' "$newest" GLIBC_2.31 | sort -V | tail -n 1)" == GLIBC_2.31 ]] ||
    fail "expected $file to start on glibc 2.31, it needs $newest: $(objdump -T "$file" | grep -F "($newest)")"
done
offered="$(nm -D --defined-only runtime/c_api/self_contained/libbanyan.so | grep -vE ' (banyan_|BANYAN_)')" || true
[[ -z "$offered" ]] || fail "expected libbanyan.so to offer its own functions alone, it offers: $offered"

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

environment/bin/python - <<'END' || fail "expected the wheel to say what it is"
import importlib.metadata, banyan
facts = importlib.metadata.metadata("banyan-train")
assert banyan.__version__ == facts["Version"], (banyan.__version__, facts["Version"])
assert facts["Requires-Python"] == ">=3.9" and facts["License-Expression"] == "Apache-2.0", facts.items()
END

# first_program FILE: prints the first block of Python in a document.
first_program() { awk '/^ *```python/ { inside = 1; next } /^ *```/ { if (inside) exit } inside' "$1" | sed 's/^   //'; }

# run_sites PROGRAM: runs it at both sites of a job, which shall say the same.
run_sites() {
  environment/bin/python job.py "$1" >said || fail "expected $1 to run; it said: $(cat said)"
  [[ "$(sort -u said | wc -l)" == 1 && "$(wc -l <said)" == 2 ]] || fail "expected both sites to say the same, got: $(cat said)"
}

cat >job.py <<'END'
import os, subprocess, sys
from banyan.testing import LocalJob
with LocalJob(nodes=2) as job:
    sites = [
        subprocess.Popen([sys.executable, sys.argv[1]], env={**os.environ, "BANYAN_SCHEDULER": job.scheduler, "BANYAN_NAME": name})
        for name in job.names
    ]
    sys.exit(sum(site.wait() for site in sites))
END
first_program "$root/docs/pytorch.md" >tutorial.py
(($(wc -l <tutorial.py) > 5)) || fail "expected docs/pytorch.md to begin with a program"
first_program "$root/README.md" >train.py
grep -q '^ *v/bin/banyan local --sites 3 -- v/bin/python train.py' "$root/README.md" ||
  fail "expected README.md to run its program by banyan local"

# Other versions of the libraries that it has inside, in the same process and before it.
cat >crowd.py <<'END'
import array, ctypes, glob
for name in ("libzmq.so*", "libprotobuf.so*", "libsodium.so*", "libabsl_*.so*", "libstdc++.so*", "libonnxruntime.so*"):
    for path in glob.glob(f"/usr/lib/*/{name}"):
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
try:
    import torch
except ImportError:
    pass
import banyan
job = banyan.join()
job.init("w", array.array("f", [0, 0]))
print(*job.all_reduce("w", array.array("f", [1, 2])))
job.close()
END
run_sites crowd.py

if environment/bin/python -c 'import torch' 2>/dev/null; then
  run_sites tutorial.py
  banyan local --sites 3 -- environment/bin/python train.py >said || fail "expected train.py to run; it said: $(cat said)"
  weights="$(sed -n 's/^\[n[123]\] weights //p' said)"
  [[ "$(sort -u <<<"$weights" | wc -l)" == 1 && "$(wc -l <<<"$weights")" == 3 ]] ||
    fail "expected three sites with the same weights, got: $(cat said)"
fi
