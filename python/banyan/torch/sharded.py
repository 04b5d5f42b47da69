"""Gradients of models whose processes hold a part of each parameter: FSDP, or cut by hand.

The processes of a site that hold one model are one worker of the job: the first of them has the session. It gathers
gradients from the others, sends them, and gives each its part of the result. So keys are whole parameters, as those of a
site that holds its model in one piece, and sites may cut theirs into different numbers of parts.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.distributed as dist

from ..errors import Error, InvalidArgument, Unavailable
from ..session import Session
from .._ticket import Ticket
from ._groups import Chooser, cut, warn_of_fixed_tensors, wire_name
from ._weight import Weight
from .attach import MIB, Attachment

Shapes = Mapping[str, Sequence[int]]


def shard_group_of(model: torch.nn.Module) -> Any:
    """Returns the group of processes that hold parts of this model as DTensors, as FSDP2 has them; None without such."""
    for name, each in model.named_parameters():
        mesh = getattr(each, "device_mesh", None)
        if mesh is None:
            continue
        if mesh.ndim != 1:
            raise InvalidArgument(f"{name}: expected a device mesh of one dimension, got {mesh.ndim}; give shard_group")
        return mesh.get_group()
    return None


class _Part(NamedTuple):
    """What one process holds of one parameter, as a row of numbers."""

    first: int
    count: int


class _Group:
    """Parameters that travel as one key. The first process has them whole, in the host's memory."""

    def __init__(self, key: str, names: List[str], sizes: List[int], dtype: torch.dtype, is_first: bool) -> None:
        self.key = key
        self.names = names
        self.dtype = dtype
        self.whole = [torch.zeros(size, dtype=dtype) for size in sizes] if is_first else []
        self.ticket: Optional[Ticket] = None


class ShardedAttachment(Attachment):
    """A model in parts whose gradients are the job's; made by `attach`. All processes of the group call all of it alike."""

    def __init__(
        self, job: Optional[Session], model: torch.nn.Module, shard_group: Any, *, key_mb: float = 4,
        name: str = "grad", weighted: bool = False, low_bit: Optional[Chooser] = None, shapes: Optional[Shapes] = None,
    ) -> None:
        self._group = shard_group
        self._rank = dist.get_rank(shard_group)
        self._first = 0 if shard_group is None else dist.get_global_rank(shard_group, 0)
        self._model = self._inner = model
        self._is_ddp = False
        self._name = name
        self._unhook = []
        self._step, self._largest_rate = 0, 0.0
        self._buffers_known = False
        self._by_name = {each: parameter for each, parameter in model.named_parameters() if parameter.requires_grad}
        self._shapes = {each: _shape_of(parameter, (shapes or {}).get(each)) for each, parameter in self._by_name.items()}
        self._parts = self._agree(job)
        if job is not None:
            self._job = job
        self._groups = self._cut(key_mb, low_bit)
        self.groups = {each.key: each.names for each in self._groups}
        self._low_bit = {
            each.key: self._by_name[each.names[0]]
            for each in self._groups if low_bit is not None and low_bit(each.names[0], self._by_name[each.names[0]])
        }
        self._begin()
        # In the order of attachments in one piece, as an init waits for all sites.
        self._weight = Weight(job, f"{name}-weight") if weighted and job is not None else None
        self._is_weighted = weighted
        if job is not None:
            warn_of_fixed_tensors(job, name, model, is_whole=False)

    # --- who holds what ---

    def _agree(self, job: Optional[Session]) -> Dict[str, List[_Part]]:
        """Returns each process's part of each parameter; raises in all processes alike."""
        counts = {each: _local(parameter).numel() for each, parameter in self._by_name.items()}
        said: List[Any] = [None] * dist.get_world_size(self._group)
        dist.all_gather_object(said, (job is not None, self._shapes, counts), group=self._group)
        if [has_job for has_job, _, _ in said] != [True] + [False] * (len(said) - 1):
            raise InvalidArgument("job: expected a session in the first process of the group, and None in the others")
        if not self._by_name:
            raise InvalidArgument("expected a model with parameters that are trained, got one without")
        if any(list(other) != list(counts) for _, _, other in said):
            raise InvalidArgument("expected the same parameters, in the same order, in all processes of the group")
        # A row of all, cut by hand: only together the processes know how long it is.
        for each, shape in self._shapes.items():
            if shape is None:
                self._shapes[each] = (sum(other[each] for _, _, other in said),)
        held = {each: [other[each] for _, _, other in said] for each in counts}
        return {each: _parts_of(each, math.prod(self._shape(each)), held[each]) for each in counts}

    def _shape(self, name: str) -> Tuple[int, ...]:
        shape = self._shapes[name]
        assert shape is not None
        return shape

    def _cut(self, key_mb: float, low_bit: Optional[Chooser]) -> List[_Group]:
        """Cuts whole parameters into groups, as `attach` cuts those of a model in one piece."""
        whole = [
            (each, torch.nn.Parameter(torch.empty(self._shape(each), dtype=parameter.dtype, device="meta")))
            for each, parameter in self._by_name.items() if math.prod(self._shape(each)) > 0
        ]
        groups = []
        for i, named in enumerate(cut(whole, key_mb * MIB, low_bit)):
            names = [each for each, _ in named]
            sizes = [each.numel() for _, each in named]
            groups.append(_Group(f"{self._name}/{i}", names, sizes, named[0][1].dtype, self._rank == 0))
        return groups

    def _begin(self) -> None:
        """Gives all parts the parameters of the lowest worker."""
        for group in self._groups:
            values = {each: _local(self._by_name[each]) for each in group.names}
            self._gather(group, values)
            error: Optional[Error] = None
            if self._rank == 0:
                wires = [wire_name(self._name, each, torch.empty(self._shape(each), device="meta")) for each in group.names]
                try:
                    self._job.init_group(group.key, dict(zip(wires, group.whole)))
                except Error as caught:
                    error = caught
            self._scatter(group, values, error)

    # --- every step ---

    def wait(self, timeout: Optional[float] = None) -> None:
        """Sends the gradients, and waits until they are those of the job; parameters without one take part with zeros.

        After an error in the first process the others raise Unavailable. The job cannot go on with this model then.
        """
        values: Dict[str, torch.Tensor] = {}
        for each, parameter in self._by_name.items():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            values[each] = _local(parameter.grad)
        sent = self._weight.send() if self._weight is not None else None
        for priority, group in enumerate(self._groups):
            self._gather(group, values)
            if self._rank == 0:
                if self._weight is not None:
                    self._weight.multiply(group.whole)
                group.ticket = self._job.push_pull_group(group.key, group.whole, priority=priority)
        for group in self._groups:
            self._scatter(group, values, self._finish(group, sent, timeout))

    def _finish(self, group: _Group, weight: Optional[Ticket], timeout: Optional[float]) -> Optional[Error]:
        if group.ticket is None:
            return None
        try:
            group.ticket.wait(timeout)
            if self._weight is not None and weight is not None:
                weight.wait(timeout)
                self._weight.divide(group.whole)
        except Error as error:
            return error
        return None

    def no_sync(self) -> Any:
        raise InvalidArgument("no_sync: nothing is sent before wait(), so accumulate as you like and call that once")

    @property
    def weight(self) -> float:
        """How much this site's gradients count among all. Only the first process's is used."""
        return 1.0 if self._weight is None else self._weight.value

    @weight.setter
    def weight(self, value: float) -> None:
        if not self._is_weighted:
            raise InvalidArgument("weight: expected attach(..., weighted=True), at all sites alike")
        if self._weight is not None:
            self._weight.value = value

    def report(self, loss: Any, **options: Any) -> None:
        """As of an attachment in one piece; what the first process says counts."""
        if self._rank == 0:
            super().report(loss, **options)

    def sync_buffers(self, timeout: Optional[float] = None) -> None:
        """As of an attachment in one piece; all processes of the group get what the first one has then."""
        if self._rank == 0:
            super().sync_buffers(timeout)
        for each in self._inner.buffers():
            dist.broadcast(each, src=self._first, group=self._group)

    def detach(self) -> None:
        """Nothing is hooked to the model."""

    # --- inside the site ---

    def _pieces(self, group: _Group) -> Iterator[Tuple[int, List[Tuple[str, _Part]]]]:
        """Yields what each process has of a group: its bytes and its parts, one after another."""
        for rank in range(dist.get_world_size(self._group)):
            parts = [(each, self._parts[each][rank]) for each in group.names]
            yield sum(part.count for _, part in parts) * _size_of(group.dtype), parts

    def _longest(self, group: _Group) -> int:
        """Returns the bytes of the longest piece, and room for a word."""
        return max(size for size, _ in self._pieces(group)) + _WORD

    @torch.no_grad()
    def _gather(self, group: _Group, values: Mapping[str, torch.Tensor]) -> None:
        """Makes `group.whole` of what the processes have. As bytes, which process groups take of all types."""
        own = [values[each].narrow(0, 0, self._parts[each][self._rank].count) for each in group.names]
        packed = torch.zeros(self._longest(group), dtype=torch.uint8, device=own[0].device)
        row = torch.cat(own).view(torch.uint8)
        packed[: row.numel()] = row
        pieces = [torch.empty_like(packed) for _ in self._pieces(group)] if self._rank == 0 else None
        dist.gather(packed, pieces, dst=self._first, group=self._group)
        for piece, (size, parts) in zip(pieces or [], self._pieces(group)):
            begin = 0
            numbers = piece[:size].view(group.dtype)
            for whole, (_, part) in zip(group.whole, parts):
                whole[part.first : part.first + part.count] = numbers[begin : begin + part.count]
                begin += part.count

    @torch.no_grad()
    def _scatter(self, group: _Group, values: Mapping[str, torch.Tensor], error: Optional[Error]) -> None:
        """Gives each process its part of `group.whole`, or the news of an error, which it raises."""
        own = [values[each].narrow(0, 0, self._parts[each][self._rank].count) for each in group.names]
        packed = torch.zeros(self._longest(group), dtype=torch.uint8, device=own[0].device)
        pieces = [torch.zeros_like(packed) for _ in self._pieces(group)] if self._rank == 0 else None
        for piece, (size, parts) in zip(pieces or [], self._pieces(group)):
            begin = 0
            numbers = piece[:size].view(group.dtype)
            for whole, (_, part) in zip(group.whole, parts):
                numbers[begin : begin + part.count] = whole[part.first : part.first + part.count]
                begin += part.count
            piece[-1] = 0 if error is None else 1
        dist.scatter(packed, pieces, src=self._first, group=self._group)
        if error is not None:
            raise error
        if packed[-1].item() != 0:
            raise Unavailable("the first process of this site has had an error, which it raises itself", key=group.key)
        row = packed[: sum(each.numel() for each in own) * _size_of(group.dtype)].view(group.dtype)
        for each, part in zip(own, row.split([each.numel() for each in own])):
            each.copy_(part)


_WORD = 8  # keeps numbers of all types aligned


def _size_of(dtype: torch.dtype) -> int:
    return torch.empty(0, dtype=dtype).element_size()


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """Returns what this process has of a tensor, as a row in the same memory."""
    local = tensor.detach()
    if hasattr(local, "to_local"):
        local = local.to_local()
    return local.view(-1)


def _shape_of(parameter: torch.nn.Parameter, given: Optional[Sequence[int]]) -> Optional[Tuple[int, ...]]:
    """Returns the shape of a whole parameter: as given, or as a DTensor or FSDP's flat parameter knows it."""
    if given is not None:
        return tuple(given)
    if hasattr(parameter, "device_mesh"):
        placement = parameter.placements[0]
        if not placement.is_shard(0):
            raise InvalidArgument(f"a DTensor: expected parts of its first dimension, got {placement}")
        return tuple(parameter.shape)
    flat = getattr(parameter, "_unpadded_unsharded_size", None)
    return None if flat is None else tuple(flat)


def _parts_of(name: str, size: int, counts: List[int]) -> List[_Part]:
    """Returns the parts of a row of `size` numbers of which processes hold these counts, in turn; padding comes last.

    >>> _parts_of("w", 5, [3, 3])
    [_Part(first=0, count=3), _Part(first=3, count=2)]
    """
    if sum(counts) < size:
        raise InvalidArgument(f"{name}: expected parts of {size} numbers in all, got {' + '.join(map(str, counts))}")
    parts, first = [], 0
    for count in counts:
        held = min(count, size - first)
        parts.append(_Part(first, held))
        first += held
    return parts
