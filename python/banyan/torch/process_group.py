"""A process group of `torch.distributed` over a job, so that what is written for `dist.all_reduce` and its kin runs over it."""

from __future__ import annotations

import datetime
import functools
from typing import Any, Callable, List, Optional, Tuple

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future

from ..errors import FailedPrecondition, InvalidArgument, Unavailable
from ..session import Session
from .._ticket import Ticket

_NAME = "banyan"
_BACKEND_TIMEOUT = datetime.timedelta(minutes=30)  # torch's own
_LEADING = 8  # sizes of keys are such a number, or up to twice as much, times a power of two
_job: Optional[Session] = None  # that the next group is of


def init_process_group(job: Session, timeout: datetime.timedelta = _BACKEND_TIMEOUT) -> None:
    """Makes all workers of the job one process group of torch, "banyan": the default one of this process.

    `dist.all_reduce` (sum, avg, min, max, product; of bool also band and bor), `reduce`, `broadcast`, `all_gather`,
    `gather`, `scatter`, `reduce_scatter`, `barrier` and what torch makes of them, such as `broadcast_object_list`, then go
    over the job. All workers call the same ones in the same order. Sums are exact and are never compressed: floating-point
    numbers travel as float64. For gradients give `attach` or `comm_hook`, which send them as they are.

    A call returns when it is done, also with `async_op`; one that takes longer than `timeout` raises. After a change of
    members, or the death of a worker, every call raises Unavailable, as torch's groups are of one size: end the processes
    and begin anew, or train by `attach`, which goes on with those that are left.
    """
    global _job
    if dist.is_initialized():
        raise FailedPrecondition(
            "init_process_group: this process has a default group already; make this one before, and others by "
            "dist.new_group(backend='gloo')"
        )
    if not hasattr(dist.Backend, _NAME.upper()):
        dist.Backend.register_backend(_NAME, _make)
    members = job.members
    _job = job
    dist.init_process_group(
        _NAME, store=_OwnStore(members.world_size), rank=members.rank, world_size=members.world_size, timeout=timeout
    )


class _OwnStore(dist.Store):
    """A store of this process alone, as the job brings workers together. Torch counts workers in it: all are there."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers = workers
        self._values = dist.HashStore()

    def add(self, key: str, count: int) -> int:
        return self._values.add(key, count * (self._workers if "barrier" in key else 1))

    def set(self, key: str, value: Any) -> None:
        self._values.set(key, value)

    def get(self, key: str) -> bytes:
        return self._values.get(key)

    def wait(self, keys: List[str], timeout: datetime.timedelta = _BACKEND_TIMEOUT) -> None:
        self._values.wait(keys, timeout)


def _make(_: Any, rank: int, size: int, timeout: datetime.timedelta) -> "ProcessGroup":
    if _job is None or size != _job.world_size:
        raise InvalidArgument(
            "banyan: expected bt.init_process_group(job), which makes one group of all workers; others are of another backend, "
            "such as dist.new_group(backend='gloo')"
        )
    return ProcessGroup(_job, rank, size, timeout)


class ProcessGroup(dist.ProcessGroup):
    """All workers of a job; made by `init_process_group`. Keys are by kind, type and size, which are few."""

    def __init__(self, job: Session, rank: int, size: int, timeout: datetime.timedelta) -> None:
        super().__init__(rank, size)
        self._job = job
        self._rank = rank
        self._size = size
        self._timeout = timeout.total_seconds()

    def getBackendName(self) -> str:
        return _NAME

    # --- what travels ---

    def _reduce(self, kind: str, tensor: torch.Tensor) -> Tuple[Ticket, Callable[[], None]]:
        """Starts to reduce a tensor; returns the ticket, and what writes the result to the tensor."""
        count = tensor.numel()
        sent = torch.zeros(_room_of(count), dtype=tensor.dtype)
        key = f"group/{kind}/{str(tensor.dtype).partition('.')[2]}/{len(sent)}"
        if key not in self._job._types:
            self._job.init(key, sent, reduce=kind, timeout=self._timeout)
        sent[:count] = tensor.detach().reshape(-1)

        def read() -> None:
            tensor.detach().copy_(sent[:count].view(tensor.shape))

        return self._job.push_pull(key, sent, out=sent), read

    def _work(
        self, sent: List[Tuple[Ticket, Callable[[], None]]], result: Any, take: Callable[[], None] = lambda: None
    ) -> Any:
        """Waits for what was sent, runs `take`, and returns a Work of torch that is done: what raises inside of one is lost."""
        # Whoever has sent all before it is in this sum. A node whose worker has died takes part without it.
        present = torch.ones(1, dtype=torch.float64)
        sent = [*sent, self._reduce("sum", present)]
        for ticket, _ in sent:
            ticket.wait(self._timeout)
        sent[-1][1]()
        if present.item() != self._size:
            raise Unavailable(
                f"banyan: the members of the job have changed, {present.item():.0f} where the group has {self._size} workers, and "
                "groups of torch are of one size: end the processes and begin anew, or train by bt.attach, which goes on with "
                "those that are left"
            )
        for _, read in sent:
            read()
        take()
        future: "torch.futures.Future[Any]" = torch.futures.Future()
        future.set_result(result)
        return _create_work_from_future(future)

    def _gathered(self, tensor: torch.Tensor, gives: bool, row: int, rows: int) -> Any:
        """Starts to give all workers the bits of a tensor, in a row of its own; returns what was sent and what reads a row."""
        size = tensor.numel() * tensor.element_size()
        words = -(-size // 4)
        sent = torch.zeros(rows, words * 4, dtype=torch.uint8)
        if gives and size > 0:
            flat = torch.view_as_real(tensor) if tensor.is_complex() else tensor
            sent[row, :size] = flat.detach().cpu().contiguous().view(-1).view(torch.uint8)
        started = self._reduce("sum", sent.view(-1).view(torch.int32))

        def read(which: int, into: torch.Tensor) -> None:
            numbers = torch.view_as_real(into) if into.is_complex() else into
            if size > 0:
                numbers.copy_(sent[which, :size].clone().view(numbers.dtype).view(numbers.shape))

        return started, read

    # --- torch's calls ---

    def allreduce(self, tensors: List[torch.Tensor], opts: Any = None) -> Any:
        kind, divides = _kind_of(opts, tensors)

        def divide() -> None:
            for each in tensors if divides else []:
                each.div_(self._size)

        return self._work([self._reduce(kind, each) for each in tensors], tensors, divide)

    def allreduce_coalesced(self, tensors: List[torch.Tensor], opts: Any = None) -> Any:
        return self.allreduce(tensors, opts)

    def reduce(self, tensors: List[torch.Tensor], opts: Any = None) -> Any:
        if self._rank == opts.rootRank:
            return self.allreduce(tensors, opts)
        copies = [each.clone() for each in tensors]  # torch leaves those of others as they are
        kind, _ = _kind_of(opts, copies)
        return self._work([self._reduce(kind, each) for each in copies], tensors)

    def broadcast(self, tensors: List[torch.Tensor], opts: Any = None) -> Any:
        sent = [self._gathered(each, self._rank == opts.rootRank, 0, 1) for each in tensors]

        def take() -> None:
            for each, (_, read) in zip(tensors, sent):
                read(0, each)

        return self._work([started for started, _ in sent], tensors, take)

    def allgather(self, outputs: List[List[torch.Tensor]], inputs: List[torch.Tensor], opts: Any = None) -> Any:
        sent = [self._gathered(each, True, self._rank, self._size) for each in inputs]

        def take() -> None:
            for outs, (_, read) in zip(outputs, sent):
                for which, out in enumerate(outs):
                    read(which, out)

        return self._work([started for started, _ in sent], outputs, take)

    def _allgather_base(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> Any:
        return self.allgather([list(output.view(self._size, *input.shape).unbind())], [input])

    def gather(self, outputs: List[List[torch.Tensor]], inputs: List[torch.Tensor], opts: Any = None) -> Any:
        is_root = self._rank == opts.rootRank
        return self.allgather(outputs if is_root else [[] for _ in inputs], inputs)

    def scatter(self, outputs: List[torch.Tensor], inputs: List[List[torch.Tensor]], opts: Any = None) -> Any:
        is_root = self._rank == opts.rootRank
        whole = torch.stack(inputs[0]) if is_root else torch.zeros(self._size, *outputs[0].shape, dtype=outputs[0].dtype)
        started, read = self._gathered(whole, is_root, 0, 1)

        def take() -> None:
            read(0, whole)
            outputs[0].copy_(whole[self._rank])

        return self._work([started], outputs, take)

    def reduce_scatter(self, outputs: List[torch.Tensor], inputs: List[List[torch.Tensor]], opts: Any = None) -> Any:
        kind, divides = _kind_of(opts, inputs[0])
        whole = torch.stack(inputs[0])

        def take() -> None:
            outputs[0].copy_(whole[self._rank] / self._size if divides else whole[self._rank])

        return self._work([self._reduce(kind, whole)], outputs, take)

    def _reduce_scatter_base(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> Any:
        return self.reduce_scatter([output], [list(input.view(self._size, *output.shape).unbind())], opts)

    def barrier(self, opts: Any = None) -> Any:
        return self._work([], [])

    def _refuse(self, what: str, *_: Any, **__: Any) -> Any:
        raise InvalidArgument(
            f"{what}: expected a call in which all workers take part alike (all_reduce, reduce, broadcast, all_gather, gather, "
            "scatter, reduce_scatter, barrier); between the processes of one site use dist.new_group(backend='gloo') of a "
            "program of its own"
        )

    send = functools.partialmethod(_refuse, "send")
    recv = functools.partialmethod(_refuse, "recv")
    recv_anysource = functools.partialmethod(_refuse, "recv")
    alltoall = functools.partialmethod(_refuse, "all_to_all")
    alltoall_base = functools.partialmethod(_refuse, "all_to_all_single")


def _room_of(count: int) -> int:
    """Returns the size of the key that numbers travel in: at most an eighth more than there are.

    >>> [_room_of(count) for count in (0, 8, 9, 17, 1000, 1025)]
    [8, 8, 9, 18, 1024, 1152]
    """
    unit = 1
    while unit * 2 * _LEADING <= count:
        unit *= 2
    return max(-(-count // unit), _LEADING) * unit


def _kind_of(opts: Any, tensors: List[torch.Tensor]) -> Any:
    """Returns how a job reduces what torch asks for, and whether the result is divided then."""
    op = getattr(opts, "reduceOp", dist.ReduceOp.SUM)
    kinds = {"SUM": "sum", "AVG": "sum", "MAX": "max", "MIN": "min", "PRODUCT": "product"}
    if all(each.dtype == torch.bool for each in tensors):
        kinds.update(BAND="min", BOR="max")
    name = next((name for name in (*kinds, "BAND", "BOR", "BXOR") if op == getattr(dist.ReduceOp, name, None)), "PREMUL_SUM")
    if name not in kinds:
        raise InvalidArgument(f"ReduceOp.{name}: expected one of {', '.join(kinds)}; of integers gather all and compute it here")
    return kinds[name], name == "AVG"
