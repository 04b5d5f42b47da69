"""Trains by all methods of train.py with several seeds; prints a table, and draws losses over steps and over bytes.

    python3 compare.py --steps 600 --seeds 3 --plot losses.svg

What follows `--` goes to train.py in all runs that have several sites, such as `-- --sync-every 40`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

_METHODS = {
    "single": ["--mode", "single"],
    "alone": ["--mode", "alone"],
    "alone, 2 workers": ["--mode", "alone", "--workers", "2"],
    "ddp": ["--mode", "ddp"],
    "diloco": ["--mode", "diloco"],
    "diloco int4": ["--mode", "diloco", "--codec", "int4"],
    "streaming": ["--mode", "streaming"],
    "streaming int4": ["--mode", "streaming", "--codec", "int4"],
    "hfa, 2 workers": ["--mode", "hfa", "--workers", "2"],
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--every", type=int, default=50, help="steps between two points of the plot")
    parser.add_argument("--methods", default=";".join(_METHODS), help="which ones, with semicolons between them")
    parser.add_argument("--plot", metavar="FILE.svg", help="draw the losses (needs gnuplot)")
    parser.add_argument("further", nargs="*", help="flags of train.py, behind --")
    options = parser.parse_args()
    options.methods = options.methods.split(";")
    for each in options.methods:
        if each not in _METHODS:
            parser.error(f"--methods: expected some of {'; '.join(_METHODS)}, got {each}")
    if options.steps < 1 or options.seeds < 1 or options.every < 1:
        parser.error("expected at least one step, one seed and one step between points")
    return options


def run(options, method, seed):
    """Returns what train.py prints."""
    command = [
        sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "train.py"), *_METHODS[method],
        "--sites", str(options.sites), "--steps", str(options.steps), "--every", str(options.every), "--seed", str(seed),
    ]
    if _METHODS[method][1] not in ("single", "alone"):
        command += options.further
    print(" ".join(command[2:]), file=sys.stderr, flush=True)
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def row(options, method, runs, reference):
    """Returns a method's row; its last number is how many times as many bytes the reference has sent."""
    last = [each["validation"][str(options.steps)] for each in runs]
    cells = [f"`{method}`", ", ".join(f"{loss:.3f}" for loss in last), f"{statistics.mean(last):.3f}"]
    if runs[0]["bytes"] > 0:
        sent = statistics.mean(each["bytes"] for each in runs) / options.sites
        cells.append(f"{sent / 1e6:.2f}")
        cells.append("" if reference is None else f"{reference / sent:.0f}")
    else:
        cells += ["0", ""]
    return f"| {' | '.join(cells)} |"


def draw(options, found):
    """Draws the mean losses of all seeds, over steps and over the bytes that a site has sent until then."""
    panels = []
    for title, what in (("steps", 1), ("MB that a site has sent", 2)):
        lines, data = [], []
        for method, runs in found.items():
            sent = statistics.mean(each["bytes"] for each in runs) / options.sites / 1e6
            if what == 2 and sent == 0:
                continue
            kind = list(_METHODS).index(method) + 1  # the same colour in both
            lines.append(f"'-' using {what}:3 with linespoints linetype {kind} pointsize 0.4 title '{method}'")
            for step in runs[0]["validation"]:
                loss = statistics.mean(each["validation"][step] for each in runs)
                data.append(f"{step} {sent * int(step) / options.steps} {loss}")
            data.append("e")
        scale = "set logscale x\nset key left bottom\n" if what == 2 else ""
        panels.append(f"{scale}set xlabel '{title}'\nplot {', '.join(lines)}\n" + "\n".join(data) + "\n")
    script = (
        f"set terminal svg size 1100,420 background 'white'\nset output '{options.plot}'\nset multiplot layout 1,2\n"
        "set ylabel 'validation loss, nats per character'\nset grid\nset key noenhanced\n" + "".join(panels)
    )
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    options = parse()
    found = {method: [run(options, method, seed) for seed in range(options.seeds)] for method in options.methods}
    reference = None
    if "ddp" in found:
        reference = statistics.mean(each["bytes"] for each in found["ddp"]) / options.sites
    print(f"| method | validation loss after {options.steps} steps, seed by seed | mean | MB a site | ddp sends, times |")
    print("|---|---|---|---|---|")
    for method, runs in found.items():
        print(row(options, method, runs, reference))
    if options.plot:
        draw(options, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
