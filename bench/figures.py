"""Runs the commands that the reports quote, and writes each report with what its commands print today behind it.

    python3 bench/figures.py OUT [--quick] [--only REPORT]... [--list]

The reports in bench/reports name the command of each of their figures. This script takes the commands from there, so a
report that quotes another command needs no change here. OUT/REPORT.md is the report, with its tables and the papers'
numbers, and the output of its commands; OUT/README.md has the times and exit codes. Figures that commands draw go to
OUT/REPORT-N. The exit code is 1 when a command has failed.

With --quick rounds, seeds and pairs are few, and a command is cut off after two minutes: less than an hour in all.
"""

import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from typing import List, NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORTS = ROOT / "bench" / "reports"

# Commands that give figures. Others that reports mention are about jobs of the reader's own.
FIGURES = ("bench", "calibrate", "fuzz", "plan", "sim", "sim-figures")
# A folder to draw into, by the names that reports give it.
FOLDER = re.compile(r"^OUT(_DIR)?$")
# What the reader is to fill in.
PLACEHOLDER = re.compile(r"^(OVERLAY|FILE|[A-Z_]+)(\.yaml)?$|tcp://|\.\.\.")
# Flags with a file to write.
WRITTEN = ("--plot", "--trace")
QUICK = {
    "--rounds": "2", "--seeds": "1", "--pairs": "2", "--warm-up": "1", "--seconds": "5", "--draws": "1", "--steps": "20"
}
# Of trainings, which learn nothing in two.
QUICK_TRAINING_ROUNDS = "60"
LEAST_TRAINING_ROUNDS = 100
# Commands that have a --quick of their own.
HAVE_QUICK = (["sim-figures"], ["bench", "reducer", "--replay"])
QUICK_LIMIT_SECONDS = 120
# For a command that is asked to end: emulated WANs and their processes take some seconds.
END_SECONDS = 20


class Run(NamedTuple):
    command: List[str]
    seconds: float
    code: Optional[int]  # None: cut off
    output: str

    def outcome(self) -> str:
        return "cut off" if self.code is None else "done" if self.code == 0 else f"exit code {self.code}"


def commands_of(text: str) -> List[List[str]]:
    """Returns the commands that `text`, a report, quotes, each once, in their order. A report may name its network once
    and quote the rest of a command by its flags alone; those are no commands."""
    command = r"(?:(?:\./)?banyan|python3\s+examples/)"
    quoted = re.findall(rf"^(?:    )?({command}.*)$|`({command}[^`]*)`", text, re.MULTILINE)
    found: List[List[str]] = []
    for block, inline in quoted:
        words = shlex.split((block or inline).replace("\n", " "))
        words[0] = words[0].replace("banyan", "./banyan").replace("././", "./")
        is_figure = len(words) > 2 and (words[0] == "python3" or words[1] in FIGURES)
        if not is_figure or any(PLACEHOLDER.search(word) and not FOLDER.match(word) for word in words):
            continue
        if words not in found:
            found.append(words)
    return found


def adapted(words: List[str], folder: pathlib.Path, is_quick: bool) -> List[str]:
    """Returns the command with `folder` where it draws, and smaller where that is asked for."""
    made = [str(folder) if FOLDER.match(word) else word for word in words]
    for at, word in enumerate(made[:-1]):
        if is_quick and word in QUICK:
            trains = word == "--rounds" and int(made[at + 1]) >= LEAST_TRAINING_ROUNDS
            made[at + 1] = QUICK_TRAINING_ROUNDS if trains else QUICK[word]
        if word in WRITTEN:
            made[at + 1] = str(folder / made[at + 1])
    if is_quick and any(words[1:1 + len(each)] == each for each in HAVE_QUICK):
        made.append("--quick")
    return made


def run(words: List[str], limit_seconds: Optional[float]) -> Run:
    """Runs a command to its end. At the limit, and when this script is interrupted, it is asked to end what it has
    started, and killed with that when it does not."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(words, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        code: Optional[int] = None
        try:
            code = process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if code is None:
                end(process)
        output.seek(0)
        return Run(words, time.monotonic() - start, code, output.read())


def end(process: "subprocess.Popen[bytes]") -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(END_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def machine() -> str:
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    return f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors, {' '.join(os.uname()[0:3:2])}, commit {commit}"


def write(out: pathlib.Path, name: str, text: str, runs: List[Run]) -> None:
    parts = [text.rstrip(), "", "# What its commands print", "", machine(), ""]
    for each in runs:
        command = shlex.join(each.command)
        parts += [f"## `{command}`", "", f"{each.outcome()} after {each.seconds:.0f} s", "", "```", each.output.rstrip(), "```", ""]
    (out / f"{name}.md").write_text("\n".join(parts))


def main(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser(prog="banyan figures", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", type=pathlib.Path, help="the folder to write to")
    parser.add_argument("--quick", action="store_true", help="few rounds and seeds, and two minutes a command")
    parser.add_argument("--only", metavar="REPORT", action="append", help="this report, such as wan; may be repeated")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    options = parser.parse_args(arguments)
    names = sorted(path.stem for path in REPORTS.glob("*.md") if path.stem != "README")
    for name in options.only or []:
        if name not in names:
            parser.error(f"expected one of the reports {', '.join(names)} after --only, got {name}")
    failures = 0
    summary = ["| report | command | seconds | |", "|---|---|---:|---|"]
    for name in options.only or names:
        text = (REPORTS / f"{name}.md").read_text()
        runs = []
        for number, words in enumerate(commands_of(text), 1):
            command = adapted(words, (options.out / f"{name}-{number}").resolve(), options.quick)
            print(f"{name}: {shlex.join(command)}", flush=True)
            if options.list:
                continue
            options.out.mkdir(parents=True, exist_ok=True)
            if any(str(options.out.resolve()) in word for word in command):
                (options.out / f"{name}-{number}").mkdir(exist_ok=True)
            runs.append(run(command, QUICK_LIMIT_SECONDS if options.quick else None))
            print(f"  {runs[-1].outcome()} after {runs[-1].seconds:.0f} s", flush=True)
            failures += runs[-1].code not in (0, None)
            summary.append(f"| {name} | `{shlex.join(command)}` | {runs[-1].seconds:.0f} | {runs[-1].outcome()} |")
        if runs:
            write(options.out, name, text, runs)
    if not options.list:
        (options.out / "README.md").write_text("\n".join([f"# Figures: {machine()}", "", *summary, ""]))
        print(f"wrote {options.out}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
