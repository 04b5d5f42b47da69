"""Gradients of models whose processes hold a part of each parameter: FSDP, or cut by hand.

The processes of a site that hold one model are one worker of the job: the first of them has the session. It gathers
gradients from the others, sends them, and gives each its part of the result. So keys are whole parameters, as those of a
site that holds its model in one piece, and sites may cut theirs into different numbers of parts.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Dict, List, Mapping, Optional

import torch

from ..errors import Error, InvalidArgument
from ..session import Session
from .._ticket import Ticket
from ._groups import Chooser, cut, refuse_left_out, refuse_results, warn_of_fixed_tensors, wire_name
from ._parts import Shapes, Site, agree_on_parts, row_of
from ._weight import Weight
from .attach import MIB, RESULTS, Attachment


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
        self._site = Site(shard_group)
        self._model = self._inner = model
        self._is_ddp = False
        self._name = name
        self._unhook = []
        self._step, self._largest_rate = 0, 0.0
        self._known_buffers = set()
        self._buffer_count = None
        self._by_name = {each: parameter for each, parameter in model.named_parameters() if parameter.requires_grad}
        (op, may_leave_out), self._shapes, self._parts = agree_on_parts(self._site, job, self._by_name, shapes or {})
        refuse_results("attach", op, RESULTS)
        refuse_left_out("weighted", weighted and may_leave_out)
        if not self._by_name:
            raise InvalidArgument("expected a model with parameters that are trained, got one without")
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
            self._init_running_means()

    def _cut(self, key_mb: float, low_bit: Optional[Chooser]) -> List[_Group]:
        """Cuts whole parameters into groups, as `attach` cuts those of a model in one piece."""
        whole = [
            (each, torch.nn.Parameter(torch.empty(self._shapes[each], dtype=parameter.dtype, device="meta")))
            for each, parameter in self._by_name.items() if math.prod(self._shapes[each]) > 0
        ]
        groups = []
        for i, named in enumerate(cut(whole, key_mb * MIB, low_bit)):
            names = [each for each, _ in named]
            sizes = [each.numel() for _, each in named]
            groups.append(_Group(f"{self._name}/{i}", names, sizes, named[0][1].dtype, self._site.rank == 0))
        return groups

    def _gather(self, group: _Group, values: Mapping[str, torch.Tensor]) -> None:
        """Makes `group.whole` of what the processes have."""
        self._site.gather([self._parts[each] for each in group.names], [values[each] for each in group.names], group.whole)

    def _scatter(self, group: _Group, values: Mapping[str, torch.Tensor], error: Optional[Error]) -> None:
        """Gives each process its part of `group.whole`, or the news of an error, which it raises."""
        parts, own = [self._parts[each] for each in group.names], [values[each] for each in group.names]
        self._site.scatter(parts, own, group.whole, error, group.key)

    def _begin(self) -> None:
        """Gives all parts the parameters of the lowest worker."""
        for group in self._groups:
            values = {each: row_of(self._by_name[each]) for each in group.names}
            self._gather(group, values)
            error: Optional[Error] = None
            if self._site.rank == 0:
                wires = [wire_name(self._name, each, torch.empty(self._shapes[each], device="meta")) for each in group.names]
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
            values[each] = row_of(parameter.grad)
        sent: Optional[Ticket] = None
        error: Optional[Error] = None
        for priority, group in enumerate(self._groups):
            self._gather(group, values)
            if self._site.rank > 0 or error is not None:
                continue
            try:
                if self._weight is not None:
                    sent = sent or self._weight.send()
                    self._weight.multiply(group.whole)
                group.ticket = self._job.push_pull_group(group.key, group.whole, priority=priority)
            except Error as caught:
                error = caught
        for group in self._groups:
            self._scatter(group, values, error or self._finish(group, sent, timeout))

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
        if self._site.rank == 0:
            super().report(loss, **options)

    def sync_buffers(self, timeout: Optional[float] = None) -> None:
        """As of an attachment in one piece; all processes of the group get what the first one has then."""
        self._site.of_first(functools.partial(super().sync_buffers, timeout))
        for each in self._inner.buffers():
            self._site.broadcast(each)

    def detach(self) -> None:
        """Nothing is hooked to the model."""
