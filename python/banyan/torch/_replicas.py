"""Whether all workers of a job have the same numbers, and whether any still has data: what travels beside their rounds."""

from __future__ import annotations

import contextlib
import logging
import math
import re
import zlib
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, NoReturn, Optional, Sequence, Tuple

import torch

from ..errors import Error, FailedPrecondition, Timeout
from ..session import Session
from .._ticket import Seconds, Ticket

_log = logging.getLogger("banyan")
_INIT_SECONDS = 120.0  # for the other workers, which have just called another init
_END_SECONDS = 10.0
_SLOTS = 61  # for sites that differ; two that share one are told as their number
_NAME_BYTES = 40
_WHOLE_NUMBERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by bytes
_WIDTHS = (1024, 1021)
ADDRESS = re.compile(" at 0x[0-9a-f]+")  # of functions and other objects
# How an optimizer computes, and not what.
_WAYS = {"params", "lr", "foreach", "fused", "capturable", "differentiable", "initial_lr"}


class Part(NamedTuple):
    """A part of what replicas have alike: its name, what to look at where it differs, and its bits as numbers."""

    name: str
    advice: str
    bits: List[Any]  # tensors, what `told_of` makes of them, and plain values; none where this site cannot tell
    value: Any = None  # a number that errors tell


class Replicas:
    """Compares what the workers of a job have alike. All of them make one, after another init, and call it alike; owned by
    what trains.

    A key of seven doubles says how many workers still have data, and the sums of a digest and of its square, of what
    replicas need alike, and of what they only should: where all digests are equal, and only there, the sums are those of
    one. So the work is a sum, exact, whatever the number of workers.

    >>> import banyan
    >>> replicas = Replicas(banyan.solo(), "check")
    >>> _ = replicas.send(True, [Part("w", "the seed", [torch.ones(2)])]).wait()
    >>> replicas.is_anybody_active, replicas.are_equal
    (True, True)
    """

    def __init__(self, job: Session, key: str) -> None:
        self._job = job
        self._key = key
        self._sums = torch.zeros(7, dtype=torch.float64)
        try:
            job.init(key, self._sums, timeout=_INIT_SECONDS)
        except Timeout as error:
            refuse_to_compare(str(error))

    def send(self, is_active: bool, parts: Iterable[Part] = (), beside: Iterable[Part] = ()) -> Ticket:
        """Sends whether this worker has data, and the digests of parts, in a round of the key; without parts none."""
        told = [float(is_active)]
        for each in parts, beside:
            digests = digests_of(each)
            digest = zlib.crc32(repr(digests).encode()) % 2**20 + 2**20
            count = int(any(digests))
            told += [count, count * digest, count * digest * digest]
        self._sums.copy_(torch.tensor(told, dtype=torch.float64))
        return self._job.push_pull(self._key, self._sums, out=self._sums)

    @property
    def is_anybody_active(self) -> bool:
        """Tells, after a round, whether any worker has data."""
        return self._sums[0].item() > 0

    @property
    def are_equal(self) -> bool:
        """Tells, after a round, whether all digests of parts in it were equal."""
        return self._is_one_digest(1)

    @property
    def are_equal_beside(self) -> bool:
        """Tells, after a round, whether all digests of what is beside were equal."""
        return self._is_one_digest(4)

    def _is_one_digest(self, at: int) -> bool:
        count, first, second = self._sums[at : at + 3].tolist()
        return abs(count * second - first * first) <= 1e-13 * first * first

    def explain(self, what: str, round: int, parts: List[Part], timeout: Optional[Seconds] = None) -> Optional[Error]:
        """Asks the sites which of them differ, after a round that was not equal, and returns what to raise, at all of them.

        Nothing where they only cannot all tell the same parts.
        """
        digests = digests_of(parts)
        values = torch.tensor([math.nan if part.value is None else float(part.value) for part in parts], dtype=torch.float64)
        name = list(f"{self._job.node}/{self._job.worker}".encode()[:_NAME_BYTES].ljust(_NAME_BYTES))
        own = torch.cat([torch.tensor([*name, *digests]), values.view(torch.int64)])
        lowest = self._job.init(f"{self._key}-parted/{round}", own, timeout=timeout)
        lowest_name, theirs, agreed = lowest.split([_NAME_BYTES, len(parts), len(parts)])
        differing = [i for i, (one, other) in enumerate(zip(digests, theirs.tolist())) if one != other and one and other]
        # One row for the number of workers that speak, which is 1 in a mean, and one for each slot of sites that differ.
        told = torch.zeros(_SLOTS + 1, _NAME_BYTES + 3, dtype=torch.float64)
        told[0, 0] = float(lowest_name.tolist() == name)
        if differing:
            row = [1, differing[0], values[differing[0]].nan_to_num().item(), *name]
            told[1 + zlib.crc32(bytes(name)) % _SLOTS] = torch.tensor(row, dtype=torch.float64)
        key = f"{self._key}-told/{round}"
        self._job.init(key, torch.zeros_like(told), timeout=timeout)
        self._job.push_pull(key, told, out=told).wait(timeout)
        with contextlib.suppress(Error):  # when this round is over all have the answer: who raises may end its program
            self._job.push_pull(key, torch.zeros_like(told)).wait(_END_SECONDS)
        rows = told[1:] / told[0, 0]
        rows = rows[rows[:, 0] > 0.5]
        if len(rows) == 0:
            _log.warning(
                "%s: replicas are compared no more, as not all sites tell the same: report(), watch() or a State of the optimizer "
                "at all of them, or at none", what,
            )
            return None
        counts, firsts = rows[:, :2].round().int().t().tolist()
        first = min((each for each, count in zip(firsts, counts) if count == 1), default=0)
        has_value = not values[first].isnan()
        sites = [
            f"{count} more" if count > 1 else _site_of(row[3:], row[2].item() if has_value and each == first else None)
            for count, each, row in zip(counts, firsts, rows)
        ]
        return FailedPrecondition(
            f"{what}: replicas have parted by round {round}: {', '.join(sites)} differ from "
            f"{_site_of(lowest_name, agreed.view(torch.float64)[first].item() if has_value else None)}, first in "
            f"{parts[first].name}. Look at {parts[first].advice}. Sites whose processors round differently part as well: "
            "check_every=0 (check=False of local updates), at all sites alike, leaves them to that"
        )


def refuse_to_compare(reason: str) -> NoReturn:
    """Raises where some site takes no part in comparing replicas."""
    raise FailedPrecondition(
        f"{reason}. Sites in C++ do not compare replicas, nor do those with check=False: give check=False to all local updates of "
        "this job"
    )


def is_due(round: int, every: int) -> bool:
    """Tells whether a round is compared: each `every`-th one, and the first few, where most differences begin.

    >>> [round for round in range(1, 30) if is_due(round, 10)]
    [1, 2, 4, 8, 10, 20]
    """
    return round > 0 and every > 0 and (round % every == 0 or (round < every and round & (round - 1) == 0))


def parts_of(
    named: List[Tuple[str, torch.Tensor]], optimizers: Iterable[torch.optim.Optimizer], settings: Sequence[Any] = (),
    *, state: Any = None, tell: Callable[[Any], Any] = lambda value: value,
) -> List[Part]:
    """Returns the parts of parameters and their optimizers: as many whether or not there are optimizers.

    `state` is the worker's `State`. `tell` returns what stands for a tensor, where that is a part of what is compared.

    >>> layer = torch.nn.Linear(2, 1, bias=False)
    >>> [part.name for part in parts_of(list(layer.named_parameters()), [torch.optim.SGD(layer.parameters(), lr=1)])][3:]
    ['the number of steps', "the optimizer's state of weight", 'weight']
    """
    told: List[Any] = [*settings]
    rates: List[Any] = []
    states: Dict[int, Dict[str, Any]] = {}
    for optimizer in optimizers:
        told.append(type(optimizer).__name__)
        states.update({id(parameter): state for parameter, state in optimizer.state.items()})
        for group in optimizer.param_groups:
            rates.append(float(group["lr"]))
            for name, value in sorted(group.items()):
                if name not in _WAYS:
                    told += [name, value.item() if isinstance(value, torch.Tensor) else ADDRESS.sub("", str(value))]
    begun = [] if state is None else [state.begun]
    here = f" (here {', '.join(map(str, settings))})" if settings else ""
    steps = [state["step"] for state in (states.get(id(each), {}) for _, each in named) if "step" in state]
    parts = [
        Part("the step of the State", "checkpoints: all sites begin from the same one", begun, *begun[:1]),
        Part("the learning rate", "schedules and what scales it: all sites need the same", rates, *rates[:1]),
        Part(f"settings{here}", "options of the optimizer, and of local updates: all sites need them alike", told),
        Part("the number of steps", "steps that one site alone took or left out: skip() counts them", steps, *steps[:1]),
    ]
    for name, each in named:
        state = states.get(id(each), {})
        bits = [bit for key in sorted(state) if key != "step" and state[key] is not None for bit in (key, tell(state[key]))]
        parts.append(Part(f"the optimizer's state of {name}", "steps that one site alone took or left out", bits))
    advice = "what one site alone does to parameters or gradients: a step, a clip, a load, a schedule"
    return parts + [Part(name, advice, [tell(each)]) for name, each in named]


@torch.no_grad()
def digests_of(parts: Iterable[Part]) -> List[int]:
    """Returns a number for each part, which tells its bits; tensors of a GPU are waited for once.

    >>> one, other = torch.zeros(3), torch.zeros(3)
    >>> digests_of([Part("w", "", [one, 0.1])]) == digests_of([Part("w", "", [other, 0.1])])
    True
    >>> other[1] = 1e-9
    >>> digests_of([Part("w", "", [one, 0.1])]) == digests_of([Part("w", "", [other, 0.1])])
    False
    """
    parts = list(parts)
    tensors = [each for part in parts for each in part.bits if isinstance(each, torch.Tensor)]
    sums: Dict[torch.device, List[torch.Tensor]] = {}
    for each in tensors:
        sums.setdefault(each.device, []).append(_sum_of_bits(each))
    read = {device: iter(torch.stack(each).tolist()) for device, each in sums.items()}
    return [
        0 if not part.bits else 1 + zlib.crc32(repr([
            _told(each, next(read[each.device])) if isinstance(each, torch.Tensor)
            else each if isinstance(each, (str, bool, int, float, tuple)) else None
            for each in part.bits
        ]).encode())
        for part in parts
    ]


@torch.no_grad()
def told_of(tensor: torch.Tensor) -> Tuple[Any, ...]:
    """Returns what stands for a tensor among the bits of a part.

    >>> one = torch.ones(2)
    >>> digests_of([Part("w", "", [one])]) == digests_of([Part("w", "", [told_of(one)])])
    True
    """
    return _told(tensor, int(_sum_of_bits(tensor)))


def _told(tensor: torch.Tensor, bits: int) -> Tuple[Any, ...]:
    return str(tensor.dtype), tuple(tensor.shape), bits


def _sum_of_bits(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a sum of a tensor's bits as whole numbers, modulo 2^64, in which their places count as well.

    A number's weight is by its place modulo two widths without a common divisor: two that change places go unseen where
    these are a multiple of both apart, of some millions.

    >>> _sum_of_bits(torch.tensor([1.0, 2.0])) == _sum_of_bits(torch.tensor([2.0, 1.0]))
    tensor(False)
    """
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.numel() == 0:
        return torch.zeros((), dtype=torch.int64, device=tensor.device)
    whole = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    flat = whole.detach().contiguous().view(-1)
    size = flat.element_size()
    if flat.numel() * size % 8 > 0:
        words = flat.view(_WHOLE_NUMBERS[size]).to(torch.int64)
    else:  # many times faster; numbers of eight bytes begin where these may lie
        words = (flat if flat.data_ptr() % 8 == 0 and flat.storage_offset() * size % 8 == 0 else flat.clone()).view(torch.int64)
    total = torch.zeros((), dtype=torch.int64, device=tensor.device)
    for width in _WIDTHS:
        rows = len(words) // width
        columns = words[: rows * width].view(rows, width).sum(0)
        columns[: len(words) - rows * width] += words[rows * width :]
        total = total * 31 + (columns * torch.arange(1, 2 * width, 2, device=tensor.device)).sum()
    return total


def _site_of(name: torch.Tensor, value: Optional[float] = None) -> str:
    node, _, worker = bytes(name.double().round().int().tolist()).decode(errors="replace").strip().rpartition("/")
    return (node if worker == "0" else f"{node} (worker {worker})") + ("" if value is None else f" ({value:.10g})")
