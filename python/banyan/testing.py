"""A job on this machine, for tests, notebooks and first steps: a scheduler, with nodes that the caller starts."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from typing import Any, Optional

from .errors import InvalidArgument, NotFound
from .joining import LocalNode
from .session import Session


def find_command() -> str:
    """Returns the path of the command `banyan`: BANYAN_COMMAND, or what the shell would find."""
    path = os.environ.get("BANYAN_COMMAND") or shutil.which("banyan")
    if not path:
        raise NotFound("expected the command banyan in PATH, or in BANYAN_COMMAND; `./banyan install` installs it")
    return path


def free_port() -> int:
    """Returns a port of the loopback interface that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


_START_SECONDS = 10.0


def _environment() -> "dict[str, str]":
    """Returns that of the scheduler, which gets all by flags."""
    return {**os.environ, "BANYAN_NO_VARIABLES": "1"}


# Runs a scheduler, "$@", as long as somebody holds the other end of the standard input; then the folder goes too.
_GUARD = """
folder=$1
shift
"$@" </dev/null &
scheduler=$!
cat >/dev/null
kill "$scheduler" 2>/dev/null
wait "$scheduler"
rm -rf -- "$folder"
"""


def _check(overlay: str) -> None:
    """Raises InvalidArgument where the scheduler would refuse its overlay: nodes would wait for it in vain."""
    checked = subprocess.run(
        [find_command(), "scheduler", overlay, "--check", "--forgetful"], capture_output=True, text=True, env=_environment()
    )
    if checked.returncode != 0:
        shutil.rmtree(os.path.dirname(overlay), ignore_errors=True)
        raise InvalidArgument(checked.stderr.strip())


class LocalJob:
    """A job whose scheduler runs as a child process, on loopback. Its nodes are called n1, n2 and so on.

    The scheduler ends with this process, however that ends.

    with LocalJob(nodes=2) as job:
        session = job.join("n1")  # another process or thread joins "n2"

    `more` is added to the job's overlay.yaml: sections such as "aggregation: {op: sum}", one a line.
    """

    def __init__(self, nodes: int = 2, *, workers: int = 1, more: str = "", port: Optional[int] = None) -> None:
        self.names = [f"n{i + 1}" for i in range(nodes)]
        self.scheduler = f"tcp://127.0.0.1:{port or free_port()}"
        self._folder = tempfile.mkdtemp(prefix="banyan-job-")
        overlay = os.path.join(self._folder, "overlay.yaml")
        listed = ", ".join(
            f"{{name: {name}, address: 'tcp://127.0.0.1:{i + 1}', workers: {workers}}}"
            for i, name in enumerate(self.names)
        )
        with open(overlay, "w", encoding="utf-8") as file:
            file.write(f"job: local\nscheduler: {{address: '{self.scheduler}'}}\nnodes: [{listed}]\n{more}\n")
        _check(overlay)
        bound = os.path.join(self._folder, "bound")
        self._log = open(os.path.join(self._folder, "scheduler.log"), "w+", encoding="utf-8")
        self._process: Optional[subprocess.Popen[Any]] = subprocess.Popen(
            ["sh", "-c", _GUARD, "sh", self._folder, find_command(), "scheduler", overlay, "--forgetful", "--port-file",
             bound],
            stdin=subprocess.PIPE, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True,
            env=_environment(),
        )
        # Nodes that come before it is there would warn of it.
        deadline = time.monotonic() + _START_SECONDS
        while not os.path.exists(bound) and time.monotonic() < deadline:
            time.sleep(0.01)

    @property
    def log(self) -> str:
        """What the scheduler has said so far."""
        with open(self._log.name, encoding="utf-8") as file:
            return file.read()

    def join(self, name: str, *, worker: int = 0, timeout: float = 300.0, **options: Any) -> Session:
        """Joins with a node inside this process."""
        return LocalNode(name, self.scheduler, **options)._open_only_session(worker, timeout=timeout)

    def close(self) -> None:
        """Ends the scheduler. May be called again."""
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "LocalJob":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()
