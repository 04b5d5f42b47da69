#!/usr/bin/env bash
# `./banyan figures` finds the commands that reports quote, runs them, and writes the reports with what they print.
set -euo pipefail

# Bazel links this test's data to where the repository lies.
cd "$(dirname "$(dirname "$(dirname "$(readlink -f tests/tidy/BUILD)")")")"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=bench /usr/bin/python3 - "$TEST_TMPDIR" <<'END'
import pathlib, subprocess, sys

import figures

listed = subprocess.run([sys.executable, "bench/figures.py", "out", "--list"], capture_output=True, text=True, check=True)
reports = {line.split(":")[0] for line in listed.stdout.splitlines()}
without = {path.stem for path in figures.REPORTS.glob("*.md")} - reports
assert without == {"README", "emulator"}, f"expected commands in each report but these, got none in {without}"

root = pathlib.Path(sys.argv[1]) / "root"
(root / "bench" / "reports").mkdir(parents=True)
(root / "banyan").write_text('#!/bin/sh\necho "ran $*"\n[ "$1" != plan ]\n')
(root / "banyan").chmod(0o755)
(root / "bench" / "reports" / "a.md").write_text("""# A
The paper has 0.5; `banyan bench wan x.yaml --only
packed --rounds 8` gives 0.4.

    ./banyan plan x.yaml
    banyan sim-figures OUT
    banyan bench precision --rounds 600

`banyan sim OVERLAY.yaml` and `banyan status --json` are of the reader's own, and `banyan plan x.yaml` comes twice.
""")
figures.ROOT, figures.REPORTS = root, root / "bench" / "reports"
out = pathlib.Path(sys.argv[1]) / "out"
assert figures.main([str(out), "--quick"]) == 1, "expected the failed command in the exit code"
text = (out / "a.md").read_text()
assert text.startswith("# A\nThe paper has 0.5"), text
assert "ran bench wan x.yaml --only packed --rounds 2" in text, text
assert "ran bench precision --rounds 60\n" in text, text
assert "exit code 1" in text and text.count("ran plan") == 1, text
assert f"ran sim-figures {out}/a-3 --quick" in text and (out / "a-3").is_dir(), text
assert "reader" not in text.split("# What its commands print")[1], text
assert "| a | `./banyan plan x.yaml` |" in (out / "README.md").read_text()

# What a command has started ends with it at the limit.
(root / "banyan").write_text(f'#!/bin/sh\necho began\nsleep 1000 &\necho $! >{out}/child\nwait\n')
cut = figures.run(["./banyan", "plan", "x.yaml"], 1)
assert cut.code is None and cut.output == "began\n", cut
child = pathlib.Path("/proc") / (out / "child").read_text().strip()
assert not child.exists() or " Z " in (child / "stat").read_text(), "expected the child to end, too"
END
