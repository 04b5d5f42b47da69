#!/usr/bin/env python3
"""Measures what many nodes of one job cost on this machine: bench/storm/many.py BANYAN NODES [LINKS].

Starts a scheduler and so many nodes without workers on the loopback, each with LINKS links (6 by default) of the overlay, and
prints one row of a Markdown table: the start, what a node and the scheduler cost at rest, the size of `status`, and how long it
takes until the others go on after a kill. All that it starts ends with it.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

PORT = 21000
REST_SECONDS = 20
SAMPLED = 16  # nodes of which memory and wake-ups are read


def overlay(nodes, links):
    steps = [1, 7, 31, 97, 257][: links // 2]
    pairs = {tuple(sorted((i, (i + step) % nodes))) for i in range(nodes) for step in steps}
    lines = ["job: many", f"scheduler: {{address: 'tcp://127.0.0.1:{PORT - 1}'}}", "nodes:"]
    lines += [f"  - {{name: n{i}, address: 'tcp://127.0.0.1:{PORT + i}'}}" for i in range(nodes)]
    lines += ["links:"] + [f"  - {{between: [n{a}, n{b}], mbps: 100}}" for a, b in sorted(pairs) if a != b]
    return "\n".join(lines) + "\n"


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wake_ups(pid):
    count = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/status") as status:
                count += sum(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt"))
        except FileNotFoundError:
            pass  # the thread has ended
    return count


def memory_kb(pid, key):
    with open(f"/proc/{pid}/smaps_rollup") as smaps:
        return sum(int(line.split()[1]) for line in smaps if line.startswith(key))


class Job:
    def __init__(self, banyan, nodes, links, folder):
        self.banyan, self.folder, self.begin = banyan, folder, time.monotonic()
        with open(f"{folder}/overlay.yaml", "w") as file:
            file.write(overlay(nodes, links))
        self.scheduler = self.start("scheduler", f"{folder}/overlay.yaml", "--forgetful", "--stay")
        address = f"tcp://127.0.0.1:{PORT - 1}"
        self.nodes = [
            self.start("node", "--name", f"n{i}", "--scheduler", address, "--listen", f"tcp://127.0.0.1:{PORT + i}",
                       "--worker-socket", f"unix:{folder}/n{i}", "--stay")
            for i in range(nodes)
        ]

    def start(self, *arguments):
        log = open(f"{self.folder}/{arguments[0]}.log", "ab")
        return subprocess.Popen([self.banyan, *arguments], stdout=log, stderr=log)

    def status(self):
        run = subprocess.run([self.banyan, "status", "--json", "--scheduler", f"tcp://127.0.0.1:{PORT - 1}", "--timeout", "30"],
                             capture_output=True, text=True)
        return (json.loads(run.stdout), len(run.stdout)) if run.returncode == 0 else (None, 0)

    def until(self, is_reached, seconds):
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            status, size = self.status()
            if status is not None and is_reached(status):
                return time.monotonic() - begin, size
            time.sleep(0.2)
        raise SystemExit(f"many.py: not reached in {seconds} s; the logs: {open(self.folder + '/scheduler.log').read()[-2000:]}")

    def end(self):
        for process in [*self.nodes, self.scheduler]:
            process.kill()
        for process in [*self.nodes, self.scheduler]:
            process.wait()


def measure(job):
    job.until(lambda status: status["state"] == "running" and status["policy"] > 0, 600)
    start = time.monotonic() - job.begin
    time.sleep(REST_SECONDS)
    sampled = job.nodes[:SAMPLED]
    scheduler = job.scheduler.pid
    before = [wake_ups(node.pid) for node in sampled], cpu_seconds(scheduler), sum(cpu_seconds(n.pid) for n in job.nodes)
    time.sleep(REST_SECONDS)
    wakes = sum(wake_ups(node.pid) for node in sampled) - sum(before[0])
    scheduler_cpu = cpu_seconds(scheduler) - before[1]
    nodes_cpu = sum(cpu_seconds(n.pid) for n in job.nodes) - before[2]
    pss = sum(memory_kb(node.pid, "Pss:") for node in sampled) / len(sampled)
    threads = len(os.listdir(f"/proc/{sampled[0].pid}/task"))
    descriptors = len(os.listdir(f"/proc/{sampled[0].pid}/fd"))
    dead = [i for i, node in enumerate(job.nodes) if node.poll() is not None]
    if dead:
        raise SystemExit(f"many.py: nodes {dead} have ended; the last log: {open(job.folder + '/node.log').read()[-2000:]}")
    size = job.status()[1]
    epoch = job.status()[0]["epoch"]
    job.nodes[len(job.nodes) // 2].send_signal(signal.SIGKILL)
    healed, _ = job.until(lambda status: status["epoch"] > epoch and status["change"] is None, 120)
    count = len(job.nodes)
    print("| nodes | start s | node: MB (PSS) | threads | descriptors | wake-ups/s | CPU ms/s | scheduler: MB (PSS) | CPU ms/s "
          "| status kB | healed s |")
    print("|" + "---:|" * 11)
    print(f"| {count} | {start:.1f} | {pss / 1e3:.1f} | {threads} | {descriptors} | {wakes / SAMPLED / REST_SECONDS:.1f} "
          f"| {nodes_cpu / count / REST_SECONDS * 1e3:.1f} | {memory_kb(scheduler, 'Pss:') / 1e3:.1f} "
          f"| {scheduler_cpu / REST_SECONDS * 1e3:.0f} | {size / 1e3:.0f} | {healed:.1f} |")


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory(prefix="banyan-many-") as folder:
        job = Job(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else 6, folder)
        try:
            measure(job)
        finally:
            job.end()


if __name__ == "__main__":
    main()
