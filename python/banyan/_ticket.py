"""Operations under way."""

from __future__ import annotations

import asyncio
import datetime
import logging
import math
import threading
import time
from ctypes import c_void_p
from typing import Any, Callable, Generator, List, Optional, Union

from ._arrays import Values
from ._library import last_error, library
from .errors import Cancelled, Error, InvalidArgument, Timeout, make_error

_log = logging.getLogger("banyan")
Seconds = Union[float, datetime.timedelta]
_SLICE = 0.1  # seconds, between two looks at signals such as Ctrl-C
_ANSWER = 1.0  # seconds before a time-out, for the answer to the question who is awaited


def seconds_of(timeout: Optional[Seconds]) -> Optional[float]:
    """Returns a time-out in seconds.

    >>> seconds_of(datetime.timedelta(minutes=1))
    60.0
    """
    seconds = timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else timeout
    if seconds is not None and not -math.inf < seconds:
        raise InvalidArgument(f"timeout: expected seconds, a timedelta, or None, got {timeout}")
    return seconds


class Ticket:
    """One operation under way. Keeps its tensors alive until it is done, also where nobody keeps the ticket.

    >>> import banyan
    >>> from array import array
    >>> job = banyan.solo()
    >>> w = job.init("w", array("f", [0, 0]))
    >>> ticket = job.push_pull("w", array("f", [1, 2]))
    >>> list(ticket.wait(timeout=60))
    [1.0, 2.0]
    """

    def __init__(
        self, node: str, note: Callable[[Error], None], key: str, result: Any, results: List[Values]
    ) -> None:
        self.key = key
        self._node = node
        self._note = note  # hears of what the operation ended with
        self._result = result
        self._results = results
        self._handle: Optional[c_void_p] = None  # none: done already
        self._lock = threading.Lock()
        self._finished = False
        self._callbacks: Optional[List[Callable[["Ticket"], None]]] = []  # none once they have run
        self._code: Optional[int] = None  # of its end, once the session's thread has told it
        self._error: Optional[Error] = None  # of its end

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            library().banyan_ticket_release(handle)

    @property
    def round(self) -> int:
        """The round of its key that the operation belongs to; 0 where there is none.

        Counted by this session until the operation is done, and from then on by the job, which may have had rounds before.
        """
        return library().banyan_ticket_round(self._handle) if self._handle is not None else 0

    def done(self) -> bool:
        """Tells whether the operation is done."""
        return self._handle is None or bool(library().banyan_ticket_poll(self._handle, 0.0))

    is_completed = done  # as torch.distributed's Work has it

    def wait(self, timeout: Optional[Seconds] = None) -> Any:
        """Waits until the operation is done and returns its result. Ctrl-C ends the wait, not the operation.

        Raises Timeout after `timeout` seconds, naming node, key, round and who is awaited: the operation goes on, and
        may be waited for again. Raises what the operation ended with otherwise.
        """
        seconds = seconds_of(timeout)
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.done():
            left = _SLICE if deadline is None else deadline - time.monotonic()
            if deadline is not None and left <= _ANSWER:
                # The library asks who is awaited, and the error below says it.
                library().banyan_ticket_wait(self._handle, max(left, 0.0))
                return self._take(seconds)
            library().banyan_ticket_poll(self._handle, min(left, _SLICE))
        return self._take()

    def result(self) -> Any:
        """Returns the result of an operation that is done; raises as wait does, at once."""
        return self.wait(0)

    def exception(self, timeout: Optional[Seconds] = None) -> Optional[Error]:
        """Waits as wait does, and returns what the operation ended with, or None."""
        try:
            self.wait(timeout)
        except Error as error:
            if error is not self._error:  # not done in time
                raise
            return error
        return None

    def get_future(self) -> Any:
        """Returns a torch.futures.Future of the result."""
        from torch.futures import Future

        future: Any = Future()

        def end(_: "Ticket") -> None:
            error = self.exception(0)
            if error is None:
                future.set_result(self.result())
            else:
                future.set_exception(error)

        self.add_done_callback(end)
        return future

    def add_done_callback(self, callback: Callable[["Ticket"], None]) -> None:
        """Runs `callback` with this ticket when it is done, on a thread of the session's; what it raises is logged."""
        with self._lock:
            if self._callbacks is not None:
                self._callbacks.append(callback)
                return
        self._run(callback)

    def __await__(self) -> Generator[Any, None, Any]:
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def end() -> None:
            if not future.done():
                future.set_result(None)

        def tell(_: "Ticket") -> None:
            loop.call_soon_threadsafe(end)

        self.add_done_callback(tell)
        yield from future.__await__()
        return self._take()

    def _take(self, timeout: Optional[float] = None) -> Any:
        """Returns the result, or raises the error of now, which speaks of `timeout` where that has passed."""
        has_ended = self.done()  # before the code, which then is that of the end
        code = 0 if self._handle is None else library().banyan_ticket_wait(self._handle, 0.0)
        if code != 0:
            if has_ended:
                raise self._failure(code)
            message = last_error()
            if timeout is not None:
                message = message.replace("not done after 0;", f"not done after {timeout:g} s;", 1)
            raise make_error(code, message, node=self._node, key=self.key, round=self.round)
        self._finish()
        return self._result

    def _begin(self, handle: c_void_p) -> None:
        """Takes the handle of the operation, which may be done by now."""
        with self._lock:
            self._handle, code = handle, self._code
        if code:
            self._failure(code)

    def _failure(self, code: int) -> Error:
        """Returns what the operation ended with, of which `note` hears once."""
        with self._lock:
            if self._error is not None:
                return self._error
            library().banyan_ticket_wait(self._handle, 0.0)  # for its text
            error = make_error(code, last_error(), node=self._node, key=self.key, round=self.round)
            self._error = error
        # A call that found no room has not begun, and the session's own end is no fault.
        if not isinstance(error, (Timeout, Cancelled)):
            self._note(error)
        return error

    def _finish(self) -> None:
        """Copies results to where they are wanted, once."""
        with self._lock:
            if self._finished:
                return
            for values in self._results:
                if values.finish is not None:
                    values.finish()
            self._finished = True
            self._results = []  # which may be resized again

    def _on_done(self, code: int) -> None:
        """Ends the operation; on the session's thread."""
        with self._lock:
            self._code, has_handle = code, self._handle is not None
        try:
            if code == 0:
                self._finish()
            else:
                with self._lock:
                    self._results = []
                if has_handle:
                    self._failure(code)
        except Exception:  # a result that cannot be written ends no other operation
            _log.exception("the result of %s could not be copied", self.key)
        with self._lock:
            callbacks, self._callbacks = self._callbacks or [], None
        for callback in callbacks:
            self._run(callback)

    def _run(self, callback: Callable[["Ticket"], None]) -> None:
        try:
            callback(self)
        except Exception:
            _log.exception("a callback of %s raised", self.key or "an operation")
