"""A worker's whole training state, so that one that comes late, or again, begins where the others are."""

from __future__ import annotations

import collections
import functools
import json
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

import torch

from ..errors import FailedPrecondition, InvalidArgument, NotFound
from ..session import Session
from .._ticket import Seconds
from ._copies import copy_where_it_differs, mirror_of
from ._groups import note, owner_of, plain_name, unwrapped
from ._optimizers import NUMBERS, SharedOptimizer, set_settings, settings_of, states_of
from ._newest import take_newest
from ._parts import Part as Slice, Shapes, Site, agree_on_parts, required, row_of, shard_group_of
from ._replicas import Part, digests_of
from .diloco import DiLoCo

_FACTS_BYTES = 1 << 16
_BATCH_BYTES = 4 << 20


class State:
    """The training state of a worker: what all have alike after a step.

    With an `optimizer` alone: the model, its buffers and the optimizer's state. With an `outer` (DiLoCo): what all have
    alike there, which is the outer parameters and the outer optimizer; who comes late gets its model from them, and
    begins with a fresh inner optimizer. In both cases also `step`, learning rates, and a `scheduler`.

        state = bt.State(job, model=model, optimizer=optimizer)
        state.sync()                       # after attach or DiLoCo, before the first step
        while state.step < steps:
            ...train a step...
            state.advance()                # after each step

    A worker that asks for the state makes the others wait in `advance` until it has it; what lies on a GPU is copied to
    the host then, and not otherwise. Optimizers have tensors and numbers in their state, and steps without a closure.

    Several models, as GAN have, are of one state: `model`, `optimizer`, `outer` and `scheduler` may be lists.

    Models in parts: as with `attach`, all processes that hold one make a state, with None as `job` in all but the first,
    and with the same `shard_group` and `shapes`. The state is gathered in the first one's memory when somebody asks for it.
    """

    def __new__(
        cls, job: Optional[Session] = None, *, model: Any, shard_group: Any = None, **_: Any
    ) -> "State":
        is_cut = cls is State and (shard_group is not None or shard_group_of(_joined(model)) is not None)
        return super().__new__(ShardedState if is_cut else cls)

    def __init__(
        self, job: Optional[Session], *, model: Any, optimizer: Any = None, outer: Any = None, scheduler: Any = None,
        step: int = 0, shard_group: Any = None, shapes: Optional[Shapes] = None,
    ) -> None:
        self._begin(required(job), scheduler, step)
        self._outers = _listed(outer)
        for each in self._outers:
            _refuse_busy(each)
        self.optimizers = _listed(optimizer)
        for each in self.optimizers:
            for attachment in list(self._job._attachments):
                attachment.watch(each)
        outers = [fragment.optimizer for each in self._outers for fragment in each.fragments]
        self._optimizers = [SharedOptimizer(each) for each in outers or self.optimizers]
        self._add_tensors(_joined(model))
        for number, each in enumerate(self._optimizers):
            self._parts.update({f"optimizer/{number}/{name}": part for name, part in each.parts.items()})
        self._encode()

    def sync(self, timeout: Optional[Seconds] = None) -> bool:
        """Takes the others' state, if there is a newer one; returns whether there was. Once, before the first step.

        When the job begins all workers say which step they have: the newest counts, whoever has it, and where two have
        different states of that step all raise FailedPrecondition. All sites call it then, or none.
        Raises DataLoss where the job has trained, and all that had its state are gone: begin another job then.
        """
        has_taken = is_changed = self._of_first(functools.partial(self._fetch, timeout))
        if not has_taken:
            self._encode()
            has_taken, is_changed = self._of_first(functools.partial(self._agree, timeout))
        if is_changed:
            self._decode()
        return has_taken

    def _agree(self, timeout: Optional[Seconds]) -> Tuple[bool, bool]:
        """Takes the newest state that workers have when the job begins; returns whether that is another's, and changed."""
        is_changed = self.step > 0 and self._take_back()
        told = [part for name, part in self._parts.items() if name != "facts" and name not in self._own_parts]
        digest = digests_of([Part("", "", told)])[0] if self.step > 0 else 0
        has_taken = take_newest(self._job, self.step, digest, self._parts, timeout)
        if self.step > 0 or has_taken:
            self._job._replaced.clear()
        return has_taken, is_changed or has_taken

    @torch.no_grad()
    def _take_back(self) -> bool:
        """Makes what this worker had before it got the lowest worker's parameters its state again; returns whether it had."""
        kept = [(shared, self._job._replaced.get(id(get()))) for get, shared in self._shared]
        for shared, own in kept:
            if own is not None:
                shared.copy_(own.view_as(shared))
        return any(own is not None for _, own in kept)

    def advance(self, timeout: Optional[Seconds] = None) -> None:
        """Counts a step that is done. While an outer gradient is under way nobody can be given the state."""
        self.step += 1
        for optimizer in self._optimizers:
            optimizer.refuse_more()
        if any(each.is_pending for each in self._outers):
            return
        if self._of_first(lambda: self._job.boundary_is_held()):
            self._encode()
            self._of_first(lambda: self._job.pass_boundary(self.step, timeout))

    def _of_first(self, call: Callable[[], Any]) -> Any:
        """Returns what a call gives in the process that has the session."""
        return call()

    def _fetch(self, timeout: Optional[Seconds]) -> bool:
        """Takes the others' parts; returns whether there were any."""
        self._job.share_state(self._parts)
        self._is_shared = True
        try:
            self._job.fetch_state(timeout)
        except NotFound:
            return False
        self._job._replaced.clear()
        return True

    def _begin(self, job: Optional[Session], scheduler: Any, step: int) -> None:
        self.step = step
        self.begun = step  # the step at which this worker began, or the one did that has given it the state
        self.optimizers: List[torch.optim.Optimizer] = []
        self._job: Any = job
        self._is_shared = False
        if job is not None:
            if job._training_state is not None and job._training_state._is_shared:
                raise FailedPrecondition(
                    "State: this session has one already; give that all models: State(job, model=[one, other], optimizer=[...])"
                )
            job._training_state = self
        self._outers: List[DiLoCo] = []
        self._schedulers = _listed(scheduler)
        self._facts = bytearray(_FACTS_BYTES)
        self._parts: Dict[str, Any] = {"facts": self._facts}
        # Where a tensor of the state is now, and the memory that others read, which may be the same.
        self._shared: List[Tuple[Callable[[], torch.Tensor], torch.Tensor]] = []
        self._own_parts: Set[str] = set()  # buffers, which sites may have of their own until they take others'

    def _add_tensors(self, model: torch.nn.Module) -> None:
        if not self._outers:
            for name, _ in model.named_parameters():
                self._add(f"model/{plain_name(name)}", functools.partial(model.get_parameter, name))
            for name, _ in model.named_buffers():
                self._own_parts.add(f"model/{plain_name(name)}")
                self._add(f"model/{plain_name(name)}", functools.partial(model.get_buffer, name))
        else:
            for fragment in [each for outer in self._outers for each in outer.fragments]:
                for i, tensor in enumerate(fragment.begin):
                    self._add(f"{fragment.key}/{i}", lambda tensor=tensor: tensor)

    def _add(self, name: str, get: Callable[[], torch.Tensor]) -> None:
        tensor = get().detach()
        if tensor.numel() == 0:
            return
        if tensor.device.type != "cpu" or not tensor.is_contiguous():
            tensor = mirror_of(tensor)
        self._shared.append((get, tensor))
        self._parts[name] = tensor

    def _encode_facts(self) -> None:
        facts: Dict[str, Any] = {
            "step": self.step, "begun": self.begun, "groups": [each.settings() for each in self._optimizers],
            "schedulers": [each.state_dict() for each in self._schedulers],
            "outers": [[each.local_step, each.outer_step, settings_of(each.inner)] for each in self._outers],
        }
        text = json.dumps(_plain("state", facts)).encode()
        if len(text) > len(self._facts):
            raise InvalidArgument(f"the settings of optimizers and scheduler take {len(text)} bytes of {len(self._facts)}")
        self._facts[:] = text.ljust(len(self._facts))

    @torch.no_grad()
    def _encode(self) -> None:
        self._encode_facts()
        devices = {copy_where_it_differs(get(), shared) for get, shared in self._shared}
        for device in devices.union(*(each.encode() for each in self._optimizers)):
            if device.type == "cuda":
                torch.cuda.current_stream(device).synchronize()

    @torch.no_grad()
    def _decode(self) -> None:
        facts = _revived(json.loads(self._of_first(lambda: self._facts.decode())))
        self.step, self.begun = facts["step"], facts["begun"]
        for optimizer, settings in zip(self._optimizers, facts["groups"]):
            optimizer.decode(settings)
        self._decode_tensors()
        for scheduler, told in zip(self._schedulers, facts["schedulers"]):
            scheduler.load_state_dict(told)
        for outer, (local_step, outer_step, settings) in zip(self._outers, facts["outers"]):
            outer.local_step, outer.outer_step = local_step, outer_step
            set_settings(outer.inner, settings)
            for fragment in outer.fragments:
                fragment.load()

    def _decode_tensors(self) -> None:
        for get, shared in self._shared:
            copy_where_it_differs(shared, get())


def _listed(given: Any) -> List[Any]:
    return [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]


def _joined(model: Any) -> torch.nn.Module:
    models = [unwrapped(each) for each in _listed(model)]
    return models[0] if len(models) == 1 else torch.nn.ModuleList(models)


def _refuse_busy(outer: DiLoCo) -> None:
    """Refuses local updates of which some fragment is always under way: nobody could be given the state."""
    every, count = outer.sync_every, len(outer.fragments)
    starts = [i * every // count for i in range(count)] + [every]
    longest = max(after - before for before, after in zip(starts, starts[1:]))
    if outer.delay >= longest:
        raise InvalidArgument(
            f"State: expected fragment_sync_delay below {longest}, the steps between two of {count} fragments in sync_every={every}, "
            f"got {outer.delay}: something would always be under way, and nobody could come late"
        )


def _plain(where: str, value: Any) -> Any:
    """Makes of a value what JSON can hold and `_revived` turns back. `where` it stands, for errors.

    What the state of a scheduler has of functions is the same at all sites, and left out.

    >>> state = {"milestones": collections.Counter([3, 3, 6]), "betas": (0.9, 0.99), "anneal": print}
    >>> _revived(json.loads(json.dumps(_plain("state", state))))
    {'milestones': Counter({3: 2, 6: 1}), 'betas': (0.9, 0.99)}
    """
    if value is None or isinstance(value, (str, *NUMBERS)):
        return value
    if hasattr(value, "item") and getattr(value, "size", None) is not None and getattr(value, "ndim", 1) == 0:
        return value.item()
    if isinstance(value, (list, tuple)):
        items = [_plain(f"{where}[{i}]", each) for i, each in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, dict):
        held = {name: each for name, each in value.items() if not _is_code(each)}
        kind = "Counter" if isinstance(value, collections.Counter) else "dict"
        return {kind: [[_plain(where, name), _plain(f"{where}.{name}", each)] for name, each in held.items()]}
    raise InvalidArgument(f"{where}: expected numbers, texts, lists and dictionaries, got {type(value).__name__}")


def _is_code(value: Any) -> bool:
    return isinstance(value, weakref.ref) or (callable(value) and not isinstance(value, (torch.Tensor, dict)))


def _revived(value: Any) -> Any:
    if isinstance(value, list):
        return [_revived(each) for each in value]
    if not isinstance(value, dict):
        return value
    ((kind, items),) = value.items()
    if kind == "tuple":
        return tuple(_revived(each) for each in items)
    made = {_revived(name): _revived(each) for name, each in items}
    return collections.Counter(made) if kind == "Counter" else made


class _Cut(NamedTuple):
    """A tensor of which each process holds a part."""

    get: Callable[[], Optional[torch.Tensor]]  # this process's part, or None where there is none yet
    parts: List[Slice]
    like: torch.Tensor  # of the same type and place
    whole: Optional[torch.Tensor]  # in the first process

    @property
    def size(self) -> int:
        """Bytes of the whole."""
        return sum(part.count for part in self.parts) * self.like.element_size()


class ShardedState(State):
    """A state of a model in parts; made by `State`. All processes of the group call all of it alike.

    The first process of the site has the session, and with it the whole state in the host's memory: what the processes
    hold is gathered there when another worker asks for it. So a state is the same, whatever the number of parts, and sites
    may differ in that. After an error in the first process the others raise Unavailable.
    """

    def __init__(
        self, job: Optional[Session], *, model: Any, optimizer: Any = None, outer: Any = None, scheduler: Any = None,
        step: int = 0, shard_group: Any = None, shapes: Optional[Shapes] = None,
    ) -> None:
        model = _joined(model)
        if outer is not None:
            raise InvalidArgument("outer: expected none, as local updates are of models in one piece; give the optimizer")
        if len(_listed(optimizer)) > 1:
            raise InvalidArgument("optimizer: expected one for a model in parts, got a list")
        self._site = Site(shard_group if shard_group is not None else shard_group_of(model))
        self._cuts: List[_Cut] = []
        self._buffers = [each for _, each in model.named_buffers() if each.numel() > 0]
        parameters = dict(model.named_parameters())
        _, _, self._parts_by_name = agree_on_parts(self._site, job, parameters, shapes or {})
        self._names = {id(each): name for name, each in parameters.items()}
        self._begin(job, scheduler, step)
        for name, each in parameters.items():
            self.add_cut(f"model/{name}", name, lambda each=each: each, each)
        if self._site.rank == 0:
            for name, _ in model.named_buffers():
                self._own_parts.add(f"model/{name}")
                self._add(f"model/{name}", functools.partial(model.get_buffer, name))
        self.optimizers = _listed(optimizer)
        note(self, "is of a State", parameters.items())
        attachment = owner_of("is attached", parameters.values())
        for each in self.optimizers if attachment is not None else []:
            attachment.watch(each)
        self._optimizers = [_CutOptimizer(self, each) for each in self.optimizers]
        self._batches = _batches(self._cuts)
        self._encode()

    def _of_first(self, call: Callable[[], Any]) -> Any:
        return self._site.of_first(call)

    def add_part(self, name: str, tensor: torch.Tensor) -> None:
        """Makes memory of the first process a part of the state."""
        if self._site.rank == 0 and tensor.numel() > 0:
            self._parts[name] = tensor

    def add_cut(
        self, part: str, parameter: str, get: Callable[[], Optional[torch.Tensor]], like: torch.Tensor
    ) -> None:
        """Makes a tensor a part of the state that is cut as the parameter is."""
        parts = self._parts_by_name[parameter]
        count = sum(each.count for each in parts)
        if count == 0:
            return
        whole = torch.zeros(count, dtype=like.dtype) if self._site.rank == 0 else None
        self._cuts.append(_Cut(get, parts, torch.empty(0, dtype=like.dtype, device=like.device), whole))
        if whole is not None:
            self.add_part(part, whole)

    def _take_back(self) -> bool:
        kept = [(each.whole, self._job._replaced.get(id(each.get()))) for each in self._cuts]
        for whole, own in kept:
            if own is not None and whole is not None:
                whole.copy_(own.view(-1))
        return any(own is not None for _, own in kept)

    def _rows(self, batch: List[_Cut]) -> List[torch.Tensor]:
        held = [each.get() for each in batch]
        room = [each.parts[self._site.rank].count for each in batch]
        return [
            row_of(tensor) if tensor is not None else torch.zeros(count, dtype=each.like.dtype, device=each.like.device)
            for each, tensor, count in zip(batch, held, room)
        ]

    @torch.no_grad()
    def _encode(self) -> None:
        if self._site.rank == 0:
            super()._encode()
        for batch in self._batches:
            self._site.gather([each.parts for each in batch], self._rows(batch), _wholes(batch))
        if torch.cuda.is_available():
            torch.cuda.current_stream().synchronize()

    def _decode_tensors(self) -> None:
        for batch in self._batches:
            self._site.scatter([each.parts for each in batch], self._rows(batch), _wholes(batch))
        super()._decode_tensors()
        for each in self._buffers:
            self._site.broadcast(each)


def _wholes(batch: List[_Cut]) -> List[torch.Tensor]:
    return [each.whole for each in batch if each.whole is not None]


def _batches(cuts: List[_Cut]) -> List[List[_Cut]]:
    """Returns those that travel at once in the site: of one type and place, and some MiB."""
    batches: List[List[_Cut]] = []
    for each in cuts:
        last = batches[-1] if batches else []
        fits = last and (last[0].like.dtype, last[0].like.device) == (each.like.dtype, each.like.device)
        if not fits or sum(other.size for other in last) + each.size > _BATCH_BYTES:
            batches.append([])
        batches[-1].append(each)
    return batches


class _CutOptimizer(SharedOptimizer):
    """An optimizer's state whose tensors are cut as their parameters are; single numbers are the first process's."""

    def __init__(self, state: ShardedState, optimizer: torch.optim.Optimizer) -> None:
        self._site = state._site
        self._names = state._names
        self._cut: Dict[Tuple[int, str], torch.dtype] = {}
        super().__init__(optimizer)
        said = self._site.agree([list(each) for each in (self._cut, self._tensors, self._numbers)])
        if any(each != said[0] for each in said):
            raise InvalidArgument("expected the same optimizer, of the same parameters, in all processes of the group")
        state.add_part("optimizer/0/there", self._there)
        state.add_part("optimizer/0/numbers", self._values)
        for i, key in sorted([*self._cut, *self._tensors]):
            part, parameter = f"optimizer/0/{i}/{key}", self._parameters[i]
            if (i, key) in self._cut:
                like = torch.empty(0, dtype=self._cut[i, key], device=parameter.device)
                state.add_cut(part, self._names[id(parameter)], functools.partial(self._get, i, key), like)
            else:
                state.add_part(part, self._tensors[i, key][1])

    def _share(self, states: List[Dict[str, Any]]) -> None:
        for i, (parameter, state) in enumerate(zip(self._parameters, states)):
            if id(parameter) not in self._names:
                raise InvalidArgument("expected an optimizer of the model's parameters, got one with another parameter")
            for name, value in sorted(state.items()):
                if isinstance(value, torch.Tensor) and value.shape == parameter.shape:
                    self._cut[i, name] = value.dtype
                elif isinstance(value, torch.Tensor) and value.numel() == 1:
                    self._tensors[i, name] = (value.device, mirror_of(value))
                elif isinstance(value, NUMBERS):
                    self._numbers[i, name] = type(value)
                elif value is not None and not isinstance(value, str):
                    shape = f" of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else ""
                    raise InvalidArgument(
                        "expected tensors like their parameters and single numbers in the state of "
                        f"{type(self._optimizer).__name__}, got {name} of {type(value).__name__}{shape}: a site in parts "
                        "could not be given it"
                    )

    def _get(self, i: int, key: str) -> Optional[torch.Tensor]:
        return self._optimizer.state.get(self._parameters[i], {}).get(key)

    def _make_states(self) -> None:
        """Takes the first process's memory, and makes states with room for what is cut."""
        memory = [self._there, self._values, *(shared for _, shared in self._tensors.values())]
        for own, told in zip(memory, self._site.tell(memory)):
            own.copy_(told)
        for parameter, made in zip(self._parameters, states_of(self._optimizer, self._parameters)):
            self._optimizer.state[parameter] = made
        super()._make_states()
