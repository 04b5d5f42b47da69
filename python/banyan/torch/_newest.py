"""Which worker has the newest state when a job begins, and how the others get it."""

from __future__ import annotations

import logging
from typing import Any, Mapping, Optional

import torch

from ..errors import FailedPrecondition
from ..session import Session
from .._ticket import Seconds

_log = logging.getLogger("banyan")
_KEY = "state-newest"
_WORDS = 1 << 20  # of four bytes, that travel at once
_LEAST = -(2**62)


def take_newest(
    job: Session, step: int, digest: int, parts: Mapping[str, Any], timeout: Optional[Seconds] = None
) -> bool:
    """Fills `parts` with those of the worker whose state is of the latest step; returns whether that is another's.

    All workers call it when the job begins, with parts of the same names and sizes. Those that have the latest step must
    have the same digest: else all raise FailedPrecondition, which says who has what.
    """
    held = torch.zeros(3, dtype=torch.int64)
    job.init(_KEY, held, reduce="max", timeout=timeout)

    def greatest(*values: int) -> Any:
        held.copy_(torch.tensor(values))
        return job.all_reduce(_KEY, held, timeout=timeout).tolist()

    members = job.members
    newest, oldest, _ = greatest(step, -step, 0)
    is_newest = step == newest
    most, least, first = greatest(*((digest, -digest, -members.rank) if is_newest else (_LEAST, _LEAST, _LEAST)))
    if most != -least:
        one, other, _ = greatest(*(members.rank if is_newest and digest == each else _LEAST for each in (most, -least)), 0)
        raise FailedPrecondition(
            f"State: {members.place_of(one)} and {members.place_of(other)} have different states of step {newest}"
            + (f", and others have older ones, of step {-oldest} and later" if -oldest < newest else "")
            + f"; here it is one of step {step}. Give all sites the same checkpoint, or one of them a newer one"
        )
    if -oldest == newest:
        return False
    giver = -first
    _log.warning(
        "State: sites begin with steps from %d to %d, here %d; all take the state of step %d, of %s", -oldest, newest, step,
        newest, members.place_of(giver),
    )
    words = torch.zeros(_WORDS, dtype=torch.int32)
    job.init(f"{_KEY}-bits", words, reduce="sum", timeout=timeout)
    room = words.view(torch.uint8)
    for part in parts.values():
        bits = part.view(-1).view(torch.uint8) if isinstance(part, torch.Tensor) else torch.frombuffer(part, dtype=torch.uint8)
        for piece in bits.split(_WORDS * 4):
            words.zero_()
            if members.rank == giver:
                room[: len(piece)] = piece
            job.all_reduce(f"{_KEY}-bits", words, timeout=timeout)
            piece.copy_(room[: len(piece)])
    return not is_newest
