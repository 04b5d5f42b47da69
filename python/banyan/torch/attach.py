"""Gradients of every step over a job: for DistributedDataParallel by its hook, for other modules by their own, and for
models whose processes hold a part of each parameter (FSDP, or cut by hand) when they ask for them.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import math
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from ..errors import Error, FailedPrecondition, InvalidArgument, Timeout
from ..session import Session
from .._arrays import tell_autograd
from .._ticket import Seconds, Ticket, seconds_of
from ._copies import Copies, Staged, Stager
from ._groups import (
    Chooser, Fixed, Named, Sameness, agree_on_the_rest, begin_alike, by_wire_name, claim, cut, has_running_means, keyed,
    numbers_of, owner_of, plain_name, refuse_left_out, refuse_name, refuse_results, refuse_unknown, release, role_of,
    tell_of_others, tell_of_replaced, trained, unwrapped, wire_name,
)
from ._parts import Shapes, Site, agree_on_parts, required, row_of, shard_group_of
from ._replicas import Part, Replicas, is_due, parts_of, told_of
from ._weight import Weight

_log = logging.getLogger("banyan")
Operation = Union[Ticket, Staged]
_RESULTS = ("mean", "sum")  # of a job, that are gradients
_MIB = 1 << 20
_ASK_SECONDS = 1.0  # to ask who is awaited, after a time-out


# Whether torch.compile traces what runs now; torch 1.13 cannot.
_is_compiling: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


def local_group() -> None:
    """Makes a process group of this process alone, which DistributedDataParallel needs, unless there is one."""
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def attach(
    job: Optional[Session], model: torch.nn.Module, *, key_mb: float = 4, name: str = "grad", weighted: bool = False,
    low_bit: Optional[Chooser] = None, shard_group: Any = None, shapes: Optional[Shapes] = None, check_every: int = 100,
    timeout: Optional[Seconds] = None,
) -> "Attachment":
    """Makes each step's gradients those of the whole job: their mean, or their sum where `aggregation.op` is sum.

    Gives all workers the parameters of the lowest one. A worker that comes when the job has trained keeps its own, and needs
    a `State` before its first step. They travel in groups of about `key_mb` MiB, named by `name`, the
    parameters and their shapes, so that sites whose models differ hear of it. Gradients travel in
    their own type, those on GPUs by way of pinned memory, while the GPU goes on. Every process of every node attaches the same
    model, as a worker of its own.

    With `weighted`, workers count by their samples: set `sync.weight` before each step's last backward pass, to 0 where
    there is no data. All workers say so alike. The job must count all of them in each round: no quorum, no skipping.

    `low_bit(name, parameter)` chooses parameters that may travel in one or two bits (docs/precision.md), each as a key of
    its own. `binding()` has the file that says so to the job, and `report()` tells how the training goes.

    Each `check_every` rounds, and in the first few, workers compare digests of parameters, and of the optimizer that
    `watch()`, `report()` or a `State` has told of. Where they differ, all raise FailedPrecondition, which says who and what.
    0 turns that off, at all sites alike. Of a model in parts all processes of its site call `watch()` alike, and a site compares
    whole parameters.

    DistributedDataParallel: backward() returns with the job's gradients in place, and no_sync(), clipping and autocast
    work as ever. Where they have not come after `timeout` seconds it raises, and cannot go on: end the process, and let it
    come again with a `State`. Other modules: backward() starts to send gradients, and `wait()` waits for them.

    Models in parts, as FSDP cuts them: all processes that hold one are one worker, so only the first of them joins, and
    the others give None as `job`. `wait()` sends and waits, in all of them. FSDP2 tells who they are. Otherwise
    `shard_group` is torch's process group of them; each process holds the next numbers of each parameter. `shapes` has
    the shapes of whole parameters, by name, where another site holds the same model in one piece.

    >>> import banyan
    >>> model = torch.nn.Linear(2, 1)
    >>> sync = attach(banyan.solo(), model)
    >>> model(torch.ones(1, 2)).sum().backward()
    >>> sync.wait()
    >>> model.weight.grad
    tensor([[1., 1.]])
    """
    group = shard_group if shard_group is not None else shard_group_of(model)
    if group is not None:
        return ShardedAttachment(
            job, unwrapped(model), group, key_mb=key_mb, name=name, weighted=weighted, low_bit=low_bit, shapes=shapes,
            check_every=check_every, timeout=timeout,
        )
    return Attachment(
        required(job), model, key_mb=key_mb, name=name, weighted=weighted, low_bit=low_bit, check_every=check_every,
        timeout=timeout,
    )


class _Sending(NamedTuple):
    """A gradient on its way, with torch's counts of changes, in which results do not count."""

    operation: Operation
    gradient: torch.Tensor
    own: Optional[torch.Tensor]  # as the parameter has it, where it has one
    version: int
    version_of_parameter: int


class Attachment:
    """A model whose gradients are the job's; made by `attach`."""

    checked_seconds = 0.0  # that comparing replicas has taken, in all; of models in one piece
    _step = 0  # that was reported
    _largest_rate = 0.0
    _shapes: Shapes = {}  # of parameters of which this process holds a part
    _buffer_count: Optional[Weight] = None  # where the job sums
    _join: Optional[Weight] = None  # inside of join(): 1 while there is data here
    _join_key: Optional[Weight] = None
    _check_sent: Optional[Ticket] = None
    _optimizers: Sequence[torch.optim.Optimizer] = ()  # that sites compare
    _has_told_of_others = False
    _is_partly_sent = False  # of DDP: a backward has begun
    _has_sent = False  # of DDP: since the last wait()
    _awaited: Sequence[Tuple[int, int]] = ()  # of DDP: what gradients were in the last wait()
    _is_detached = False
    _is_in_backward = False
    _has_ever_sent = False

    def __init__(
        self, job: Session, model: torch.nn.Module, *, key_mb: float = 4, name: str = "grad",
        weighted: bool = False, low_bit: Optional[Chooser] = None, check_every: int = 100,
        timeout: Optional[Seconds] = None, stager: Optional[Stager] = None, is_hook: bool = False,
        gives_parameters: bool = True,
    ) -> None:
        model = unwrapped(model)
        refuse_results("attach", job.aggregation_op, _RESULTS)
        refuse_left_out("weighted", weighted and job.may_leave_out)
        self._job = job
        self._stager = stager or Stager(job)
        self._name = name
        self._timeout = seconds_of(timeout)
        self._model: Any = model
        self._inner: torch.nn.Module = self._model.module if isinstance(model, DistributedDataParallel) else model
        self._is_ddp = is_hook or self._inner is not model
        _refuse_ddp_inside(self._inner)
        named = trained(self._inner)
        if not named:
            raise FailedPrecondition("expected a model with parameters that are trained, got one without")
        claim(self, "is attached", named)
        refuse_name(job, name)
        _refuse_sparse(self._inner)
        self.groups: Dict[str, List[str]] = {}
        self._names: Dict[int, Tuple[str, int]] = {}  # by id: the name and the priority
        self._parameters = [each for _, each in named]
        self._low_bit: Dict[str, torch.nn.Parameter] = {}  # by key
        for i, (key, group) in enumerate(keyed(name, cut(named, key_mb * _MIB, low_bit), low_bit).items()):
            if gives_parameters:
                begin_alike(job, key, by_wire_name(name, group), [each for _, each in group])
            else:
                job.init_group(key, by_wire_name(name, group), in_place=False)
            self.groups[key] = [each for each, _ in group]
            if low_bit is not None and low_bit(*group[0]):
                self._low_bit[key] = group[0][1]
            # What the next forward pass needs first goes first where a link has a queue.
            for each, parameter in group:
                self._names[id(parameter)] = (wire_name(name, each, parameter), i)
        self._is_synchronised = True
        agree_on_the_rest(job, name, self._inner, f"weighted={weighted}, check_every={check_every}")
        self._weight = Weight(job, f"{name}-weight") if weighted else None
        self._optimizers = []
        if job._training_state is not None:
            for each in job._training_state.optimizers:
                self.watch(each)
        self._init_beside(job.may_leave_out, check_every)
        self._sameness = Sameness(
            job, name, self._parameters, is_on=job.aggregation_op == "mean" and not weighted and not job.may_leave_out
        )
        self._counts_sent: List[Ticket] = []  # of the weight and join() in the step that is under way
        self._started: Dict[int, _Sending] = {}  # by id of the parameter
        # Where results are sums: the last ones, with torch's count of their changes.
        is_sum = job.aggregation_op == "sum" and not weighted
        self._sums: Optional[Dict[int, Tuple[torch.Tensor, int]]] = {} if is_sum else None
        self._unhook: List[Callable[[], None]] = []
        self._accumulators: List[Any] = []
        if is_hook:
            pass  # whoever has it registers it
        elif self._is_ddp:
            self._register_ddp()
        else:
            self._register_hooks()
        job._attachments.add(self)
        self._versions = [each._version for each in self._parameters]
        job._at_end.append(self._tell_of_nothing)

    # --- both kinds ---

    @property
    def weight(self) -> float:
        """How much this worker's gradients count among all: its samples of a step, or tokens. Needs `weighted=True`."""
        return 1.0 if self._weight is None else self._weight.value

    @weight.setter
    def weight(self, value: float) -> None:
        if self._weight is None:
            raise FailedPrecondition("weight: expected attach(..., weighted=True), at all sites alike")
        if self._started:
            raise FailedPrecondition(
                "weight: gradients are on their way with the one before; set it before the last backward() of a step"
            )
        self._weight.value = value

    def report(
        self, loss: Any, *, progress: float = 0.0, optimizer: Optional[torch.optim.Optimizer] = None,
        metric: Optional[float] = None, step: Optional[int] = None,
    ) -> None:
        """Tells how the training goes, once a step before backward(), in every worker; does not wait.

        Steps count from 1, unless `step` says which it is. `progress` is the part of the run that is done. The
        learning rate is the optimizer's, and the job is told what part it is of the largest so far. Of a `metric`, larger
        is better. A loss on a GPU is waited for.
        """
        self._step = self._step + 1 if step is None else step
        fraction = 1.0
        if optimizer is not None:
            self.watch(optimizer)
            rate = float(optimizer.param_groups[0]["lr"])
            self._largest_rate = max(self._largest_rate, rate)
            fraction = rate / self._largest_rate if self._largest_rate > 0 else 1.0
        self._job.report_health(
            self._step, float(loss), progress=progress, learning_rate_fraction=fraction, metric=metric
        )

    def binding(self, family: str = "binary") -> str:
        """Returns the binding file of what `low_bit` chose; with `banyan.solo()` it can be written before a job is there.

        Names are the parameters', and roles what their modules say. Embeddings and norms stay fp32, whoever chose them.

        >>> import banyan
        >>> model = torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.Linear(4, 2))
        >>> sync = attach(banyan.solo(), model, low_bit=lambda name, each: each.dim() > 1)
        >>> for line in sync.binding().splitlines()[-2:]:
        ...     print(line)
        - {name: grad/low-bit/1.weight, elements: 8, role: encoder, route: low-bit, family: binary, reason: "chosen by low_bit"}
        - {name: grad/low-bit/0.weight, elements: 36, role: embedding, route: fp32, reason: "chosen by low_bit, and sensitive"}
        """
        lines = [
            "schema: 1", f"binding: {self._name}",
            f"provenance: {{source: {type(self._inner).__name__}, made_by: banyan.torch, evidence: chosen by hand}}",
            "tensors:",
        ]
        for key, each in self._low_bit.items():
            name = self.groups[key][0]
            role = role_of(self._inner, name, each)
            is_sensitive = role in ("embedding", "norm", "bias")
            route = "fp32" if is_sensitive else f"low-bit, family: {family}"
            reason = "chosen by low_bit" + (", and sensitive" if is_sensitive else "")
            lines.append(
                f'- {{name: {key}, elements: {math.prod(self._shapes.get(name, each.shape))}, role: {role}, route: {route}, reason: "{reason}"}}'
            )
        return "\n".join(lines) + "\n"

    def _buffers(self) -> Dict[str, torch.Tensor]:
        """Returns the buffers by the names by which they travel."""
        return {
            wire_name(f"{self._name}-buffer", plain_name(name), each): each
            for name, each in self._inner.named_buffers() if each.numel() > 0
        }

    def _init_beside(self, may_leave_out: bool, check_every: int) -> None:
        """Makes known what travels beside gradients. A worker that comes late must know it with all else."""
        self._check_every = 0 if may_leave_out else check_every  # a site that is left out is in another round
        self._replicas = Replicas(self._job, f"{self._name}-check")
        self._fixed = Fixed(self._inner, self._name)
        if not may_leave_out:
            self._join_key = Weight(self._job, f"{self._name}-join")
        self._init_running_means()

    def _init_running_means(self) -> None:
        """Makes the buffers known that all sites have alike."""
        norms = [part for part in self._inner.modules() if has_running_means(part)]
        means = {id(each): each for part in norms for each in part.buffers(recurse=False)}
        groups: Dict[torch.dtype, Dict[str, torch.Tensor]] = {}
        for name, each in self._buffers().items():
            if id(each) in means:
                copy = _copy_of_buffer(each)
                groups.setdefault(copy.dtype, {})[name] = copy
        for dtype, group in groups.items():
            self._job.init_group(f"{self._name}-buffers/{dtype}", group, in_place=False)
        self._known_buffers: Set[str] = {name for group in groups.values() for name in group}
        if groups and self._job.aggregation_op == "sum" and not self._job.may_leave_out:
            self._buffer_count = Weight(self._job, f"{self._name}-buffers")

    def sync_buffers(self, timeout: Optional[Seconds] = None) -> None:
        """Makes floating-point buffers (running means) the job's mean, and others those of the lowest worker."""
        buffers = self._buffers()
        copies = {name: _copy_of_buffer(each) for name, each in buffers.items()}
        if not buffers:
            return
        for name, each in copies.items():
            if name not in self._known_buffers:
                self._job.init(name, each, timeout=timeout)
                self._known_buffers.add(name)
        if self._job.aggregation_op == "sum":
            refuse_left_out("sync_buffers, in a job that sums", self._job.may_leave_out)
            self._buffer_count = self._buffer_count or Weight(self._job, f"{self._name}-buffers")
        tickets = [
            self._job.push_pull(name, value, out=value) if buffers[name].is_floating_point()
            else self._job.broadcast(name, value)
            for name, value in copies.items()
        ]
        if self._buffer_count is not None:
            tickets.append(self._buffer_count.send())
        for ticket in tickets:
            ticket.wait(timeout)
        if self._buffer_count is not None:
            self._buffer_count.divide(copies[name] for name, each in buffers.items() if each.is_floating_point())
        for name, value in copies.items():
            buffers[name].copy_(torch.view_as_complex(value) if buffers[name].is_complex() else value)

    @torch.no_grad()
    def _start(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> Operation:
        self._has_ever_sent = True
        name, priority = self._names[id(parameter)]
        if gradient.layout != torch.strided:
            raise InvalidArgument(
                f"{name}: expected a dense gradient, got one of layout {gradient.layout}; make its layer with sparse=False"
            )
        if self._job._replaced:
            tell_of_replaced(self._job, self._name)
        if not self._counts_sent:
            self._counts_sent = [each.send() for each in (self._weight, self._join) if each is not None]
        if self._weight is not None:
            self._weight.multiply([gradient])
        numbers = numbers_of(gradient)
        self._sameness.sent(parameter, numbers)
        if self._stager.takes(gradient):
            return self._stager.send(name, numbers, priority)
        try:
            return self._job.push_pull(name, numbers, out=numbers, priority=priority)
        except InvalidArgument as error:
            raise InvalidArgument(f"{error}; give a model its type and its shapes before attach()", key=name) from None

    @torch.no_grad()
    def _take(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> torch.Tensor:
        """Makes a gradient the job's, when its operation is done. Returns it in the host's memory, with the same signs."""
        numbers = numbers_of(gradient)
        if self._stager.takes(gradient):
            numbers = self._stager.back(self._names[id(parameter)][0], numbers)
        else:
            tell_autograd(numbers)
        self._sameness.came(parameter, numbers)
        if self._weight is not None:
            self._weight.divide([gradient])
        return numbers

    # --- DistributedDataParallel ---

    def _register_ddp(self) -> None:
        try:
            self._model.register_comm_hook(self, ddp_hook)
        except RuntimeError as error:
            raise FailedPrecondition(f"expected a model that has no communication hook yet: {error}") from error

    def _reduce_bucket(self, bucket: Any) -> "torch.futures.Future[torch.Tensor]":
        parameters, gradients, buffer = bucket.parameters(), bucket.gradients(), bucket.buffer()
        if buffer.layout != torch.strided or len(gradients) != len(parameters):
            raise InvalidArgument(
                f"expected dense gradients, got sparse ones of {', '.join(self._names[id(each)][0] for each in parameters)}; "
                "make their layers with sparse=False"
            )
        if bucket.is_last():
            refuse_unknown(self._inner, self._names)
        finds_unused = getattr(self._model, "find_unused_parameters", self._model is self._inner)  # of a hook alone: unknown
        in_bucket, gradients = gradients, [_in_order(each, gradient) for each, gradient in zip(parameters, gradients)]
        for parameter, view, gradient in zip(parameters, in_bucket, gradients):
            if finds_unused and parameter.grad is None:
                gradient.copy_(_absent(parameter))
            elif finds_unused and gradient.data_ptr() != view.data_ptr() and not view.any():
                gradient.zero_()  # not used now: it is of a step before
        started = [self._start(each, gradient) for each, gradient in zip(parameters, gradients)]
        started += self._counts_sent
        self._is_partly_sent, self._has_sent = not bucket.is_last(), True
        engine = torch.autograd.Variable._execution_engine
        copied = [
            (parameter, gradient) for parameter, view, gradient in zip(parameters, in_bucket, gradients)
            if finds_unused or gradient.data_ptr() != view.data_ptr()
        ]
        if copied:
            # DDP's own end of backward comes between the two.
            write = functools.partial(self._write, copied)
            engine.queue_callback(lambda: engine.queue_callback(write))
        if bucket.is_last():
            self._counts_sent = []
            compare = functools.partial(self._compare, started[0], None)
            engine.queue_callback(lambda: engine.queue_callback(compare))

        def take() -> torch.Tensor:
            for each, gradient in zip(parameters, gradients):
                self._take(each, gradient)
            return buffer

        copies = self._stager.copies(buffer.device) if self._stager.takes(buffer) else Copies()
        return _AllDone(started, take, copies, self._timeout).future()

    def _write(self, results: List[Tuple[torch.nn.Parameter, torch.Tensor]]) -> None:
        """Writes the job's gradients where DDP writes none, as this process has not used the parameter, or others than these."""
        for parameter, gradient in results:
            if parameter.grad is None:
                parameter.grad = None if _is_absent(gradient) else gradient.detach().clone()
            elif parameter.grad.data_ptr() != gradient.data_ptr():
                parameter.grad.copy_(gradient)

    # --- other modules ---

    @torch.enable_grad()
    def _register_hooks(self) -> None:
        self._kinds = [(each.dtype, each.device) for each in self._parameters]
        for parameter in self._parameters:
            if hasattr(parameter, "register_post_accumulate_grad_hook"):
                handle = parameter.register_post_accumulate_grad_hook(self._on_gradient)
            else:
                # The node that adds to .grad. It lives, with its hooks, as long as somebody keeps it: no hook of its own counts.
                accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
                handle = accumulator.register_hook(lambda *_, of=parameter: self._on_gradient(of))
                self._accumulators.append(accumulator)
            self._unhook.append(handle.remove)

    def _on_gradient(self, parameter: torch.nn.Parameter) -> None:
        if _is_compiling():
            raise FailedPrecondition(
                f"{self._names[id(parameter)][0]}: its backward is a part of what torch.compile compiles, where nothing can be sent; "
                "compile the model or the loss, and call backward() outside"
            )
        if id(parameter) in self._started:
            raise FailedPrecondition(
                f"{self._names[id(parameter)][0]}: a second backward() before wait(), while the gradient of the first is on its "
                "way. Where it was another model's, whose backward came through this one: requires_grad_(False) here for that "
                "time, or that one under no_sync() of this. Where you accumulate: all but the last under no_sync(). Where a layer "
                "is reversible or a checkpoint's: the whole backward under no_sync(). After one that failed: wait() first"
            )
        if not self._is_synchronised:
            return
        assert parameter.grad is not None
        if self._sums is not None:
            self._refuse_sum_of_sums(parameter)
        self._begin_sending(parameter, parameter.grad)
        if not self._is_in_backward:
            self._is_in_backward = True
            torch.autograd.Variable._execution_engine.queue_callback(self._on_backward)

    def _begin_sending(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
        own = gradient if gradient is parameter.grad else None
        gradient = gradient.resolve_conj()
        # By .data, as what is written there counts as no change: a result comes at any time.
        operation = self._start(parameter, gradient.data)
        self._started[id(parameter)] = _Sending(operation, gradient, own, gradient._version, parameter._version)

    def _on_backward(self) -> None:
        """Takes the counts, at the end of a backward, of gradients in a common buffer, which count each other's changes."""
        self._is_in_backward = False
        for each, sending in self._started.items():
            if sending.gradient._version != sending.version and not _is_alone(sending.gradient):
                self._started[each] = sending._replace(version=sending.gradient._version)

    def _refuse_sum_of_sums(self, parameter: torch.nn.Parameter) -> None:
        """Raises where a backward pass has added to what came, and nothing else: that would be summed once more."""
        assert self._sums is not None
        result, version = self._sums.get(id(parameter), (None, 0))
        if result is parameter.grad is not None and result._version == version + 1:
            raise FailedPrecondition(
                f"{self._names[id(parameter)][0]}: backward() has added to the sum of all sites, which would be summed "
                "again; zero_grad() after each step, accumulate by all but the last backward() under no_sync(), or run a "
                "job with aggregation: {op: mean}"
            )

    def wait(self, timeout: Optional[Seconds] = None) -> None:
        """Waits until the gradients are those of the job. A parameter without one takes part with zeros, and keeps none
        where no site has one.

        Between backward() and this call gradients are on their way: one that is dropped is the job's all the same, and one
        that is changed or replaced raises FailedPrecondition, here, as does a parameter that is changed. Raises Timeout after
        `timeout` seconds for one of them: wait again. Not needed with DistributedDataParallel.
        """
        if self._is_ddp and not self._started:
            return self._refuse_unsent()
        timeout = self._timeout if timeout is None else timeout
        refuse_unknown(self._inner, self._names)
        if self._unhook and self._kinds != [(each.dtype, each.device) for each in self._parameters]:
            self._remove_hooks()  # as after model.half() or model.to(), with which torch makes other nodes
            self._register_hooks()
        for parameter in self._parameters:
            if id(parameter) not in self._started:
                self._begin_sending(parameter, _absent(parameter) if parameter.grad is None else parameter.grad)
        for sending in self._started.values():
            sending.operation.wait(timeout)
        for sent in self._counts_sent:
            sent.wait(timeout)
        parted = self._difference_after(self._started[id(self._parameters[0])].operation, timeout)
        sent = [(each, self._started[id(each)]) for each in self._parameters]
        changed = [
            self._names[id(each)][0] for each, sending in sent if sending.gradient._version != sending.version
            or not (sending.own is None or each.grad is None or each.grad is sending.own)
        ]
        stepped = [self._names[id(each)][0] for each, sending in sent if each._version != sending.version_of_parameter]
        for parameter, (_, gradient, _, _, _) in sent:
            is_absent = _is_absent(self._take(parameter, gradient))
            # An encoding may have lost the signs.
            is_frozen = not parameter.requires_grad and not gradient.any()
            parameter.grad = None if is_absent or is_frozen else gradient
        if self._sums is not None:
            self._sums = {id(each): (sending.gradient, sending.gradient._version) for each, sending in sent}
        self._started.clear()
        self._is_in_backward = False
        self._counts_sent = []
        if parted is not None:
            raise parted
        if changed:
            raise FailedPrecondition(
                f"{changed[0]}: its gradient was changed between backward() and wait(), while it was on its way, so that sites "
                f"may have got other numbers ({len(changed)} of {len(self._parameters)} parameters). Call wait() first, and then "
                "clip, scale, unscale, add noise or zero (gradients in one buffer count as one); where a DistributedDataParallel is "
                "inside of what attach() was given, give that itself"
            )
        if stepped:
            raise FailedPrecondition(
                f"{stepped[0]}: this parameter was changed between backward() and wait(), while its gradient was on its way, "
                f"as by an optimizer that has stepped along this site's own ({len(stepped)} of {len(self._parameters)} "
                "parameters). Call wait() first, and then optimizer.step()"
            )

    def _refuse_unsent(self) -> None:
        """Raises where gradients of DistributedDataParallel have changed since the last wait(), and none was sent."""
        gradients = [(id(each.grad), each.grad._version) for each in self._parameters if each.grad is not None]
        has_sent, self._has_sent = self._has_sent, False
        awaited, self._awaited = self._awaited, gradients
        if not has_sent and gradients not in ([], awaited):
            raise FailedPrecondition(
                "wait: nothing was sent since the last wait(), as all backward passes ran under no_sync(): these gradients are this "
                "site's alone; leave the last one outside"
            )

    def _tell_of_nothing(self) -> None:
        """Warns, at the end, where parameters have changed, and no gradient has ever travelled."""
        if not (self._has_ever_sent or self._is_detached) and self._versions != [each._version for each in self._parameters]:
            _log.warning(
                "%s: no gradient was ever sent, so this site has trained alone: backward() goes through what attach() was given, such as "
                "the DistributedDataParallel itself, and not always under no_sync(), or wait() comes before each step", self._name,
            )

    def skip(self, timeout: Optional[Seconds] = None) -> None:
        """Takes part in a step without gradients of this worker, and waits until they are those of the job.

        In place of backward() and wait() where a batch is left out, or after an exception in one of them; go on with what
        comes after wait(), as the others do. With `weighted` this worker counts for nothing in that step, else as one whose
        gradients are zeros. What a backward that failed had sent counts, of which a warning tells. Call it before
        zero_grad(). DistributedDataParallel: after an exception in forward, not in backward, which it cannot go on from;
        of several processes with buffers, or with find_unused_parameters, none can skip alone.
        """
        if self._is_ddp:
            self._refuse_skip_of_ddp()
        if 0 < len(self._started) < len(self._parameters):
            _log.warning(
                "%s: a backward that failed had sent gradients of %d of %d parameters, such as %s, which count",
                self._name, len(self._started), len(self._parameters), self._names[next(iter(self._started))][0],
            )
        value, weight = self.weight, self._weight
        if weight is not None:
            weight.value = 0
        try:
            for parameter in self._parameters:
                if id(parameter) not in self._started:
                    self._begin_sending(parameter, _absent(parameter))
        finally:
            if weight is not None:
                weight.value = value
        self.wait(timeout)

    def _refuse_skip_of_ddp(self) -> None:
        model = self._model
        if model is self._inner:
            raise FailedPrecondition("skip: expected bt.attach(job, ddp), or bt.comm_hook(job, ddp); a hook alone knows no model")
        needs_all = model.find_unused_parameters or model.broadcast_buffers and next(model.buffers(), None) is not None
        if self._is_partly_sent or needs_all and dist.get_world_size(model.process_group) > 1:
            raise FailedPrecondition(
                "skip: expected a DistributedDataParallel whose backward has not begun, and which needs no other process of its "
                "group in each step (no buffers, no find_unused_parameters); end this process, and have it come again with a "
                "State, or attach the module itself"
            )

    @contextlib.contextmanager
    def join(self, finish_step: Callable[[], Any], timeout: Optional[Seconds] = None) -> Iterator[None]:
        """Lets workers have different numbers of steps: `with sync.join(optimizer.step):` around the loop, at all of them.

        Who leaves it takes part in the steps of the others as `skip` does, and calls `finish_step` after each: what comes
        after wait() in the loop. So all leave it after the same step, with the same parameters. After an exception inside
        nobody waits here.
        """
        refuse_left_out("join", self._job.may_leave_out)
        assert self._join_key is not None
        self._join = join = self._join_key
        join.value = 1
        try:
            yield
            join.value = 0
            while True:
                self.skip(timeout)
                if not join.is_anybody:
                    break
                finish_step()
        finally:
            self._join = None
        for parameter in self._parameters:
            parameter.grad = None

    # --- replicas ---

    def watch(self, optimizer: torch.optim.Optimizer) -> None:
        """Has sites compare this optimizer's settings and state as well, where it is of this model. At all sites alike."""
        is_ours = any(id(each) in self._names for group in optimizer.param_groups for each in group["params"])
        if is_ours and optimizer not in self._optimizers:
            self._optimizers = [*self._optimizers, optimizer]

    def _compared(self) -> List[Part]:
        named = [(self._names[id(each)][0], each) for each in self._parameters]
        return parts_of(named, self._optimizers, state=self._job._training_state)

    def _is_due(self, operation: Operation) -> bool:
        """Tells whether replicas are compared after an operation that is done."""
        if not self._has_told_of_others:
            self._has_told_of_others = True
            tell_of_others(self._name, self._optimizers, "is attached")
        return is_due(operation.round, self._check_every)

    def _difference(self, round: int, parts: List[Part], timeout: Optional[Seconds]) -> Optional[Error]:
        """Compares replicas; returns what to raise."""
        self._check_sent = self._check_sent or self._replicas.send(False, parts, self._beside())
        self._check_sent.wait(timeout)
        self._check_sent = None
        if not self._replicas.are_equal_beside:
            self._fixed.warn()
        if self._replicas.are_equal:
            return None
        self._check_every = 0  # all know now
        return self._replicas.explain(self._name, round, parts)

    def _beside(self) -> List[Part]:
        return self._fixed.parts()

    def _difference_after(self, operation: Operation, timeout: Optional[Seconds]) -> Optional[Error]:
        self._sameness.tell()
        if not self._is_due(operation):
            return None
        begun = time.monotonic()
        try:
            return self._difference(operation.round, self._compared(), timeout)
        finally:
            self.checked_seconds += time.monotonic() - begun

    def _compare(self, operation: Operation, timeout: Optional[Seconds]) -> None:
        parted = self._difference_after(operation, timeout)
        if parted is not None:
            raise parted

    def __reduce__(self) -> Any:
        """A copy, as of a DistributedDataParallel that has it as its hook, is one of nothing: it sends nothing."""
        return Copy, ()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulates: backward() sends nothing inside. The next one outside sends the sum."""
        if self._is_ddp:
            with self._model.no_sync():
                yield
            return
        before, self._is_synchronised = self._is_synchronised, False
        try:
            yield
        finally:
            self._is_synchronised = before

    def detach(self) -> None:
        """Lets gradients be this process's own again, or with DistributedDataParallel those of its process group."""
        if self._started:
            raise FailedPrecondition("detach: gradients are on their way, and would come over later ones; call wait() first")
        self._job._attachments.discard(self)
        release(self)
        self._is_detached = True
        self._stager.close()
        self._remove_hooks()

    def _remove_hooks(self) -> None:
        for unhook in self._unhook:
            unhook()
        self._unhook.clear()
        self._accumulators.clear()


class Copy:
    """What a copied attachment is."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise FailedPrecondition(f"{name}: this is a copy of an attachment, which sends nothing; attach() the copied model")


@torch.no_grad()
def _in_order(parameter: torch.nn.Parameter, gradient: torch.Tensor) -> torch.Tensor:
    """Returns a gradient that DDP gives by its size alone with its numbers by their indices: that, or a copy.

    They lie in the order that the parameter had when DDP was made, or made its buckets anew, such as channels_last, which
    nothing tells. The parameter's own gradient has the same numbers.
    """
    own = parameter.grad
    if parameter.is_contiguous() and parameter.dim() < 4:  # of these torch changes no order
        return gradient
    if own is None or own.dtype != gradient.dtype:
        return torch.empty_like(parameter).copy_(gradient) if own is None else gradient.as_strided(own.shape, own.stride())
    return own.detach() if own.data_ptr() == gradient.data_ptr() else own.detach().clone()


def _absent(parameter: torch.nn.Parameter) -> torch.Tensor:
    """Makes what a site sends that has no gradient: zeros below zero, whose sum with anything else is no such zero."""
    return torch.full_like(parameter, -0.0)


def _is_absent(numbers: torch.Tensor) -> bool:
    """Tells, alike at all sites, whether a result is of such zeros alone: then no optimizer may step along it.

    >>> _is_absent(torch.tensor([-0.0, -0.0])), _is_absent(torch.tensor([-0.0, 0.0]))
    (True, False)
    """
    first = numbers.as_strided((1,), (1,)).item()
    return first == 0 and math.copysign(1, first) < 0 and bool(numbers.signbit().all()) and not numbers.any()


def _is_alone(tensor: torch.Tensor) -> bool:
    """Tells whether a tensor has its memory for itself. Others' changes count as its own where it is a part of theirs."""
    storage = getattr(tensor, "untyped_storage", tensor.storage)()  # as torch 2 calls it
    return storage.nbytes() == tensor.numel() * tensor.element_size()


def _refuse_ddp_inside(model: torch.nn.Module) -> None:
    """Refuses a DistributedDataParallel that is not the model itself: it copies gradients over those that are on their way."""
    for name, module in model.named_modules():
        if isinstance(module, DistributedDataParallel):
            raise InvalidArgument(
                f"expected a DistributedDataParallel itself, or none, got {type(model).__name__} with one inside ({name}); call "
                f"attach(job, model.{name})"
            )


def _refuse_sparse(model: torch.nn.Module) -> None:
    """Refuses layers whose gradients are sparse, before anything travels. DistributedDataParallel gives hooks none of them."""
    for name, module in model.named_modules():
        if getattr(module, "sparse", False) is True and any(each.requires_grad for each in module.parameters(recurse=False)):
            raise InvalidArgument(
                f"{name or 'the model'}: expected dense gradients, got a {type(module).__name__} with sparse=True; make it with "
                "sparse=False"
            )


def _copy_of_buffer(buffer: torch.Tensor) -> torch.Tensor:
    """Copies a buffer to the host, small integers and flags as int32, complex numbers as pairs."""
    if buffer.is_complex():
        return torch.view_as_real(buffer.detach().resolve_conj()).to("cpu", copy=True).contiguous()
    is_small = not buffer.is_floating_point() and buffer.dtype not in (torch.int32, torch.int64)
    return buffer.detach().to("cpu", torch.int32 if is_small else buffer.dtype, copy=True).contiguous()


# Without annotations, as torch would compare these texts with types.
def ddp_hook(attachment, bucket):  # type: ignore[no-untyped-def]
    if attachment._is_detached:
        return allreduce_hook(attachment._model.process_group, bucket)
    return attachment._reduce_bucket(bucket)


class _AllDone:
    """Waits for operations by their callbacks, and then takes their results."""

    def __init__(
        self, started: List[Operation], take: Callable[[], torch.Tensor], copies: Copies, timeout: Optional[float]
    ) -> None:
        self._timeout = timeout
        self._timer: Optional[threading.Timer] = None
        self._lock = threading.Lock()
        self._left = len(started)
        self._error: Optional[BaseException] = None
        self._take = take
        self._copies = copies
        self._base: "torch.futures.Future[Any]" = copies.future()
        self._started = started

    def future(self) -> "torch.futures.Future[torch.Tensor]":
        """Returns a future that gets what `take` returns, or the first error, when all are done."""

        # An exception that is set in the future itself would end in a failed cast to a tensor.
        def check(base: Any) -> torch.Tensor:
            if self._error is not None:
                raise self._error
            return base.value()

        future = self._base.then(check)
        started = self._started
        if not started:
            self._end()
        elif self._timeout is not None:
            self._timer = threading.Timer(self._timeout, self._give_up)
            self._timer.daemon = True
            self._timer.start()
        for each in started:
            each.add_done_callback(self._on_done)
        return future

    def _on_done(self, operation: Operation) -> None:
        error: Optional[BaseException] = None
        try:
            operation.result()
        except Exception as caught:
            error = caught
        with self._lock:
            self._error = self._error or error
            self._left -= 1
            is_last = self._left == 0  # never after the wait was given up
        if is_last:
            self._end()

    def _give_up(self) -> None:
        """Ends the wait; on the timer's thread."""
        try:
            for each in self._started:
                each.wait(_ASK_SECONDS)
        except Error as error:
            with self._lock:
                if self._left == 0 or not isinstance(error, Timeout):  # of which the end of the operation tells
                    return
                self._left = -1  # those that end later find no wait
                self._error = Timeout(f"backward() has waited for {self._timeout:g} s; {error}")
            self._base.set_result(torch.zeros(()))

    def _end(self) -> None:
        self._started = []
        if self._timer is not None:
            self._timer.cancel()
        with self._copies.returning():
            try:
                self._base.set_result(torch.zeros(()) if self._error is not None else self._take())
            except Exception as error:
                self._error = error
                self._base.set_result(torch.zeros(()))


class _Group:
    """Parameters in parts that travel as one key. The first process has them whole, in the host's memory."""

    def __init__(self, prefix: str, key: str, named: List[Named], is_first: bool) -> None:
        self.key = key
        self.names = [each for each, _ in named]
        self.wire_names = list(by_wire_name(prefix, named))
        self.whole = [torch.zeros(each.numel(), dtype=each.dtype) for _, each in named] if is_first else []
        self.ticket: Optional[Ticket] = None


class ShardedAttachment(Attachment):
    """A model in parts whose gradients are the job's; made by `attach`. All processes of the group call all of it alike.

    The processes of a site that hold one model are one worker of the job: the first of them has the session. It gathers
    gradients from the others, sends them, and gives each its part of the result. So keys are whole parameters, as those of
    a site that holds its model in one piece, and sites may cut theirs into different numbers of parts. What the first
    process says counts: `weight`, and what it reports.
    """

    def __init__(
        self, job: Optional[Session], model: torch.nn.Module, shard_group: Any, *, key_mb: float = 4,
        name: str = "grad", weighted: bool = False, low_bit: Optional[Chooser] = None, shapes: Optional[Shapes] = None,
        check_every: int = 100, timeout: Optional[Seconds] = None,
    ) -> None:
        self._site = Site(shard_group)
        self._is_first = self._site.rank == 0
        self._timeout = seconds_of(timeout)
        self._inner = model
        self._name = name
        self._by_name = {each: parameter for each, parameter in model.named_parameters() if parameter.requires_grad}
        (op, may_leave_out), self._shapes, self._parts = agree_on_parts(self._site, job, self._by_name, shapes or {})
        refuse_results("attach", op, _RESULTS)
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
        self._names = {
            id(self._by_name[each]): (wire, i)
            for i, group in enumerate(self._groups) for each, wire in zip(group.names, group.wire_names)
        }
        claim(self, "is attached", list(self._by_name.items()))
        self._begin()
        state = owner_of("is of a State", self._by_name.values())
        for optimizer in [] if state is None else state.optimizers:
            self.watch(optimizer)
        # In the order of attachments in one piece, as an init waits for all sites.
        self._is_weighted = weighted
        self._weight: Optional[Weight] = None
        if job is not None:
            agree_on_the_rest(job, name, model, f"weighted={weighted}, check_every={check_every}", is_whole=False)
            self._weight = Weight(job, f"{name}-weight") if weighted else None
            self._init_beside(may_leave_out, check_every)

    def _cut(self, key_mb: float, low_bit: Optional[Chooser]) -> List[_Group]:
        """Cuts whole parameters into groups, as `attach` cuts those of a model in one piece."""
        whole = [
            (each, torch.nn.Parameter(torch.empty(self._shapes[each], dtype=parameter.dtype, device="meta")))
            for each, parameter in self._by_name.items() if math.prod(self._shapes[each]) > 0
        ]
        groups = keyed(self._name, cut(whole, key_mb * _MIB, low_bit), low_bit)
        return [_Group(self._name, key, named, self._is_first) for key, named in groups.items()]

    def _gather(self, group: _Group, values: Mapping[str, torch.Tensor]) -> None:
        """Makes `group.whole` of what the processes have."""
        self._site.gather([self._parts[each] for each in group.names], [values[each] for each in group.names], group.whole)

    def _scatter(
        self, group: _Group, values: Mapping[str, torch.Tensor], error: Optional[Error], note: bool = False
    ) -> bool:
        """Gives each process its part of `group.whole`, and a note, or the news of an error, which it raises."""
        parts, own = [self._parts[each] for each in group.names], [values[each] for each in group.names]
        return self._site.scatter(parts, own, group.whole, error, group.key, note)

    def _begin(self) -> None:
        """Gives all parts the parameters of the lowest worker."""
        for group in self._groups:
            values = {each: row_of(self._by_name[each]) for each in group.names}
            self._gather(group, values)
            error: Optional[Error] = None
            if self._is_first:
                try:
                    held = [self._by_name[each] for each in group.names]
                    begin_alike(self._job, group.key, dict(zip(group.wire_names, group.whole)), held)
                except Error as caught:
                    error = caught
            self._scatter(group, values, error)

    # --- every step ---

    def wait(self, timeout: Optional[Seconds] = None) -> None:
        """Sends the gradients, and waits until they are those of the job; parameters without one take part with zeros.

        After an error in the first process the others raise Unavailable. The job cannot go on with this model then.
        """
        timeout = self._timeout if timeout is None else timeout
        values: Dict[str, torch.Tensor] = {}
        for each, parameter in self._by_name.items():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            values[each] = row_of(parameter.grad)
        sent: Optional[Ticket] = None
        error: Optional[Error] = None
        for priority, group in enumerate(self._groups):
            self._gather(group, values)
            if not self._is_first or error is not None:
                continue
            try:
                if self._weight is not None:
                    sent = sent or self._weight.send()
                    self._weight.multiply(group.whole)
                group.ticket = self._job.push_pull_group(group.key, group.whole, priority=priority)
            except Error as caught:
                error = caught
        is_due = False  # the last group tells
        for group in self._groups:
            error = error or self._finish(group, sent, timeout)
            is_last = group is self._groups[-1]
            is_due = self._scatter(
                group, values, error, is_last and error is None and group.ticket is not None and self._is_due(group.ticket)
            )
        if is_due:
            parts = self._gathered()
            self._site.of_first(lambda: self._compare_parts(parts, timeout))

    def _finish(self, group: _Group, weight: Optional[Ticket], timeout: Optional[Seconds]) -> Optional[Error]:
        if group.ticket is None:
            return None
        try:
            group.ticket.wait(timeout)
            if self._weight is not None and weight is not None:
                weight.wait(timeout)
                self._weight.divide(group.whole)
            return None
        except Error as error:
            return error

    @torch.no_grad()
    def _gathered(self) -> List[Part]:
        """Returns, in the first process, what sites in one piece compare. All take part, one group of tensors after another."""
        states = {id(each): state for optimizer in self._optimizers for each, state in optimizer.state.items()}
        told: Dict[int, Any] = {}  # by ids of tensors

        def gather(names: List[str], tensors: List[torch.Tensor]) -> None:
            whole = [torch.empty(math.prod(self._shapes[each]), dtype=tensors[0].dtype) for each in names if self._is_first]
            self._site.gather([self._parts[each] for each in names], [row_of(each) for each in tensors], whole)
            told.update((id(one), told_of(row.view(self._shapes[each]))) for each, one, row in zip(names, tensors, whole))

        cut = [
            (key, dtype, names) for group in self._groups
            for (key, dtype), names in _cut_states(group.names, self._by_name, states).items()
        ]
        if any(each != cut for each in self._site.agree(cut)):
            cut = []
        for group in self._groups:
            gather(group.names, [self._by_name[each] for each in group.names])
        for key, _, names in cut:
            gather(names, [states[id(self._by_name[each])][key] for each in names])
        if not self._is_first:
            return []
        named = [(self._names[id(each)][0], each) for each in self._by_name.values() if id(each) in self._names]

        def tell(value: Any) -> Any:
            return told.get(id(value), None if hasattr(value, "to_local") else value)  # what is cut otherwise cannot be told

        return parts_of(named, self._optimizers, state=self._job._training_state, tell=tell)

    def _beside(self) -> List[Part]:
        return []  # it is cut as well

    def _compare_parts(self, parts: List[Part], timeout: Optional[Seconds]) -> None:
        assert self._groups[-1].ticket is not None
        parted = self._difference(self._groups[-1].ticket.round, parts, timeout)
        if parted is not None:
            raise parted

    def skip(self, timeout: Optional[Seconds] = None) -> None:
        value, weight = self.weight, self._weight
        if weight is not None:
            weight.value = 0
        for parameter in self._by_name.values():
            parameter.grad = None
        self.wait(timeout)
        if weight is not None:
            weight.value = value

    def join(self, finish_step: Callable[[], Any], timeout: Optional[Seconds] = None) -> Any:
        raise InvalidArgument("join: expected a model in one piece; one in parts says when all end, as docs/pytorch.md has it")

    def no_sync(self) -> Any:
        raise InvalidArgument("no_sync: nothing is sent before wait(), so accumulate as you like and call that once")

    @Attachment.weight.setter
    def weight(self, value: float) -> None:
        if not self._is_weighted:
            raise InvalidArgument("weight: expected attach(..., weighted=True), at all sites alike")
        if self._weight is not None:
            self._weight.value = value

    def report(self, loss: Any, **options: Any) -> None:
        if options.get("optimizer") is not None:
            self.watch(options["optimizer"])
        if self._is_first:
            super().report(loss, **options)

    def sync_buffers(self, timeout: Optional[Seconds] = None) -> None:
        """As of an attachment in one piece; all processes of the group get what the first one has then."""
        self._site.of_first(functools.partial(super().sync_buffers, timeout))
        for each in self._inner.buffers():
            self._site.broadcast(each)

    def detach(self) -> None:
        """Nothing is hooked to the model."""
        release(self)


def _cut_states(
    names: List[str], parameters: Mapping[str, torch.Tensor], states: Mapping[int, Mapping[str, Any]]
) -> Dict[Tuple[str, str], List[str]]:
    """Returns, by the key and the type in an optimizer's state, the parameters whose state has a tensor there that is cut alike."""
    cut: Dict[Tuple[str, str], List[str]] = {}
    for name in names:
        for key, value in sorted(states.get(id(parameters[name]), {}).items()):
            if key != "step" and isinstance(value, torch.Tensor) and value.shape == parameters[name].shape:
                cut.setdefault((key, str(value.dtype)), []).append(name)
    return cut
