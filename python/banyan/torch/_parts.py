"""The processes of a site that hold one model in parts: who holds what, and how the first of them has it whole."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.distributed as dist

from ..errors import Error, InvalidArgument, Unavailable
from ..session import Session

Shapes = Mapping[str, Sequence[int]]
_WORD = 8  # keeps numbers of all types aligned


class Part(NamedTuple):
    """What one process holds of one tensor, as a row of numbers."""

    first: int
    count: int


def parts_of(name: str, size: int, counts: List[int]) -> List[Part]:
    """Returns the parts of a row of `size` numbers of which processes hold these counts, in turn; padding comes last.

    >>> parts_of("w", 5, [3, 3])
    [Part(first=0, count=3), Part(first=3, count=2)]
    """
    if sum(counts) < size:
        raise InvalidArgument(f"{name}: expected parts of {size} numbers in all, got {' + '.join(map(str, counts))}")
    parts, first = [], 0
    for count in counts:
        held = min(count, size - first)
        parts.append(Part(first, held))
        first += held
    return parts


def shard_group_of(model: torch.nn.Module) -> Any:
    """Returns the group of processes that hold parts of this model as DTensors, as FSDP2 has them; None without such.

    Raises for what FSDP1 has cut, which does not tell by its parameters alone.
    """
    for module in model.modules():
        is_whole = getattr(getattr(module, "sharding_strategy", None), "name", "") == "NO_SHARD"
        if type(module).__name__ == "FullyShardedDataParallel" and not is_whole and module.process_group.size() > 1:
            raise InvalidArgument(
                "FullyShardedDataParallel: expected shard_group=, torch's group of the processes that hold this model, which "
                "is its .process_group where all of it is cut alike"
            )
    for name, each in model.named_parameters():
        mesh = getattr(each, "device_mesh", None)
        if mesh is None:
            continue
        if mesh.ndim != 1:
            raise InvalidArgument(f"{name}: expected a device mesh of one dimension, got {mesh.ndim}; give shard_group")
        return mesh.get_group()
    return None


def refuse_parts(what: str, model: torch.nn.Module) -> None:
    """Raises for a model in parts, where `what` needs one in one piece."""
    try:
        is_whole = shard_group_of(model) is None
    except InvalidArgument:
        is_whole = False
    if not is_whole:
        raise InvalidArgument(f"{what}: expected a model in one piece, got one in parts; bt.attach takes such ones")


def required(job: Optional[Session]) -> Session:
    """Returns the session of a process that has a model in one piece."""
    if job is None:
        raise InvalidArgument("job: expected a session, got None; only models in parts have processes without one")
    return job


def _shape_of(parameter: torch.Tensor, given: Optional[Sequence[int]]) -> Optional[Tuple[int, ...]]:
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


def row_of(tensor: torch.Tensor) -> torch.Tensor:
    """Returns what this process has of a tensor, as a row in the same memory."""
    local = tensor.detach()
    if hasattr(local, "to_local"):
        local = local.to_local()
    return local.view(-1)


class Site:
    """The processes of a group, the first of which has the session. All of them call all of it alike.

    Tensors are given several at once: `parts` has each one's parts by process, `own` what this process holds of each, as
    rows, and `whole` all of each, in the first process alone. Those of one call are of one type.
    """

    def __init__(self, group: Any) -> None:
        self.group = group
        self.rank = dist.get_rank(group)
        self.size = dist.get_world_size(group)
        self.first = 0 if group is None else dist.get_global_rank(group, 0)  # among all processes of torch

    def agree(self, said: Any) -> List[Any]:
        """Returns what each process has said."""
        heard: List[Any] = [None] * self.size
        dist.all_gather_object(heard, said, group=self.group)
        return heard

    def tell(self, said: Any) -> Any:
        """Returns what the first process has said."""
        heard = [said]
        dist.broadcast_object_list(heard, src=self.first, group=self.group)
        return heard[0]

    def of_first(self, call: Callable[[], Any]) -> Any:
        """Returns what a call gives in the first process, where alone it is made; where it raises the others do too."""
        result: Any = None
        error: Optional[Error] = None
        if self.rank == 0:
            try:
                result = call()
            except Error as caught:
                error = caught
        has_failed, result = self.tell((error is not None, result))
        if error is not None:
            raise error
        if has_failed:
            raise _news()
        return result

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Makes a tensor that all hold whole what the first process has."""
        if tensor.numel() == 0:
            return
        row = tensor.detach().contiguous().view(-1).view(torch.uint8)  # process groups do not take all types
        dist.broadcast(row, src=self.first, group=self.group)
        tensor.detach().copy_(row.view(tensor.dtype).view(tensor.shape))

    @torch.no_grad()
    def gather(self, parts: Sequence[List[Part]], own: Sequence[torch.Tensor], whole: Sequence[torch.Tensor]) -> None:
        """Makes `whole` of what the processes have. As bytes, which process groups take of all types."""
        held = self._held(parts, own)
        packed = self._room(parts, held)
        row = torch.cat(held).view(torch.uint8)
        packed[: row.numel()] = row
        pieces = [torch.empty_like(packed) for _ in range(self.size)] if self.rank == 0 else None
        dist.gather(packed, pieces, dst=self.first, group=self.group)
        for piece, (size, each) in zip(pieces or [], self._pieces(parts, _size_of(held[0]))):
            begin = 0
            numbers = piece[:size].view(held[0].dtype)
            for target, part in zip(whole, each):
                target[part.first : part.first + part.count] = numbers[begin : begin + part.count]
                begin += part.count

    @torch.no_grad()
    def scatter(
        self, parts: Sequence[List[Part]], own: Sequence[torch.Tensor], whole: Sequence[torch.Tensor],
        error: Optional[Error] = None, key: str = "", note: bool = False,
    ) -> bool:
        """Gives each process its part of `whole`, or the news of an error on `key`, which the first process raises.

        Returns what the first process has noted.
        """
        held = self._held(parts, own)
        packed = self._room(parts, held)
        pieces = [torch.zeros_like(packed) for _ in range(self.size)] if self.rank == 0 else None
        for piece, (size, each) in zip(pieces or [], self._pieces(parts, _size_of(held[0]))):
            begin = 0
            numbers = piece[:size].view(held[0].dtype)
            for source, part in zip(whole, each):
                numbers[begin : begin + part.count] = source[part.first : part.first + part.count]
                begin += part.count
            piece[-1] = 1 if error is not None else 2 if note else 0
        dist.scatter(packed, pieces, src=self.first, group=self.group)
        if error is not None:
            raise error
        said = packed[-1].item()
        if said == 1:
            raise _news(key)
        row = packed[: sum(each.numel() for each in held) * _size_of(held[0])].view(held[0].dtype)
        for each, part in zip(held, row.split([each.numel() for each in held])):
            each.copy_(part)
        return said == 2

    def _held(self, parts: Sequence[List[Part]], own: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        """Returns this process's rows without padding."""
        return [row.narrow(0, 0, each[self.rank].count) for row, each in zip(own, parts)]

    def _pieces(self, parts: Sequence[List[Part]], element_bytes: int) -> Iterator[Tuple[int, List[Part]]]:
        """Yields what each process has: its bytes and its parts, one after another."""
        for rank in range(self.size):
            each = [of_tensor[rank] for of_tensor in parts]
            yield sum(part.count for part in each) * element_bytes, each

    def _room(self, parts: Sequence[List[Part]], held: List[torch.Tensor]) -> torch.Tensor:
        """Makes room for the bytes of the longest piece, and a word."""
        longest = max(size for size, _ in self._pieces(parts, _size_of(held[0])))
        return torch.zeros(longest + _WORD, dtype=torch.uint8, device=held[0].device)


def _news(key: str = "") -> Error:
    return Unavailable("the first process of this site has had an error, which it raises itself", key=key)


def _size_of(tensor: torch.Tensor) -> int:
    return tensor.element_size()


def agree_on_parts(
    site: Site, job: Optional[Session], parameters: Mapping[str, torch.Tensor], given: Shapes
) -> Tuple[Tuple[str, bool], Dict[str, Tuple[int, ...]], Dict[str, List[Part]]]:
    """Returns the job's traits, and by name each whole parameter's shape and parts; raises in all processes alike.

    Traits are its operation, and whether it may leave workers out. `given` has shapes by name, of those that do not know
    their own. `job` is given in the first process alone.
    """
    shapes = {each: _shape_of(parameter, given.get(each)) for each, parameter in parameters.items()}
    counts = {each: row_of(parameter).numel() for each, parameter in parameters.items()}
    said = site.agree((None if job is None else (job.aggregation_op, job.may_leave_out), list(counts.items())))
    if [traits is not None for traits, _ in said] != [True] + [False] * (site.size - 1):
        raise InvalidArgument("job: expected a session in the first process of the group, and None in the others")
    if any([each for each, _ in other] != list(counts) for _, other in said):
        raise InvalidArgument("expected the same parameters, in the same order, in all processes of the group")
    held = {each: [dict(other)[each] for _, other in said] for each in counts}
    # A row of all, cut by hand: only together the processes know how long it is.
    whole = {each: (sum(held[each]),) if shape is None else shape for each, shape in shapes.items()}
    return said[0][0], whole, {each: parts_of(each, math.prod(whole[each]), held[each]) for each in counts}
