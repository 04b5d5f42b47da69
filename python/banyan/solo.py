"""A job of one: everything is done at once, so that a script runs unchanged on one machine, and without the library."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._arrays import SIZES, Values
from ._ticket import Ticket
from .errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound
from .session import Session


class SoloSession(Session):
    """What `banyan.solo()` gives: a session whose rounds are its own gradients.

    >>> from array import array
    >>> job = SoloSession()
    >>> weights = job.init("w", array("f", [3]))
    >>> job.push("w", array("f", [4])).done()
    True
    >>> list(job.pull("w", array("f", [0])).wait())
    [4.0]
    """

    node = "solo"

    def __init__(self) -> None:
        super().__init__()
        self._values: Dict[str, bytes] = {}
        self._groups: Dict[str, List[str]] = {}

    def _start(
        self, kind: str, key: str, inputs: List[Values], results: List[Values], result: Any, *, priority: int = 0,
        names: Sequence[str] = (), numbers: Tuple[Any, ...] = (),
    ) -> Ticket:
        if kind not in ("barrier", "report_loss", "report_health"):
            self._apply(kind, key, inputs, results, names)
        ticket = Ticket(self, key, result, results)
        ticket._finish()
        ticket._on_done(0)
        return ticket

    def _apply(
        self, kind: str, key: str, inputs: List[Values], results: List[Values], names: Sequence[str]
    ) -> None:
        keys = list(names) if kind == "init_group" else self._groups.get(key, [key])
        if kind in ("init", "init_group"):
            for each in keys:
                if each in self._values:
                    raise AlreadyExists(f"key {each} was initialised before", node=self.node, key=each)
            self._groups[key] = keys
        for i, each in enumerate(keys):
            if each not in self._values and kind not in ("init", "init_group"):
                raise FailedPrecondition(f"key {each} has had no init; call it first", node=self.node, key=each)
            if inputs:
                self._set(each, inputs[i])
            if results:
                ctypes.memmove(results[i].address, self._values[each], SIZES[results[i].type] * results[i].count)

    def _set(self, key: str, values: Values) -> None:
        before = self._values.get(key)
        size = SIZES[values.type]
        if before is not None and len(before) != size * values.count:
            raise InvalidArgument(
                f"key {key}: expected {len(before) // size} elements as in its init, got {values.count}", key=key
            )
        self._values[key] = ctypes.string_at(values.address, size * values.count) if values.count else b""

    def share_state(self, parts: Mapping[str, Any]) -> None:
        pass

    def pass_boundary(self, step: int, timeout: Optional[float] = None) -> None:
        pass

    def boundary_is_held(self) -> bool:
        return False

    def fetch_state(self, timeout: Optional[float] = None) -> int:
        raise NotFound("a job of one has nobody to fetch a state from", node=self.node)


def solo() -> Session:
    """Returns a session of a job of one worker, for scripts on one machine and for tests."""
    return SoloSession()
