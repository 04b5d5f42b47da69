"""`banyan local` and `banyan run`: a training program at several sites, started and ended together."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["BANYAN_COMMAND"]

TRAINER = """
import array, os, sys, time
import banyan
session = banyan.join(timeout=60)
values = array.array("f", [float(os.environ.get("LOCAL_RANK", 0))] * 8)
session.init("w", values)
result = array.array("f", [0.0] * 8)
for step in range(int(sys.argv[1])):
    session.push_pull("w", array.array("f", [float(step)] * 8), out=result).wait(60)
    print("step", step, result[0])
    if sys.argv[2] == session.node: sys.exit(7)
    if sys.argv[2] == "stay": time.sleep(0.05)
session.close()
"""


def start(*arguments, steps, fails_at="nowhere"):
    return subprocess.Popen(
        [COMMAND, *arguments, "--", sys.executable, "-c", TRAINER, str(steps), fails_at],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )


def lines_of(output, process):
    return [line.split("] ", 1)[1] for line in output.splitlines() if line.startswith(f"[{process}] ")]


def free_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{taken.getsockname()[1]}"


class LocalTest(unittest.TestCase):
    def test_every_process_of_every_site_trains(self):
        process = start("local", "--sites", "2", "--workers", "2", steps=3)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, output)
        for name in "n1.0", "n1.1", "n2.0", "n2.1":
            self.assertEqual(lines_of(output, name), ["step 0 0.0", "step 1 1.0", "step 2 2.0"], output)

    def test_a_failure_ends_all_and_is_the_exit_code(self):
        process = start("local", "--sites", "3", steps=10**9, fails_at="n2")
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 7, output)
        self.assertIn("banyan: n2 ended with exit code 7", output)

    def test_a_program_that_is_not_there_is_named(self):
        done = subprocess.run([COMMAND, "local", "--", "no-such-program"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-program", done.stdout)

    def test_the_program_must_be_given(self):
        done = subprocess.run([COMMAND, "local", "--sites", "2"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected -- and a program", done.stderr)

    def test_ctrl_c_ends_all_and_leaves_nothing(self):
        process = start("local", "--sites", "2", steps=10**9, fails_at="stay")
        head = ""
        while "[n2] step 3" not in head:
            line = process.stdout.readline()
            self.assertTrue(line, head)
            head += line
        folder = pathlib.Path(re.search(r"--key (\S+)/observer.key", head).group(1))
        self.assertTrue(folder.exists())
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, output)
        self.assertIn("KeyboardInterrupt", output)
        self.assertFalse(folder.exists())


class RunTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        self.scheduler = free_address()
        nodes = "".join(f"  - {{name: {name}, address: '{free_address()}'}}\n" for name in ("a", "b"))
        (self.folder / "job.yaml").write_text(f"job: two\nscheduler: {{address: '{self.scheduler}'}}\nnodes:\n{nodes}")
        subprocess.run([COMMAND, "keygen", "--all", "job.yaml", "keys"], cwd=self.folder, check=True,
                       capture_output=True)
        self.overlay = str(self.folder / "keys" / "overlay.yaml")

    def test_two_sites_train_with_the_keys_beside_the_overlay(self):
        scheduler = subprocess.Popen(
            [COMMAND, "scheduler", self.overlay, "--state-dir", str(self.folder / "state")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            sites = {name: start("run", self.overlay, "--name", name, steps=3) for name in ("a", "b")}
            for name, process in sites.items():
                output, _ = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, output)
                self.assertEqual(lines_of(output, name), ["step 0 0.0", "step 1 1.0", "step 2 2.0"], output)
        finally:
            scheduler.terminate()
            scheduler.wait(timeout=60)

    def test_a_name_that_the_overlay_lacks_is_told_with_those_it_has(self):
        done = subprocess.run([COMMAND, "run", self.overlay, "--name", "c", "--", "true"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn("(a, b), got 'c'", done.stderr)

    def test_a_node_that_cannot_start_ends_the_training(self):
        (self.folder / "keys" / "a.key").write_text("no key\n")
        done = subprocess.run([COMMAND, "run", self.overlay, "--name", "a", "--", "sleep", "600"],
                              capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("banyan: a node ended with", done.stdout)


if __name__ == "__main__":
    unittest.main()
