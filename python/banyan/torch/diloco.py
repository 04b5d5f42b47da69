"""Local updates: workers train by themselves for many steps, and then move together (DiLoCo, arXiv:2311.08105; its
streaming form, arXiv:2501.18512; local SGD, arXiv:1805.09767), all at once or site by site first (HFA).

What a worker sends is its *outer gradient*: where it began minus where it is. Every worker steps the same outer optimizer
along the same mean, so momentum is everywhere and no death takes it along. How outer gradients are compressed is the
job's: a rule of overlay.yaml for the keys `outer/*`, with error feedback where the codec keeps something back.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
import types
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Union

import torch
import torch.distributed as dist

from ..errors import Error, FailedPrecondition, InvalidArgument, Unavailable
from ..session import Session
from .._ticket import Seconds, Ticket
from ._groups import (
    Fixed, Named, Sameness, agree_on_the_rest, begin_alike, by_wire_name, claim, numbers_of, refuse_left_out, refuse_name, refuse_results,
    refuse_unknown, release, tell_of_others, tell_of_replaced, trained, unwrapped,
)
from ._parts import refuse_parts
from ._replicas import Part, Replicas, parts_of, refuse_to_compare
from ._weight import Weight

_log = logging.getLogger("banyan")
OuterOptimizer = Callable[[Iterable[torch.Tensor]], torch.optim.Optimizer]


def Nesterov(lr: float = 0.7, momentum: float = 0.9) -> OuterOptimizer:
    """Returns DiLoCo's outer optimizer: SGD with Nesterov momentum. Any other torch optimizer goes likewise."""
    return lambda parameters: torch.optim.SGD(parameters, lr=lr, momentum=momentum, nesterov=momentum > 0)


class _Fragment:
    """A part of the model that is synchronised at once."""

    def __init__(self, job: Session, key: str, named: List[Named], outer: OuterOptimizer, is_mean: bool) -> None:
        self.key = key
        self.names = [name for name, _ in named]
        self.parameters = [each for _, each in named]
        begin_alike(job, key, by_wire_name(key, named), self.parameters)
        self.begin = [torch.nn.Parameter(_wide(each).clone()) for each in self.parameters]
        for begin, each in zip(self.begin, self.parameters):
            if id(each) in job._replaced:
                job._replaced[id(begin)] = job._replaced.pop(id(each))
        self.gradients = [torch.zeros_like(each) for each in self.begin]
        self.optimizer = outer(self.begin)
        self.sameness = Sameness(job, key, self.parameters, is_on=is_mean)
        self.ticket: Optional[Ticket] = None
        self.weight_ticket: Optional[Ticket] = None
        self.check_ticket: Optional[Ticket] = None
        self.started_at = 0
        self.due = 0  # rounds that are to be started, the first when none is pending

    @torch.no_grad()
    def restart(self) -> None:
        """Sets what all have to the model."""
        for begin, now in zip(self.begin, self.parameters):
            begin.copy_(_wide(now))

    @torch.no_grad()
    def start(self, job: Session, step: int, weight: Optional[Weight]) -> None:
        """Sends how far this worker has come since the last time, and how much that counts. None is pending."""
        for gradient, begin, now in zip(self.gradients, self.begin, self.parameters):
            torch.sub(begin, _wide(now), out=gradient)
            self.sameness.sent(now, gradient)
        if weight is not None:
            weight.multiply(self.gradients)
            # One that was sent by a start that found no room for the rest stands.
            self.weight_ticket = self.weight_ticket or weight.send()
        self.started_at = step
        self.ticket, self.due = job.push_pull_group(self.key, self.gradients), max(self.due - 1, 0)

    @torch.no_grad()
    def finish(self, alpha: float, timeout: Optional[Seconds], weight: Optional[Weight]) -> None:
        """Waits for the mean, steps along it, and blends the result into the model."""
        assert self.ticket is not None
        self.ticket.wait(timeout)
        for each, gradient in zip(self.parameters, self.gradients):
            self.sameness.came(each, gradient)
        if weight is not None and self.weight_ticket is not None:
            self.weight_ticket.wait(timeout)
            weight.divide(self.gradients)
        self.ticket = self.weight_ticket = None
        for begin, gradient in zip(self.begin, self.gradients):
            begin.grad = gradient
        self.optimizer.step()
        self.load(alpha)

    @torch.no_grad()
    def load(self, alpha: float = 0.0) -> None:
        """Sets the model to what all have, but for a share `alpha` of what this worker has."""
        for begin, now in zip(self.begin, self.parameters):
            numbers = numbers_of(now)
            numbers.copy_(alpha * numbers + (1 - alpha) * begin if alpha else begin)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """Returns numbers in float32, or in float64 where they are of that."""
    numbers = numbers_of(tensor.detach())
    return numbers if numbers.dtype == torch.float64 else numbers.float()


class DiLoCo:
    """Trains a model with `inner` by itself, and every `sync_every` steps together with the job.

    Counts the steps of `inner` by itself. With `fragments` above 1 these parts take turns, spread over `sync_every`
    steps. What a fragment has sent is waited for `fragment_sync_delay` steps later, while training goes on; the result
    is then mixed with a share `fragment_update_alpha` of what the worker has. Fragments may also be given as modules:
    what is in none of them belongs to the first.

    With `weighted` workers count by what `weight` is set to, such as samples or tokens. The job must count all of them in
    each round: no quorum, no skipping.

    After a Timeout or Ctrl-C the step of `inner` was taken, and the round goes on: the next step waits for it again.

    In each round workers compare digests of what they have alike: outer parameters, the
    outer optimizer and these settings. Where they differ, all raise FailedPrecondition, which says who and what. `check=False`
    turns that off, at all sites alike; sites in C++ need it.

    A step that is not taken counts by `skip()`; data that ends earlier at one site needs `join()`. `with DiLoCo(...) as outer:`
    ends with `flush()`, and lets `inner` go.

    The job's `aggregation.op` is mean; with `weighted` it may be sum as well. All workers construct it alike, and step
    equally often. A warning tells where frozen parameters and buffers differ from those of the lowest worker.

    >>> import banyan
    >>> model = torch.nn.Linear(2, 1)
    >>> inner = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> outer = DiLoCo(banyan.solo(), model, inner, Nesterov(lr=0.7, momentum=0.9), sync_every=2)
    >>> for _ in range(4):
    ...     inner.zero_grad()
    ...     model(torch.ones(1, 2)).sum().backward()
    ...     _ = inner.step()
    >>> outer.local_step, outer.outer_step
    (4, 2)
    """

    def __init__(
        self, job: Session, model: torch.nn.Module, inner: torch.optim.Optimizer, outer: Optional[OuterOptimizer] = None,
        *, sync_every: int = 100, fragments: Union[int, Sequence[torch.nn.Module]] = 1, fragment_sync_delay: int = 0,
        fragment_update_alpha: float = 0.0, name: str = "outer", timeout: Optional[Seconds] = None, weighted: bool = False,
        check: bool = True, outer_optimizer: Optional[OuterOptimizer] = None,
    ) -> None:
        if outer is not None and outer_optimizer is not None:
            raise InvalidArgument("outer_optimizer: expected none beside outer, which is the same")
        outer = outer or outer_optimizer
        _check_kinds(inner, outer, sync_every=sync_every, fragment_sync_delay=fragment_sync_delay)
        # Weighted workers divide by what comes of their weights, and so know a mean of sums as well.
        refuse_results(type(self).__name__, job.aggregation_op, ("mean", "sum") if weighted else ("mean",))
        refuse_left_out("weighted", weighted and job.may_leave_out)
        model = unwrapped(model)
        refuse_parts(type(self).__name__, model)
        refuse_name(job, name)
        parts = split(model, fragments)
        claim(self, "has local updates", [each for named in parts for each in named])
        _check(sync_every, len(parts), fragment_sync_delay, fragment_update_alpha)
        self._job = job
        self.inner = inner
        self._name = name
        self.delay = fragment_sync_delay
        self._alpha = fragment_update_alpha
        self._timeout = timeout
        self.sync_every = sync_every
        self.local_step = 0
        self.outer_step = 0  # rounds of all fragments
        self.waited_seconds = 0.0  # for results, in all
        self.sent_elements = 0  # by this worker, in all
        self.fragments = [
            _Fragment(job, f"{name}/{i}", named, outer or Nesterov(), not (weighted or job.may_leave_out))
            for i, named in enumerate(parts)
        ]
        # One for each fragment, as several may be under way.
        self._weights = [Weight(job, f"{name}-weight/{i}") if weighted else None for i in range(len(parts))]
        self._is_checked = check and not job.may_leave_out  # a site that is left out has other outer parameters
        self._is_active = True  # this worker has data
        self._is_anybody_active = True
        self._settings = [
            type(self).__name__, f"sync_every={sync_every}", f"fragments={len(parts)}",
            f"fragment_sync_delay={fragment_sync_delay}", f"fragment_update_alpha={fragment_update_alpha}",
        ]
        if not agree_on_the_rest(job, name, model, f"check={check}") and self._is_checked:
            refuse_to_compare(f"{name}: the lowest worker of the job compares nothing")
        self._replicas = [Replicas(job, f"{name}-check/{i}") for i in range(len(parts)) if self._is_checked]
        self._fixed = Fixed(model, name)
        self._versions = [each._version for part in self.fragments for each in part.parameters]
        job._at_end.append(self._tell_of_nothing)
        self._model = model
        self._known = {id(each) for fragment in self.fragments for each in fragment.parameters}
        self._unhook = _call_around_step(inner, self._before_step, self._on_step)

    @property
    def weight(self) -> float:
        """How much this worker's outer gradients count: its samples or tokens. Needs `weighted=True` at all workers."""
        return 1.0 if self._weights[0] is None else self._weights[0].value

    @weight.setter
    def weight(self, value: float) -> None:
        for each in self._weights:
            if each is None:
                raise FailedPrecondition("weight: expected weighted=True, at all sites alike")
            each.value = value

    @property
    def is_pending(self) -> bool:
        """Tells whether a fragment has been sent whose result is not in yet, or is to be sent."""
        return any(fragment.ticket is not None or fragment.due > 0 for fragment in self.fragments)

    def _before_step(self) -> None:
        """Begins where the model is: a checkpoint may have been loaded since."""
        if self.local_step == 0:
            for fragment in self.fragments:
                fragment.restart()

    def _on_step(self) -> None:
        self.local_step += 1
        if self.local_step == 1:
            tell_of_others(self._name, [self.inner], "has local updates")
            self._tell_of_what_is_stepped_elsewhere()
        if self._job._replaced:
            tell_of_replaced(self._job, self._name)
        if self.local_step == 1 and getattr(self._job, "_late_after", 0) > 0:
            # Else it would hear that at its first synchronisation.
            raise FailedPrecondition(
                f"{type(self).__name__}: the job is past round {self._job._late_after}, and this worker has not got its "
                "training state: call bt.State(...).sync() before the first step, or job.share_state({}) to begin without"
            )
        for i, fragment in enumerate(self.fragments):
            if self.local_step % self.sync_every == i * self.sync_every // len(self.fragments):
                fragment.due += 1
        if any(fragment.due > 0 for fragment in self.fragments):
            refuse_unknown(self._model, self._known)
        # One that fails holds no other up: all sites do the same rounds.
        first: Optional[Error] = None
        for i in range(len(self.fragments)):
            try:
                self._do_due(i)
            except Error as error:
                first = first or error
        if first is not None:
            raise first

    def _tell_of_what_is_stepped_elsewhere(self) -> None:
        """Warns of parameters of the model that `inner` does not train."""
        stepped = {id(each) for group in self.inner.param_groups for each in group["params"]}
        left = [name for part in self.fragments for name, each in zip(part.names, part.parameters) if id(each) not in stepped]
        if left:
            _log.warning(
                "%s: inner does not train %d parameters of the model, such as %s: another optimizer of theirs has to step before it, as "
                "a round begins with its step", self._name, len(left), left[0],
            )

    def _tell_of_nothing(self) -> None:
        """Warns, once, where parameters have changed, and no step has been seen."""
        before, self._versions = self._versions, [each._version for part in self.fragments for each in part.parameters]
        if self.local_step == 0 and self._versions != before:
            _log.warning("%s: no step of the optimizer has been seen; was it made anew? Nothing was trained together", self._name)

    def _do_due(self, i: int) -> None:
        """Finishes and starts what is due. A round whose wait was given up comes first: no other overwrites it."""
        fragment = self.fragments[i]
        while True:
            if fragment.ticket is not None:
                if fragment.due == 0 and self.local_step < fragment.started_at + self.delay:
                    return
                self._finish(i)
            if fragment.due == 0:
                return
            self._start(i)

    def _start(self, i: int) -> None:
        fragment = self.fragments[i]
        if self._replicas and fragment.check_ticket is None:  # else of a start that found no room for the rest
            fragment.check_ticket = self._replicas[i].send(
                self._is_active, self._compared(fragment) if self._is_checked else [],
                self._fixed.parts() if i == 0 else [],
            )
        fragment.start(self._job, self.local_step, self._weights[i])
        self.sent_elements += sum(each.numel() for each in self.fragments[i].gradients)

    def _finish(self, i: int) -> None:
        begun = time.monotonic()
        fragment = self.fragments[i]
        if fragment.check_ticket is not None:
            fragment.check_ticket.wait(self._timeout)
            self._compare(i, fragment.check_ticket.round)
        fragment.finish(self._alpha, self._timeout, self._weights[i])
        if i == 0 and self._replicas:
            self._is_anybody_active = self._replicas[0].is_anybody_active
        fragment.check_ticket = None
        fragment.sameness.tell()
        self.waited_seconds += time.monotonic() - begun
        self.outer_step += 1

    def _compared(self, fragment: _Fragment) -> List[Part]:
        """Returns what all workers have alike between rounds."""
        named = list(zip(fragment.names, fragment.begin))
        return parts_of(named, [fragment.optimizer], self._settings, state=self._job._training_state)

    def _compare(self, i: int, round: int) -> None:
        """Raises, at all workers, where one began a round with other numbers than the others; once."""
        if not self._replicas[i].are_equal_beside:
            self._fixed.warn()
        if self._is_checked and not self._replicas[i].are_equal:
            self._is_checked = False
            parted = self._replicas[i].explain(self.fragments[i].key, round, self._compared(self.fragments[i]))
            if parted is not None:
                raise parted

    def skip(self) -> None:
        """Counts a step of `inner` that is not taken: a batch that is left out or failed, or one that GradScaler skips."""
        self._before_step()
        self._on_step()

    @contextlib.contextmanager
    def join(self) -> Iterator[None]:
        """Lets workers have different numbers of steps: `with outer.join():` around the loop, at all of them.

        Who leaves it takes part in the rounds of the others, at first with what it has come to, until the first round for
        which no worker has data. So all end with the same parameters. After an exception inside nobody waits here.
        """
        refuse_left_out("join", self._job.may_leave_out)
        if not self._replicas:
            raise FailedPrecondition("join: expected check=True, at all sites alike, as that tells who has data")
        self._is_active = self._is_anybody_active = True
        yield
        self._is_active = False
        skipped, weight = 0, self.weight
        while self._is_anybody_active:
            self.skip()
            skipped += 1
            if skipped == self.sync_every and self._weights[0] is not None:
                self.weight = 0  # all that it had has been sent
        self.flush()
        if self._weights[0] is not None:
            self.weight = weight

    def flush(self) -> None:
        """Waits for what is under way, at the end of training."""
        self._tell_of_nothing()
        for i, fragment in enumerate(self.fragments):
            self._do_due(i)
            if fragment.ticket is not None:
                self._finish(i)
        left = self.local_step % self.sync_every
        if left > 0 and len(self.fragments) == 1:
            _log.warning(
                "%s: this site alone has what its last %d steps came to, as rounds are each %d", self._name, left, self.sync_every
            )

    def detach(self) -> None:
        """Lets `inner` train alone again, without rounds."""
        self._unhook()
        release(self)

    def __enter__(self) -> "DiLoCo":
        return self

    def __exit__(self, kind: Optional[type], *_: Any) -> None:
        if kind is None:
            self.flush()
        self.detach()

    def state_dict(self) -> Dict[str, Any]:
        """Returns what sites have alike, for a checkpoint beside those of the model and of `inner`. While no round is pending."""
        if self.is_pending:
            raise FailedPrecondition(
                "state_dict: a round is under way; call flush() at all sites, or take it between two rounds"
            )
        return {
            "steps": [self.local_step, self.outer_step],
            "fragments": [
                {"begin": [each.detach().clone() for each in fragment.begin], "optimizer": fragment.optimizer.state_dict()}
                for fragment in self.fragments
            ],
        }

    @torch.no_grad()
    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Sets it, at all sites alike; the model's own state is loaded after this has been made."""
        self.local_step, self.outer_step = state["steps"]
        for fragment, saved in zip(self.fragments, state["fragments"]):
            for begin, value in zip(fragment.begin, saved["begin"]):
                begin.copy_(value)
            fragment.optimizer.load_state_dict(saved["optimizer"])

    def __reduce__(self) -> Any:
        raise FailedPrecondition(
            f"{type(self).__name__}: it cannot be copied, as it holds a session; copy the model and the optimizer, and save what "
            "the sites have alike by a State or state_dict()"
        )


class StreamingDiLoCo(DiLoCo):
    """DiLoCo whose fragments take turns while training goes on, with the defaults of its paper: four fragments, results
    awaited five steps later, half of each worker's own kept."""

    def __init__(
        self, job: Session, model: torch.nn.Module, inner: torch.optim.Optimizer, outer: Optional[OuterOptimizer] = None,
        *, fragments: Union[int, Sequence[torch.nn.Module]] = 4, fragment_sync_delay: int = 5,
        fragment_update_alpha: float = 0.5, **options: Any,
    ) -> None:
        super().__init__(
            job, model, inner, outer, fragments=fragments, fragment_sync_delay=fragment_sync_delay,
            fragment_update_alpha=fragment_update_alpha, **options,
        )


class LocalSGD(DiLoCo):
    """Averages the workers' parameters every `sync_every` steps."""

    def __init__(
        self, job: Session, model: torch.nn.Module, inner: torch.optim.Optimizer, *, sync_every: int = 8, **options: Any
    ) -> None:
        super().__init__(job, model, inner, Nesterov(lr=1.0, momentum=0.0), sync_every=sync_every, **options)


class HFA(LocalSGD):
    """Averages on two levels, as HFA of GeoMX does: every `k1` steps the workers of a site, every `k1 * k2` all of the job.

    `process_group` is torch's group of the workers of this site, where averages cost little; by default the one that
    `torch.distributed` has. Every one of them is a worker of the site's node.
    """

    def __init__(
        self, job: Session, model: torch.nn.Module, inner: torch.optim.Optimizer, *, k1: int = 20, k2: int = 10,
        process_group: Any = None, **options: Any,
    ) -> None:
        if k1 < 1 or k2 < 1:
            raise InvalidArgument(f"HFA: expected k1 and k2 of at least 1, got {k1} and {k2}")
        super().__init__(job, model, inner, sync_every=k1 * k2, **options)
        self._k1 = k1
        self._group = process_group

    def _on_step(self) -> None:
        if (self.local_step + 1) % self._k1 == 0:
            self._average_in_group()
        super()._on_step()

    @torch.no_grad()
    def _average_in_group(self) -> None:
        workers = dist.get_world_size(self._group)
        for fragment in self.fragments:
            for each in fragment.parameters:
                try:
                    dist.all_reduce(numbers_of(each.div_(workers)), group=self._group)
                except RuntimeError as error:
                    raise Unavailable(
                        f"HFA: a worker of this site has gone, or steps otherwise, in the average of step {self.local_step + 1} within the "
                        f"site: {error}. The others' parameters are lost in part: end all processes of this site, and let them come again "
                        "with a State"
                    ) from None


def split(model: torch.nn.Module, fragments: Union[int, Sequence[torch.nn.Module]]) -> List[List[Named]]:
    """Splits a model's parameters: by modules, or a number of fragments that take the blocks in turn.

    The blocks are those of the list of modules that has the most parameters, and enough modules with any. What is outside
    of them belongs to the first fragment.

    >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    >>> [[name for name, _ in part] for part in split(model, 2)]
    [['0.weight', '0.bias', '2.weight', '2.bias'], ['1.weight', '1.bias']]
    """
    named = trained(model)
    if isinstance(fragments, int):
        blocks = _blocks_of(model, fragments)
        owners = {id(each): i % fragments for i, block in enumerate(blocks) for each in block.parameters()}
        count = fragments
    else:
        owners = {id(each): i for i, module in enumerate(fragments) for each in module.parameters()}
        count = len(fragments)
    if not named or count < 1:
        raise InvalidArgument("fragments: expected at least one, and a model with parameters that are trained")
    parts: List[List[Named]] = [[] for _ in range(count)]
    for name, each in named:
        parts[owners.get(id(each), 0)].append((name, each))
    if not all(parts):
        raise InvalidArgument("fragments: each needs parameters that are trained, and one has none")
    return parts


def _blocks_of(model: torch.nn.Module, fragments: int) -> List[torch.nn.Module]:
    """Returns the blocks to share out; none are needed for one fragment."""
    if fragments == 1:
        return []
    lists = [
        [child for child in each if next(child.parameters(), None) is not None]
        for each in model.modules() if isinstance(each, (torch.nn.ModuleList, torch.nn.Sequential))
    ]
    long_enough = [each for each in lists if len(each) >= fragments]
    if not long_enough:
        raise InvalidArgument(
            f"fragments={fragments}: expected a ModuleList or Sequential in the model with as many modules, and the longest "
            f"has {max(map(len, lists), default=0)}; give the modules themselves"
        )
    return max(long_enough, key=lambda blocks: sum(each.numel() for block in blocks for each in block.parameters()))


def _check_kinds(inner: Any, outer: Any, **steps: Any) -> None:
    if not hasattr(inner, "step"):
        raise InvalidArgument(f"inner: expected an optimizer, got {type(inner).__name__}")
    if outer is not None and not callable(outer):
        raise InvalidArgument(f"outer: expected a maker of an optimizer, such as bt.Nesterov(), got {type(outer).__name__}")
    for name, value in steps.items():
        if not isinstance(value, int):
            raise InvalidArgument(f"{name}: expected a whole number of steps, got {value!r}")


def _check(sync_every: int, fragments: int, delay: int, alpha: float) -> None:
    if sync_every < fragments:
        raise InvalidArgument(f"sync_every: expected at least one step for each of {fragments} fragments, got {sync_every}")
    if not 0 <= delay < sync_every:
        raise InvalidArgument(f"fragment_sync_delay: expected 0 to below sync_every={sync_every}, got {delay}")
    if not 0 <= alpha < 1:
        raise InvalidArgument(f"fragment_update_alpha: expected 0 to below 1, got {alpha}")


def _call_around_step(
    optimizer: torch.optim.Optimizer, before: Callable[[], None], after: Callable[[], None]
) -> Callable[[], None]:
    """Calls `before` and `after` each step of an optimizer, until what it returns is called."""
    # What wraps an optimizer, as accelerate does, may have the one and not the other.
    if hasattr(optimizer, "register_step_post_hook") and hasattr(optimizer, "_optimizer_step_post_hooks"):
        begin = optimizer.register_step_pre_hook(lambda *_: before())
        end = optimizer.register_step_post_hook(lambda *_: after())

        def unhook() -> None:
            begin.remove()
            end.remove()

        return unhook
    # As the learning rate schedulers of torch do: on this one object, as a method, and marked as theirs where it is.
    step = optimizer.step
    called = [(before, after)]

    @functools.wraps(step)
    def step_and_call(_: torch.optim.Optimizer, *arguments: Any, **named: Any) -> Any:
        for each, _ in called:
            each()
        result = step(*arguments, **named)
        for _, each in called:
            each()
        return result

    setattr(optimizer, "step", types.MethodType(step_and_call, optimizer))
    return called.clear
