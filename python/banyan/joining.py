"""How a training process comes to its job: through a node's socket, or with a node inside the process."""

from __future__ import annotations

import logging
import operator
import os
import threading
import time
import weakref
from ctypes import byref, c_void_p
from typing import Any, Callable, Optional

from ._library import Handle, NodeOptions, SessionOptions, last_error, library, sized
from ._ticket import Seconds, seconds_of
from .errors import InvalidArgument, make_error
from .session import LibrarySession, Session, call_interruptibly

_log = logging.getLogger("banyan")
_node_log = logging.getLogger("banyan.node")
_NOTICE_SECONDS = 10.0
_ROOM_SLICE = 0.2  # seconds that a call waits for room before it looks at signals
_MOST_WORKERS = 256  # of a node
_LEVELS = {"<3>": logging.ERROR, "<4>": logging.WARNING, "<6>": logging.INFO, "<7>": logging.DEBUG}

_nodes: "weakref.WeakSet[LocalNode]" = weakref.WeakSet()


def _free_session(handle: c_void_p) -> None:
    library().banyan_session_free(handle)


def _open(function: Callable[[Any], int], what: str) -> c_void_p:
    """Opens a session by `function`, saying now and then what is waited for; Ctrl-C ends the wait."""
    done = threading.Event()

    def tell() -> None:
        begun = time.monotonic()
        while not done.wait(_NOTICE_SECONDS):
            _log.warning("%s: waiting for %.0f s until it has joined its job", what, time.monotonic() - begun)

    def call() -> c_void_p:
        handle = c_void_p()
        code = function(byref(handle))
        if code != 0:
            raise make_error(code, last_error())
        return handle

    threading.Thread(target=tell, name="banyan join", daemon=True).start()
    try:
        return call_interruptibly(call, _free_session)
    finally:
        done.set()


def _log_lines(descriptor: int) -> None:
    """Gives a node's lines to `logging`, until its end."""
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            _node_log.log(_LEVELS.get(line[:3], logging.INFO), "%s", line[3:].rstrip("\n"))


class LocalNode:
    """A node inside this process, with sessions for its workers. Its log goes to the logger `banyan.node`.

    `name` is that of a node in the job's overlay.yaml, `scheduler` tcp://host:port. `listen` and `advertise` say where
    other nodes reach it; `worker_socket`, unix:/path, lets further processes of this machine be its workers. `key` is
    the file of its secret key, as `banyan keygen` makes it; by default NAME.key in ~/.config/banyan or /etc/banyan. Without
    one it listens on this machine alone, unless it is to be `insecure`.
    """

    def __init__(
        self, name: str, scheduler: str, *, job: Optional[str] = None, listen: Optional[str] = None,
        advertise: Optional[str] = None, worker_socket: Optional[str] = None, compute_threads: int = 1,
        key: Optional[str] = None, scheduler_key: Optional[str] = None, insecure: bool = False,
    ) -> None:
        self.name = name
        if key is None and not insecure:
            key = find_key(name)
        options = sized(
            NodeOptions, name=name, scheduler=scheduler, job=job, listen=listen, advertise=advertise,
            worker_socket=worker_socket, compute_threads=compute_threads, log_levels=1,
            key_file=key, scheduler_key=scheduler_key, insecure=int(insecure),
        )
        read, write = os.pipe()
        os.set_blocking(write, False)
        options.log_descriptor = write
        handle = c_void_p()
        code = library().banyan_node_start(byref(options), byref(handle))
        if code != 0:
            os.close(read)
            os.close(write)
            raise make_error(code, last_error(), node=name)
        self._handle: Optional[Handle] = Handle(handle, library().banyan_node_free)
        self._log_descriptor = write
        self._process = os.getpid()
        threading.Thread(target=_log_lines, args=(read,), name=f"banyan log of {name}", daemon=True).start()
        self.address: str = library().banyan_node_address(handle).decode()
        _nodes.add(self)

    def open_session(
        self, worker: int = 0, *, timeout: Optional[Seconds] = 60.0, room_timeout: Optional[Seconds] = None,
        on_close: Callable[[], None] = lambda: None,
    ) -> Session:
        """Attaches a worker of this process; waits until the node has joined its job."""
        if self._handle is None:
            raise InvalidArgument(f"node {self.name} has been stopped", node=self.name)
        options = sized(
            SessionOptions, worker=_worker(worker), open_seconds=_seconds(timeout), room_seconds=_ROOM_SLICE
        )
        node = self._handle
        handle = _open(
            lambda made: library().banyan_node_open_session(node.value, byref(options), made), f"node {self.name}"
        )
        return LibrarySession(handle, worker, room_timeout, on_close)

    def _open_only_session(self, worker: int, **options: Any) -> Session:
        """Attaches the one worker of this node, which ends with its session, and where that cannot be opened."""
        try:
            return self.open_session(worker, on_close=self.stop, **options)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Leaves the job. Raises why the node ended, where it was not asked to. May be called again."""
        handle, self._handle = self._handle, None
        if handle is None or os.getpid() != self._process:  # a forked child has no part in it
            return
        code = library().banyan_node_stop(handle.value)
        message = last_error() if code != 0 else ""
        os.close(self._log_descriptor)
        if code != 0:
            raise make_error(code, message, node=self.name)

    def __enter__(self) -> "LocalNode":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.stop()


def find_key(name: str) -> Optional[str]:
    """Returns the file of a node's secret key in ~/.config/banyan or /etc/banyan, where the command looks too."""
    for folder in os.path.expanduser("~/.config/banyan"), "/etc/banyan":
        path = os.path.join(folder, f"{name}.key")
        if os.path.exists(path):
            return path
    return None


def _seconds(timeout: Optional[Seconds]) -> float:
    """Returns a time as C takes it: below zero it is endless, and 0 would be the default."""
    seconds = seconds_of(timeout)
    return -1.0 if seconds is None else max(seconds, 1e-9)


def _worker(given: Any) -> int:
    """Reads the number of a worker."""
    try:
        number = int(given) if isinstance(given, str) else operator.index(given)
        if 0 <= number < _MOST_WORKERS:
            return number
    except (TypeError, ValueError):
        pass
    raise InvalidArgument(f"worker (worker= or LOCAL_RANK): expected a number from 0 to {_MOST_WORKERS - 1}, got {given!r}")


def join(
    node: Optional[str] = None, *, worker: Optional[int] = None, scheduler: Optional[str] = None,
    name: Optional[str] = None, job: Optional[str] = None, listen: Optional[str] = None,
    advertise: Optional[str] = None, worker_socket: Optional[str] = None, key: Optional[str] = None,
    insecure: bool = False, timeout: Optional[Seconds] = 600.0, room_timeout: Optional[Seconds] = None,
) -> Session:
    """Joins a job and returns the session of this training process.

    Through `node`, the worker socket of a node on this machine (unix:/path), or with a node inside this process, by its
    `name` in overlay.yaml and its `scheduler`. What is not given comes from the environment: BANYAN_NODE, or
    BANYAN_SCHEDULER, BANYAN_NAME, BANYAN_LISTEN, BANYAN_ADVERTISE, BANYAN_KEY; `worker` from LOCAL_RANK, else it is 0.

    Waits up to `timeout` seconds until the node has joined, endlessly with None; calls such as push wait for room up to `room_timeout`,
    endlessly by default. `banyan.solo()` gives a session without a job.
    """
    environment = os.environ.get
    chosen = _worker(environment("LOCAL_RANK") or 0) if worker is None else _worker(worker)
    node = node or (None if scheduler else environment("BANYAN_NODE"))
    if node:
        options = sized(
            SessionOptions, node=node, worker=chosen, open_seconds=_seconds(timeout), room_seconds=_ROOM_SLICE
        )
        handle = _open(lambda made: library().banyan_session_open(byref(options), made), f"the node at {node}")
        session: Session = LibrarySession(handle, chosen, room_timeout, lambda: None)
    else:
        scheduler, name = scheduler or environment("BANYAN_SCHEDULER"), name or environment("BANYAN_NAME")
        if not scheduler or not name:
            raise InvalidArgument(
                "join: expected a node's socket (node= or BANYAN_NODE, unix:/path), or a scheduler and this node's name "
                "(scheduler= and name=, or BANYAN_SCHEDULER and BANYAN_NAME); banyan.solo() works without a job"
            )
        local = LocalNode(
            name, scheduler, job=job, listen=listen or environment("BANYAN_LISTEN"),
            advertise=advertise or environment("BANYAN_ADVERTISE"), worker_socket=worker_socket,
            key=key or environment("BANYAN_KEY"), insecure=insecure,
        )
        session = local._open_only_session(chosen, timeout=timeout, room_timeout=room_timeout)
    _log.info("joined as worker %d of node %s, Banyan %s", chosen, session.node, library().banyan_version().decode())
    return session
