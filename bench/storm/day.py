#!/usr/bin/env python3
"""Trains 100,000 rounds, about a day's, and looks for what grows: bench/storm/day.py BANYAN [ROUNDS].

Three sites train a small model on the loopback; one of them is killed each minute, falls out and comes back. Prints, at ten times on
the way, what the scheduler and a node that stays keep, as a Markdown table. All that it starts ends with it.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

PORT = 27790
OVERLAY = f"scheduler: {{http: '127.0.0.1:{PORT}'}}\nnodes:\n  - {{name: n1}}\n  - {{name: n2}}\n  - {{name: n3}}\n"
FAULTS = "faults:\n  - {every: 60s, fault: kill_node, sites: [n3]}\n"


def process_of(job, name):
    (path,) = glob.glob(f"{job}/processes/{name}-*.json")
    with open(path) as file:
        return json.load(file)["pid"]


def megabytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as smaps:
        return sum(int(line.split()[1]) for line in smaps if line.startswith("Pss:")) / 1024


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def kilobytes_below(folder):
    return sum(os.path.getsize(path) for path in glob.glob(f"{folder}/**", recursive=True) if os.path.isfile(path)) / 1024


def series():
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics") as metrics:
        return sum(1 for line in metrics if not line.startswith(b"#"))


def main():
    banyan, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [("overlay.yaml", OVERLAY), ("faults.yaml", FAULTS)]:
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        log = open(f"{folder}/log", "w+")
        demo = subprocess.Popen([banyan, "demo", "--overlay", f"{folder}/overlay.yaml", "--network", "loopback", "--rounds", str(rounds),
                                 "--hidden", "1", "--batch", "1", "--least-accuracy", "0", "--lost-after", "5"],
                                stdout=log, stderr=log)
        chaos = None
        try:
            while not (found := [job for job in glob.glob("/tmp/banyan-demo-*") if pid_of(job) == demo.pid]):
                time.sleep(0.2)
            job = found[0]
            chaos = subprocess.Popen([banyan, "chaos", job, "--schedule", f"{folder}/faults.yaml"], stdout=subprocess.PIPE, text=True)
            print("| rounds | epochs | scheduler: MB | descriptors | state kB | node: MB | descriptors | series |")
            print("|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
            shown = 0
            while demo.poll() is None and shown < 10:
                time.sleep(0.5)
                done = round_of(job)
                if done < rounds * (shown + 0.5) / 10:
                    continue
                shown += 1
                scheduler, node = process_of(job, "the-scheduler"), process_of(job, "node-n1")
                print(f"| {done:,} | {epochs(job)} | {megabytes(scheduler):.1f} | {descriptors(scheduler)} | {kilobytes_below(job + '/scheduler'):.0f} "
                      f"| {megabytes(node):.1f} | {descriptors(node)} | {series()} |", flush=True)
            demo.wait()
            print(chaos.communicate()[0].splitlines()[-1])
            log.seek(0)
            print(next(line for line in log.read().splitlines() if line.startswith("demo:")))
        finally:
            for process in (chaos, demo):
                if process is not None and process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait()


def pid_of(job):
    try:
        with open(f"{job}/job.json") as file:
            return json.load(file)["pid"]
    except (FileNotFoundError, ValueError):
        return None


def epochs(job):
    with open(f"{job}/scheduler.log") as log:
        return sum("epoch" in line and "goes on after" in line for line in log)


def round_of(job):
    try:
        with open(f"{job}/progress.jsonl", "rb") as file:
            file.seek(max(0, os.path.getsize(file.name) - 4096))
            rounds = re.findall(rb'"round":(\d+)', file.read())
            return int(rounds[-1]) if rounds else 0
    except FileNotFoundError:
        return 0


main()
