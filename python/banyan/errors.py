"""What Banyan's calls raise: one tree under Error, by kind, with the node, the key and the round that it was about."""

from __future__ import annotations

from typing import Optional


class Error(RuntimeError):
    """Something that Banyan could not do; its text says what was expected, what came, and what to do.

    `code` is a number of enum banyan_code of banyan.h. `node`, `key` and `round` tell what it was about; empty and 0
    where it was about no such thing. `awaited` tells who is waited for, after a time-out.
    """

    code = 2

    def __init__(
        self, message: str, *, code: Optional[int] = None, node: str = "", key: str = "", round: int = 0
    ) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.node = node
        self.key = key
        self.round = round
        self.awaited = message.partition("; it goes on: ")[2]


class Cancelled(Error):
    """The session was closed before the operation was done."""

    code = 1


class InvalidArgument(Error, ValueError):
    """A wrong value, such as another size than that of the key's initialisation."""

    code = 3


class Timeout(Error, TimeoutError):
    """Not done in time; the operation goes on, and may be waited for again."""

    code = 4


class NotFound(Error, LookupError):
    """There is nothing of this kind, such as a training state to fetch."""

    code = 5


class AlreadyExists(Error):
    """The key has been made known before."""

    code = 6


class FailedPrecondition(Error):
    """Not now or not here: before the key's initialisation, or in a forked child."""

    code = 9


class Unavailable(Error, ConnectionError):
    """The node, or the job, is gone or cannot be reached."""

    code = 14


class DataLoss(Error):
    """What the job had is gone, such as the training state of all that had it."""

    code = 15


# The same by names that end as those of other packages do.
CancelledError, InvalidArgumentError, TimeoutError, NotFoundError = Cancelled, InvalidArgument, Timeout, NotFound
AlreadyExistsError, FailedPreconditionError = AlreadyExists, FailedPrecondition
UnavailableError, DataLossError = Unavailable, DataLoss

_BY_CODE = {
    kind.code: kind
    for kind in (
        Cancelled, InvalidArgument, Timeout, NotFound, AlreadyExists, FailedPrecondition, Unavailable, DataLoss
    )
}


def make_error(code: int, message: str, *, node: str = "", key: str = "", round: int = 0) -> Error:
    """Makes the error of a code of banyan.h.

    >>> make_error(4, "key w, round 3: not done after 1s; it goes on: node n2 has not pushed", key="w").awaited
    'node n2 has not pushed'
    """
    return _BY_CODE.get(code, Error)(message, code=code, node=node, key=key, round=round)
