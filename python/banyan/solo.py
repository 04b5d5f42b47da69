"""A job of one: everything is done at once, so that a script runs unchanged on one machine, and without the library."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._arrays import SIZES, Values
from ._ticket import Seconds, Ticket
from .errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound
from .session import Members, Node, Session


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
        ticket = Ticket(self.node, self._note, key, result, results)
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
        self._check(kind, key, keys, inputs, results)
        if kind == "init_group":
            self._groups[key] = keys
        for i, each in enumerate(keys):
            if inputs and kind != "register_weights":
                size = SIZES[inputs[i].type] * inputs[i].count
                self._values[each] = ctypes.string_at(inputs[i].address, size) if size else b""
            if results:
                ctypes.memmove(results[i].address, self._values[each], len(self._values[each]))

    def _check(self, kind: str, key: str, keys: List[str], inputs: List[Values], results: List[Values]) -> None:
        """Raises unless there is a tensor for each of `keys`, of its size: before anything is read or written."""
        for given in filter(None, (inputs, results)):
            if len(given) != len(keys):
                raise InvalidArgument(
                    f"group {key}: expected {len(keys)} tensors as in its init, got {len(given)}", key=key
                )
            for i, each in enumerate(keys):
                size = SIZES[given[i].type]
                if kind in ("init", "init_group"):
                    wanted = SIZES[inputs[i].type] * inputs[i].count
                elif each in self._values:
                    wanted = len(self._values[each])
                else:
                    raise FailedPrecondition(f"key {each} has had no init; call it first", node=self.node, key=each)
                if wanted != size * given[i].count:
                    raise InvalidArgument(
                        f"key {each}: expected {wanted // size} elements as in its init, got {given[i].count}", key=each
                    )

    @property
    def members(self) -> Members:
        return Members(1, 0, 1, (Node(self.node, 1),))

    def share_state(self, parts: Mapping[str, Any]) -> None:
        pass

    def pass_boundary(self, step: int, timeout: Optional[Seconds] = None) -> None:
        pass

    def boundary_is_held(self) -> bool:
        return False

    def fetch_state(self, timeout: Optional[Seconds] = None) -> int:
        raise NotFound("a job of one has nobody to fetch a state from", node=self.node)


def solo() -> Session:
    """Returns a session of a job of one worker, for scripts on one machine and for tests."""
    return SoloSession()
