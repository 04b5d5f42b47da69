"""Sessions: a worker's access to its job."""

from __future__ import annotations

import atexit
import ctypes
import logging
import operator
import sys
import threading
import time
import warnings
import weakref
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from . import _library
from ._arrays import (
    TYPES, Values, addresses_of, empty_like, fix_storage, is_torch, pinned, reduced, refuse_formless, refuse_masked,
    sizes_of, values_of
)
from ._library import CallOptions, Handle, Health, Members as _Members, last_error, library, sized
from ._ticket import Seconds, Ticket, seconds_of
from .errors import Cancelled, Error, FailedPrecondition, InvalidArgument, Timeout, make_error

_log = logging.getLogger("banyan")
_CLOSE_SECONDS = 5.0
_BATCH = 256
_WATCH_SECONDS = 1.0  # between two looks whether somebody still has the session
_MOST_STEPS = 2**63 - 1
_MOST_PRIORITY = 2**31 - 1
_LEAST_FRACTION = 1e-12  # of a learning rate: 0 means in banyan.h that nobody knows

_open_sessions: "weakref.WeakSet[Session]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # The interpreter keeps the exception by which a program ends; at a prompt, that of an earlier line.
    failed = getattr(sys, "last_value", None) is not None and not hasattr(sys, "ps1")
    for session in list(_open_sessions):
        try:
            session._end(_CLOSE_SECONDS, in_order=not failed)
        except Error as error:  # the others are closed all the same
            _log.warning("%s", error)


class Node(NamedTuple):
    """A node of a job, and how many workers overlay.yaml gives it."""

    name: str
    workers: int


class Members(NamedTuple):
    """The nodes of a job at one time, in the order of overlay.yaml, and this worker's place among all of theirs."""

    epoch: int  # rises with each change
    rank: int  # by node and worker
    world_size: int
    nodes: Tuple[Node, ...]

    def place_of(self, rank: int) -> str:
        """Names a worker.

        >>> members = Members(1, 0, 3, (Node("n1", 1), Node("n2", 2)))
        >>> members.place_of(0), members.place_of(2)
        ('n1', 'n2 (worker 1)')
        """
        for name, workers in self.nodes:
            if rank < workers:
                return name if workers == 1 else f"{name} (worker {rank})"
            rank -= workers
        return f"worker {rank} beyond all"


class Session:
    """A worker's access to its job; made by `banyan.join()` and `banyan.solo()`. Thread-safe.

    Tensors are torch tensors, numpy arrays, objects with `__dlpack__` (of JAX, for instance) and objects with the buffer
    protocol, of float32, float16, bfloat16, float64, int32 or int64; bool, int8, uint8 and int16 travel as int32. Those in
    the CPU's memory are read and written where they lie, and torch and numpy refuse to resize one that takes a result.
    Those that do not lie one number after another, and torch's on a GPU, are copied. A key's type is that of its init;
    float32, float16 and bfloat16 are converted to it. Halves are summed in float32 and rounded once; float64 and integers
    exactly, and integers wrap around. Where a job averages, integers are broadcast alone, or reduced as their init says.

    Results may be one's own tensor (`out=`), or a new one. Calls of one key take effect in their order, and workers of
    one node make the same ones. What a round's result is (mean, sum, parameters) is the job's `aggregation_op`.

    >>> import banyan
    >>> from array import array
    >>> with banyan.solo() as job:
    ...     weights = job.init("fc1.weight", array("f", [1, 2]))
    ...     gradient = job.all_reduce("fc1.weight", array("f", [0.5, 0.25]))
    >>> list(weights), list(gradient)
    ([1.0, 2.0], [0.5, 0.25])
    """

    node: str = ""
    worker: int = 0
    aggregation_op: str = "mean"  # what a round's result is: "mean", "sum", or an optimizer's name for parameters
    may_leave_out: bool = False  # rounds may be without other workers' gradients, each key's without others
    _late_after = 0  # the last round before this worker's inits, until it has said what it shares of the training state

    def __init__(self) -> None:
        self.error: Optional[Error] = None  # the last one that an operation ended with
        self.room_timeout: Optional[Seconds] = None
        self._types: Dict[str, int] = {}  # of keys, by name
        self._shapes: Dict[str, Tuple[int, ...]] = {}  # of keys that are no group
        # Of models. It keeps them: one that nobody keeps would send nothing, in silence.
        self._attachments: Set[Any] = set()
        self._at_end: List[Callable[[], None]] = []  # what tells of training that was not joint
        self._training_state: Any = None  # the banyan.torch.State of this worker
        self._replaced: Dict[int, Any] = {}  # by id of a parameter: what it was before it got the lowest worker's

    # --- members ---

    @property
    def members(self) -> Members:
        """The nodes of the job, and this worker's rank among all workers; waits until the job has started.

        Nodes that fall out, leave or come change it, and with it ranks. A worker that dies does not: another takes its place.
        """
        raise NotImplementedError

    @property
    def rank(self) -> int:
        """This worker's number among all of the job's, from 0."""
        return self.members.rank

    @property
    def world_size(self) -> int:
        """The number of workers in the job."""
        return self.members.world_size

    def on_members_change(self, callback: Callable[[Members], None]) -> None:
        """Runs `callback` with the new members whenever they have changed, on a thread of its own, until the session's end."""

    # --- keys ---

    def init(
        self, key: str, value: Any, *, out: Any = None, timeout: Optional[Seconds] = None, reduce: Optional[str] = None
    ) -> Any:
        """Makes a key known, once in each worker, and returns the values that all agree on: those of the lowest one.

        Who calls it when rounds of the key are over gets its own back, and takes part when it has the others' training
        state: `fetch_state`, or `banyan.torch.State`.
        They come in `out`, which may be `value` itself, or in a new tensor.

        With `reduce` a round's result is the "sum", "max", "min" or "product" of all workers' tensors, whatever the job's
        `aggregation_op` is: exact, and never compressed. Floating-point numbers travel as float64 then. True counts as 1.
        """
        values = self._of(key, value)
        if reduce is not None:
            values = _named(key, value, want=reduced(values.type, reduce))
        out = empty_like(value) if out is None else out
        agreed = _named(key, out, is_result=True, want=values.type)
        ticket = self._start("init", key, [values], [agreed], out)
        self._types[key] = values.type  # also where the wait is given up
        self._shapes[key] = _shape_of(value)
        return ticket.wait(timeout)

    def init_group(
        self, group: str, values: Mapping[str, Any], *, in_place: bool = True, timeout: Optional[Seconds] = None
    ) -> None:
        """Makes many tensors known at once, which travel as one from then on; each keeps its own name.

        All get the values of the lowest worker, unless `in_place` is false. A round goes out when all tensors of the
        group have been pushed: start all before you wait for one.
        """
        read = [_named(name, value) for name, value in values.items()]
        _check_types("group", group, read)
        written = [_named(name, value, is_result=True) for name, value in values.items()] if in_place else []
        ticket = self._start("init_group", group, read, written, None, names=list(values))
        self._types.update({name: read[0].type for name in (group, *values) if read})
        ticket.wait(timeout)
        self._late_after = max(self._late_after, ticket.round)

    # --- rounds ---

    def push(self, key: str, gradient: Any, *, priority: int = 0) -> Ticket:
        """Gives this worker's part of the key's next round. Done when the node has taken it."""
        return self._start("push", key, [self._of(key, gradient)], [], None, priority=priority)

    def pull(self, key: str, out: Any) -> Ticket:
        """Gets the result of the last round that this worker has pushed, or the values of init."""
        return self._start("pull", key, [], [self._of(key, out, is_result=True)], out)

    def push_pull(self, key: str, gradient: Any, *, out: Any = None, priority: int = 0) -> Ticket:
        """Does both. `out` may be `gradient` itself. Higher priorities go first where a link has a queue."""
        return self._exchange("push_pull", key, gradient, out, priority)

    def all_reduce(self, key: str, value: Any, *, timeout: Optional[Seconds] = None) -> Any:
        """Does a push_pull in place, waits for it and returns `value`."""
        return self.push_pull(key, value, out=value).wait(timeout)

    def push_pull_group(
        self, group: str, gradients: Sequence[Any], *, out: Optional[Sequence[Any]] = None, priority: int = 0
    ) -> Ticket:
        """Does push_pull for all tensors of a group, in the order of init_group; in place where `out` is left away."""
        out = gradients if out is None else out
        results = [self._of(group, each, is_result=True) for each in out]
        read = [self._of(group, each) for each in gradients]
        return self._start("push_pull_group", group, read, results, out, priority=priority)

    def flush(self, key: str, gradient: Any, *, out: Any = None) -> Ticket:
        """A push_pull that also brings what lossy encodings of earlier rounds have kept back; all workers call it."""
        return self._exchange("flush", key, gradient, out)

    def broadcast(self, key: str, value: Any, *, out: Any = None) -> Ticket:
        """A round whose result is the values of the lowest worker; in place where `out` is left away."""
        return self._exchange("broadcast", key, value, value if out is None else out)

    def register_weights(self, key: str, weights: Any) -> Ticket:
        """Tells the node the key's weights, for compressions that hold back gradients of small weights."""
        return self._start("register_weights", key, [self._of(key, weights)], [], None)

    def barrier(self, timeout: Optional[Seconds] = None) -> None:
        """Waits until every worker of every node has called it equally often."""
        self._start("barrier", "", [], [], None).wait(timeout)

    def report_loss(self, step: int, loss: float) -> None:
        """Tells the loss of a training step, for `banyan status`; does not wait."""
        self._start("report_loss", "", [], [], None, numbers=(_within("step", step, 0, _MOST_STEPS), float(loss)))

    def report_health(
        self, step: int, loss: float, *, progress: float = 0.0, learning_rate_fraction: float = 1.0,
        metric: Optional[float] = None,
    ) -> Ticket:
        """Tells how the training goes at a step, from 1; call it before the step's pushes, in every worker.

        Jobs with an operating profile decide on low-bit rounds by it (docs/precision.md). `progress` is the part of the
        run that is done, `learning_rate_fraction` is of the largest learning rate; of a `metric`, such as
        accuracy on a holdout set, larger is better, and the profile says what drop is too much (`most_metric_drop`).
        """
        health = sized(
            Health, step=_within("step", step, 0, _MOST_STEPS), loss=float(loss), progress=float(progress),
            learning_rate_fraction=max(float(learning_rate_fraction), _LEAST_FRACTION), metric=metric,
            has_metric=int(metric is not None),
        )
        return self._start("report_health", "", [], [], None, numbers=(byref(health),))

    # --- training state ---

    def share_state(self, parts: Mapping[str, Any]) -> None:
        """Names this worker's whole training state, once: memory that can be written, such as bytearrays and tensors.

        All workers name the same parts with the same sizes. `banyan.torch.State` does this for models and optimizers.
        Without parts it says that this worker needs nothing that others have, however late it comes.
        """
        raise NotImplementedError

    def pass_boundary(self, step: int, timeout: Optional[Seconds] = None) -> None:
        """Says that the parts hold the state after `step`. Waits while another worker fetches it."""
        raise NotImplementedError

    def boundary_is_held(self) -> bool:
        """Returns whether another worker waits for the state of this boundary.

        Where a state lies elsewhere, only then bring it into the parts, and call `pass_boundary`; else go on without either.
        """
        raise NotImplementedError

    def fetch_state(self, timeout: Optional[Seconds] = None) -> int:
        """Fills the parts with the others' state and returns its step. Raises NotFound when the job begins, and DataLoss
        when it has trained, and nobody is left who gives its state."""
        raise NotImplementedError

    # --- ends ---

    def check(self) -> None:
        """Raises the last error that an operation of this session ended with, whether or not somebody waited for it.

        What found no room in time has not begun, and what close() ends has not failed: neither counts.
        """
        if self.error is not None:
            raise self.error

    def close(self, timeout: Seconds = _CLOSE_SECONDS) -> None:
        """Says good-bye. Operations and calls that run end with Cancelled. May be called again, and by the interpreter's end.

        A program that ends by an exception, or leaves a `with` of the session by one, says none: it counts as one that
        died, and its node waits for another one in its place.

        Raises Timeout where a call of another thread has not returned after `timeout` seconds: call it again.
        """

    def __reduce__(self) -> Any:
        raise FailedPrecondition("a session cannot be copied or sent to another process; call banyan.join() there", node=self.node)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[type], *_: Any) -> None:
        self._end(_CLOSE_SECONDS, in_order=kind is None or issubclass(kind, SystemExit))

    def _end(self, timeout: float, *, in_order: bool) -> None:
        """Closes the session, or ends it as a process that dies."""
        self.close(timeout)

    def _note(self, error: Error) -> None:
        self.error = error

    def _of(self, key: str, value: Any, *, is_result: bool = False) -> Values:
        """Returns where numbers of a key are, in its type. Rows stand for all shapes."""
        values = _named(key, value, is_result=is_result, want=self._types.get(key))
        shape, wanted = _shape_of(value), self._shapes.get(key, ())
        if len(shape) > 1 and len(wanted) > 1 and shape != wanted:
            raise InvalidArgument(
                f"key {key}: expected the shape of its init, {wanted}, got {shape}, whose numbers are others' in another order; give "
                "the same, or a row", key=key,
            )
        return values

    def _exchange(self, kind: str, key: str, value: Any, out: Any, priority: int = 0) -> Ticket:
        """Starts what reads one tensor and writes one: `out`, or a new one."""
        read = self._of(key, value)
        out = empty_like(value) if out is None else out
        return self._start(kind, key, [read], [self._of(key, out, is_result=True)], out, priority=priority)

    def _start(
        self, kind: str, key: str, inputs: List[Values], results: List[Values], result: Any, *, priority: int = 0,
        names: Sequence[str] = (), numbers: Tuple[Any, ...] = (),
    ) -> Ticket:
        raise NotImplementedError


def _shape_of(value: Any) -> Tuple[int, ...]:
    """Returns the shape of an array, but for dimensions of one."""
    return tuple(size for size in map(int, getattr(value, "shape", ())) if size != 1)


def _named(key: str, value: Any, *, is_result: bool = False, want: Optional[int] = None) -> Values:
    """Returns where the numbers of `value` are; errors name the key."""
    try:
        return values_of(value, is_result=is_result, want=want)
    except InvalidArgument as error:
        raise InvalidArgument(f"key {key}: {error}", key=key) from None


def call_interruptibly(function: Callable[[], Any], undo: Callable[[Any], None]) -> Any:
    """Returns what a long call returns; Ctrl-C ends the wait, and what the call brings later is given to `undo`."""
    outcome: List[Any] = []
    abandoned = threading.Event()

    def run() -> None:
        try:
            outcome.append((True, function()))
        except BaseException as error:
            outcome.append((False, error))
        if abandoned.is_set() and outcome[0][0]:
            undo(outcome[0][1])

    thread = threading.Thread(target=run, name="banyan call", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    except BaseException:
        abandoned.set()
        raise
    succeeded, value = outcome[0]
    if not succeeded:
        raise value
    return value


class LibrarySession(Session):
    """A session of libbanyan.so."""

    def __init__(self, handle: c_void_p, worker: int, room_timeout: Optional[Seconds], on_close: Callable[[], None]) -> None:
        super().__init__()
        self._library = library()
        self._handle = Handle(handle, self._library.banyan_session_free)
        self._on_close = on_close
        self.worker = worker
        self.room_timeout = seconds_of(room_timeout)
        self.node = self._library.banyan_session_node_name(handle).decode()
        self.aggregation_op = self._library.banyan_session_aggregation_op(handle).decode()
        self.may_leave_out = bool(self._library.banyan_session_may_leave_out(handle))
        self._lock = threading.Lock()
        self._pending: Dict[int, Ticket] = {}
        self._next_tag = 0
        self._closed = False
        self._state: List[Any] = []
        thread = threading.Thread(
            target=_dispatch, args=(self._library, self._handle, self._pending),
            name=f"banyan worker {worker}", daemon=True,
        )
        self._thread = thread
        thread.start()
        _open_sessions.add(self)

    @property
    def members(self) -> Members:
        self._check_open()
        try:
            return self._members(0, 0.0)
        except Timeout:
            return call_interruptibly(lambda: self._members(0, -1.0), lambda _: None)

    def _members(self, after: int, seconds: float) -> Members:
        """Returns the members of a later epoch than `after`; raises Timeout after so many seconds, endless below zero."""
        told = sized(_Members)
        self._raise(self._library.banyan_session_members(self._handle.value, after, seconds, byref(told)))
        nodes = tuple(Node(told.names[i].decode(), told.workers[i]) for i in range(told.count))
        return Members(told.epoch, told.rank, told.world_size, nodes)

    def on_members_change(self, callback: Callable[[Members], None]) -> None:
        self._check_open()
        threading.Thread(
            target=_watch, args=(weakref.ref(self), callback), name=f"banyan members {self.worker}", daemon=True
        ).start()

    def fileno(self) -> int:
        """Returns a descriptor that is readable when the session is closed."""
        return self._library.banyan_session_fd(self._handle.value)

    def _start(
        self, kind: str, key: str, inputs: List[Values], results: List[Values], result: Any, *, priority: int = 0,
        names: Sequence[str] = (), numbers: Tuple[Any, ...] = (),
    ) -> Ticket:
        deadline = None if self.room_timeout is None else time.monotonic() + self.room_timeout
        while True:
            ticket = self._try(kind, key, inputs, results, result, priority, names, numbers)
            try:
                if ticket.done():
                    ticket._take()
                return ticket
            except Timeout as error:
                # There was no room yet, and nothing was started.
                if deadline is not None and time.monotonic() > deadline:
                    self._note(error)
                    raise

    def _try(
        self, kind: str, key: str, inputs: List[Values], results: List[Values], result: Any, priority: int,
        names: Sequence[str], numbers: Tuple[Any, ...],
    ) -> Ticket:
        priority = _within("priority", priority, -_MOST_PRIORITY - 1, _MOST_PRIORITY)
        _check_types("key", key, inputs + results)
        arguments = _arguments(kind, key, inputs, results, names, numbers)
        ticket = Ticket(self.node, self._note, key, result, results)
        with self._lock:
            if self._closed:
                raise Cancelled("the session is closed", node=self.node, key=key)
            self._next_tag += 1
            tag = self._next_tag
        self._pending[tag] = ticket  # before the start, as the end may come at once
        options = sized(CallOptions, priority=priority, tag=tag, type=_type_of(inputs or results))
        started = c_void_p()
        function = getattr(self._library, "banyan_" + kind)
        code = function(self._handle.value, *arguments, byref(options), byref(started))
        if code != 0:
            self._pending.pop(tag, None)
            raise make_error(code, last_error(), node=self.node, key=key)
        ticket._begin(started)
        return ticket

    def share_state(self, parts: Mapping[str, Any]) -> None:
        self._check_open()
        views = [_bytes_of(name, value) for name, value in parts.items()]
        names = (c_char_p * len(views))(*(_name_of(name) for name in parts))
        memory = (c_void_p * len(views))(*(address for address, _, _ in views))
        sizes = (c_size_t * len(views))(*(size for _, size, _ in views))
        self._raise(self._library.banyan_share_state(self._handle.value, len(views), names, memory, sizes))
        self._late_after = 0
        self._state = views  # in place until the session is closed

    def pass_boundary(self, step: int, timeout: Optional[Seconds] = None) -> None:
        self._check_open()
        seconds = _endless(timeout)
        step = _within("step", step, 0, _MOST_STEPS)
        self._call(lambda: self._raise(self._library.banyan_pass_boundary(self._handle.value, step, seconds)))

    def boundary_is_held(self) -> bool:
        self._check_open()
        is_held = c_int()
        self._raise(self._library.banyan_boundary_is_held(self._handle.value, byref(is_held)))
        return is_held.value != 0

    def fetch_state(self, timeout: Optional[Seconds] = None) -> int:
        self._check_open()
        step = c_uint64()
        seconds = _endless(timeout)
        self._call(lambda: self._raise(self._library.banyan_fetch_state(self._handle.value, seconds, byref(step))))
        return step.value

    def close(self, timeout: Seconds = _CLOSE_SECONDS) -> None:
        if threading.current_thread() is self._thread:  # in a callback, whose end closing waits for
            threading.Thread(target=self.close, args=(timeout,), name="banyan close", daemon=True).start()
            return
        self._end(seconds_of(timeout) or 0.0, in_order=True)

    def _end(self, timeout: float, *, in_order: bool) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for tell in self._at_end if in_order else []:
            tell()
        self._at_end.clear()
        end = self._library.banyan_session_close if in_order else self._library.banyan_session_abandon
        code = end(self._handle.value, timeout)
        if code != 0:
            self._closed = False
            raise make_error(code, last_error(), node=self.node)
        _open_sessions.discard(self)
        self._thread.join(timeout)
        try:
            self._on_close()
        except Error as error:  # what operations ended with says it as well
            _log.warning("%s", error)

    def __del__(self) -> None:
        if getattr(self, "_closed", True):
            return
        warnings.warn(f"a session with node {self.node} was not closed", ResourceWarning, source=self)
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise Cancelled("the session is closed", node=self.node)

    def _call(self, function: Callable[[], None]) -> None:
        call_interruptibly(function, lambda _: None)

    def _raise(self, code: int) -> None:
        if code != 0:
            raise make_error(code, last_error(), node=self.node)


def _watch(session: "weakref.ref[LibrarySession]", callback: Callable[[Members], None]) -> None:
    """Tells of changes of members, until the session is closed or nobody has it; on a thread of its own."""
    known: Optional[Members] = None
    while True:
        watched = session()
        if watched is None:
            return
        try:
            now = watched._members(known.epoch if known is not None else 0, _WATCH_SECONDS)
        except Timeout:
            continue
        except Error:  # the session has ended
            return
        finally:
            del watched
        if known is not None and now.nodes != known.nodes:
            try:
                callback(now)
            except Exception:
                _log.exception("a callback of changed members raised")
        known = now


def _endless(timeout: Optional[Seconds]) -> float:
    """Returns a time as C takes it: below zero it is endless."""
    seconds = seconds_of(timeout)
    return -1.0 if seconds is None else seconds


def _arguments(
    kind: str, key: str, inputs: List[Values], results: List[Values], names: Sequence[str], numbers: Tuple[Any, ...]
) -> List[Any]:
    """Returns what a function of banyan.h takes between its session and its options."""
    if kind == "barrier":
        return []
    if kind in ("report_loss", "report_health"):
        return list(numbers)
    read, written, name = addresses_of(inputs), addresses_of(results), _name_of(key)
    if kind == "init_group":
        parts = (c_char_p * len(names))(*(_name_of(each) for each in names))
        return [name, len(inputs), parts, read, written if results else None, sizes_of(inputs)]
    given = inputs or results
    if kind == "push_pull_group":
        _check_counts(key, inputs, results)
        return [name, len(given), read, written, sizes_of(given)]
    if inputs and results:
        _check_counts(key, inputs, results)
    each = [values.address or None for values in inputs + results]
    return [name, *each, given[0].count]


def _within(what: str, value: int, least: int, most: int) -> int:
    """Returns the number; ctypes would cut what is too large for the library."""
    try:
        number = operator.index(value)
        if least <= number <= most:
            return number
    except TypeError:
        pass
    raise InvalidArgument(f"expected a {what} from {least} to {most}, got {value!r}")


def _name_of(text: str) -> bytes:
    """Returns a name for C, where a zero byte would end it. What else a name must not have, the library says."""
    try:
        name = text.encode()
    except (AttributeError, UnicodeEncodeError):
        name = b"\0"
    if b"\0" in name:
        raise InvalidArgument(f"expected a name of printable ASCII characters, got {text!r}")
    return name


def _type_of(values: List[Values]) -> int:
    return values[0].type if values else 0


def _check_types(what: str, key: str, values: List[Values]) -> None:
    """Refuses tensors of several types in one call, whose type is told once: the sizes of results are by it."""
    types = sorted({TYPES[each.type] for each in values})
    if len(types) > 1:
        raise InvalidArgument(f"{what} {key}: expected tensors of one type, got {', '.join(types)}", key=key)


def _check_counts(key: str, inputs: List[Values], results: List[Values]) -> None:
    if [each.count for each in inputs] != [each.count for each in results]:
        raise make_error(
            3, f"key {key}: the result has room for {[each.count for each in results]} elements, and "
            f"{[each.count for each in inputs]} are pushed", key=key
        )


def _bytes_of(name: str, value: Any) -> Tuple[int, int, Any]:
    """Returns address, size and owner of memory that can be written, of any type."""
    try:
        refuse_masked(value)
        if is_torch(value):
            refuse_formless(value)
    except InvalidArgument as error:
        raise InvalidArgument(f"part {name} of the state: {error}") from None
    if is_torch(value):
        if not value.is_contiguous():
            raise InvalidArgument(f"part {name} of the state: expected a contiguous tensor, got one that is not")
        if value.device.type != "cpu":
            raise InvalidArgument(
                f"part {name} of the state: expected a tensor of the CPU, got one on {value.device}; give a copy"
            )
        flat = value.detach()
        fix_storage(flat)
        return flat.data_ptr(), flat.numel() * flat.element_size(), flat
    try:
        view = memoryview(value).cast("B")
        return ctypes.addressof((ctypes.c_char * view.nbytes).from_buffer(view)), view.nbytes, (view, pinned(value))
    except (TypeError, ValueError, BufferError) as error:
        raise InvalidArgument(
            f"part {name} of the state: expected memory that can be written, got {type(value).__name__}: {error}"
        ) from None


def _dispatch(loaded: Any, handle: Handle, pending: Dict[int, Ticket]) -> None:
    """Ends tickets as the library tells their ends, until the session is closed; on a thread of its own."""
    tags, codes, count = (c_uint64 * _BATCH)(), (c_int * _BATCH)(), c_size_t()
    while loaded.banyan_session_next(handle.value, -1.0, tags, codes, _BATCH, byref(count)) == 0:
        for i in range(count.value):
            ticket = pending.pop(tags[i], None)
            if ticket is not None:
                ticket._on_done(codes[i])
                del ticket
