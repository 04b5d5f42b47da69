"""A worker's whole training state, so that one that comes late, or again, begins where the others are."""

from __future__ import annotations

import collections
import functools
import json
import mmap
import weakref
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import torch

from ..errors import InvalidArgument, NotFound
from ..session import Session
from ._parts import Shapes, shard_group_of
from .diloco import DiLoCo

_FACTS_BYTES = 1 << 16
_ALIGNED = 64  # bytes, for tensors in memory of our own
NUMBERS = (bool, int, float)


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

    Models in parts: as with `attach`, all processes that hold one make a state, with None as `job` in all but the first,
    and with the same `shard_group` and `shapes`. The state is gathered in the first one's memory when somebody asks for it.
    """

    def __new__(
        cls, job: Optional[Session] = None, *, model: torch.nn.Module, shard_group: Any = None, **_: Any
    ) -> "State":
        if cls is not State or (shard_group is None and shard_group_of(model) is None):
            return super().__new__(cls)
        from .sharded_state import ShardedState  # which needs what is here

        return super().__new__(ShardedState)

    def __init__(
        self, job: Optional[Session], *, model: torch.nn.Module, optimizer: Optional[torch.optim.Optimizer] = None,
        outer: Optional[DiLoCo] = None, scheduler: Any = None, step: int = 0, shard_group: Any = None,
        shapes: Optional[Shapes] = None,
    ) -> None:
        if job is None:
            raise InvalidArgument("job: expected a session, got None; only models in parts have processes without one")
        self._begin(job, scheduler, step)
        self._outer = outer
        self._optimizers = [_Optimizer(each) for each in _optimizers_of(optimizer, outer)]
        self._add_tensors(model)
        for number, each in enumerate(self._optimizers):
            self._parts.update({f"optimizer/{number}/{name}": part for name, part in each.parts.items()})
        self._encode()

    def sync(self, timeout: Optional[float] = None) -> bool:
        """Takes the others' state, if there is one; returns whether there was. Once, before training.

        Raises DataLoss where the job has trained, and all that had its state are gone: begin another job then.
        """
        self._job.share_state(self._parts)
        try:
            self._job.fetch_state(timeout)
        except NotFound:
            self._encode()
            return False
        self._decode()
        return True

    def advance(self, timeout: Optional[float] = None) -> None:
        """Counts a step that is done. While an outer gradient is under way nobody can be given the state."""
        self.step += 1
        if self._outer is not None and self._outer.is_pending:
            return
        if self._job.boundary_is_held():
            self._encode()
            self._job.pass_boundary(self.step, timeout)

    def _begin(self, job: Optional[Session], scheduler: Any, step: int) -> None:
        self.step = step
        self._job: Any = job
        self._outer: Optional[DiLoCo] = None
        self._scheduler = scheduler
        self._facts = bytearray(_FACTS_BYTES)
        self._parts: Dict[str, Any] = {"facts": self._facts}
        # Where a tensor of the state is now, and the memory that others read, which may be the same.
        self._shared: List[Tuple[Callable[[], torch.Tensor], torch.Tensor]] = []

    def _add_tensors(self, model: torch.nn.Module) -> None:
        if self._outer is None:
            for name, _ in model.named_parameters():
                self._add(f"model/{name}", functools.partial(model.get_parameter, name))
            for name, _ in model.named_buffers():
                self._add(f"model/{name}", functools.partial(model.get_buffer, name))
        else:
            for fragment in self._outer.fragments:
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
        facts: Dict[str, Any] = {"step": self.step, "groups": [each.settings() for each in self._optimizers]}
        if self._scheduler is not None:
            facts["scheduler"] = self._scheduler.state_dict()
        if self._outer is not None:
            facts["outer"] = [self._outer.local_step, self._outer.outer_step]
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
        for get, shared in self._shared:
            copy_where_it_differs(shared, get())
        facts = revived(json.loads(self._facts.decode()))
        self.step = facts["step"]
        for optimizer, settings in zip(self._optimizers, facts["groups"]):
            optimizer.decode(settings)
        if self._scheduler is not None:
            self._scheduler.load_state_dict(facts["scheduler"])
        if self._outer is not None:
            self._outer.local_step, self._outer.outer_step = facts["outer"]
            for fragment in self._outer.fragments:
                fragment.load()


def mirror_of(tensor: torch.Tensor) -> torch.Tensor:
    """Makes room for a tensor in the host's memory."""
    return torch.zeros(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.device.type == "cuda")


def copy_where_it_differs(source: torch.Tensor, target: torch.Tensor) -> torch.device:
    """Copies a tensor, unless both are the same memory. Returns the source's device, which may still be at it."""
    if source.data_ptr() != target.data_ptr():
        target.copy_(source.detach(), non_blocking=target.device.type == "cpu")
    return source.device


class _Optimizer:
    """An optimizer's state in memory that others can read, also before torch has made that state.

    Optimizers may replace their tensors, and `load_state_dict` does: memory is brought up to date at each `encode`.

    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> adam = torch.optim.Adam(model.parameters())
    >>> shared = _Optimizer(adam)
    >>> {name: each.numel() for name, each in shared.parts.items()}
    {'there': 1, '0/exp_avg': 2, '0/exp_avg_sq': 2, '0/step': 1}
    >>> len(adam.state)
    0
    """

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizer = optimizer
        self._parameters = [each for group in optimizer.param_groups for each in group["params"]]
        # By the number of the parameter and a name, what a state is like; of tensors the shared memory too.
        self._tensors: Dict[Tuple[int, str], Tuple[torch.device, torch.Tensor]] = {}
        self._numbers: Dict[Tuple[int, str], type] = {}
        states = states_of(optimizer, self._parameters)
        memory = _Memory(sum(_room_of(each) for state in states for each in state.values() if _is_shared(each)))
        self._there = torch.zeros(len(states), dtype=torch.uint8)
        for i, state in enumerate(states):
            for name, value in sorted(state.items()):
                if _is_shared(value):
                    self._tensors[i, name] = (value.device, memory.like(value))
                elif isinstance(value, NUMBERS):
                    self._numbers[i, name] = type(value)
                elif value is not None and not isinstance(value, (str, torch.Tensor)):
                    raise InvalidArgument(
                        f"expected tensors and numbers in the state of {type(optimizer).__name__}, got {name} of "
                        f"{type(value).__name__}: who comes late could not be given it"
                    )
        self._values = torch.zeros(len(self._numbers), dtype=torch.float64)

    @property
    def parts(self) -> Dict[str, torch.Tensor]:
        """The memory, by name."""
        whole = {"there": self._there, "numbers": self._values}
        whole.update({f"{i}/{name}": shared for (i, name), (_, shared) in self._tensors.items()})
        return {name: each for name, each in whole.items() if each.numel() > 0}

    def settings(self) -> List[Dict[str, Any]]:
        """Returns the settings of the groups, such as learning rates."""
        return settings_of(self._optimizer)

    def encode(self) -> Set[torch.device]:
        """Brings the memory up to date. What is in the host's memory lies there alone from then on. Returns the devices
        that may still be copying."""
        states = [self._optimizer.state.get(each, {}) for each in self._parameters]
        for i, state in enumerate(states):
            self._there[i] = len(state) > 0
        for (i, name), (device, shared) in self._tensors.items():
            if name in states[i]:
                copy_where_it_differs(states[i][name], shared)
                if device.type == "cpu":
                    states[i][name] = shared
        for at, (i, name) in enumerate(self._numbers):
            self._values[at] = states[i].get(name, 0)
        return {device for device, _ in self._tensors.values()}

    def decode(self, settings: List[Dict[str, Any]]) -> None:
        """Makes the optimizer what the memory and the settings say."""
        set_settings(self._optimizer, settings)
        for i, parameter in enumerate(self._parameters):
            if not self._there[i]:
                self._optimizer.state.pop(parameter, None)
        for (i, name), (device, shared) in self._tensors.items():
            if self._there[i]:
                own = shared if device.type == "cpu" else shared.to(device)
                self._optimizer.state[self._parameters[i]][name] = own
        for at, ((i, name), kind) in enumerate(self._numbers.items()):
            if self._there[i]:
                self._optimizer.state[self._parameters[i]][name] = kind(self._values[at].item())


def settings_of(optimizer: torch.optim.Optimizer) -> List[Dict[str, Any]]:
    """Returns the settings of an optimizer's groups, such as learning rates."""
    return [{name: value for name, value in group.items() if name != "params"} for group in optimizer.param_groups]


def set_settings(optimizer: torch.optim.Optimizer, settings: List[Dict[str, Any]]) -> None:
    """Makes the settings of an optimizer's groups these."""
    for group, named in zip(optimizer.param_groups, settings):
        for name, value in named.items():
            if isinstance(group.get(name), torch.Tensor):
                group[name].fill_(value)
            else:
                group[name] = value


class _Memory:
    """Memory for tensors, all zeros, of which the system gives only what is touched."""

    def __init__(self, size: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._rest = memoryview(mmap.mmap(-1, size, flags=flags)) if size > 0 else None

    def like(self, tensor: torch.Tensor) -> torch.Tensor:
        """Makes room for a tensor's numbers; elsewhere for a small one, and for one of a device."""
        room = _room_of(tensor)
        if room == 0 or self._rest is None:
            return mirror_of(tensor)
        made = torch.frombuffer(self._rest, dtype=tensor.dtype, count=tensor.numel()).view(tensor.shape)
        self._rest = self._rest[room:]
        return made


def _is_shared(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() > 0


def _room_of(tensor: torch.Tensor) -> int:
    """Returns how many bytes a tensor takes of a `_Memory`."""
    size = tensor.numel() * tensor.element_size()
    return -(-size // _ALIGNED) * _ALIGNED if size >= _ALIGNED and tensor.device.type == "cpu" else 0


def states_of(optimizer: torch.optim.Optimizer, parameters: List[torch.Tensor]) -> List[Dict[str, Any]]:
    """Returns what each parameter's state is like after a step. torch makes it only then, and room is needed before.

    A step along zeros at no speed makes it, which is taken back: not all of it would be what it is before a first step.
    """
    states = [optimizer.state.get(each, {}) for each in parameters]
    if all(states) or not parameters:
        return states
    kept = [(each, each.grad) for each in parameters]
    rates = [group["lr"] for group in optimizer.param_groups]
    before = {each: dict(optimizer.state[each]) for each in parameters if each in optimizer.state}
    stepped = {each: {name: _copied(value) for name, value in state.items()} for each, state in before.items()}
    for each in parameters:
        each.grad = torch.zeros_like(each)
        if each in stepped:
            optimizer.state[each] = stepped[each]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    try:
        _step_of(type(optimizer))(optimizer)
        return [optimizer.state.get(each, {}) for each in parameters]
    except TypeError as error:
        kind = type(optimizer).__name__
        raise InvalidArgument(f"expected an optimizer whose step needs no closure, got {kind}: {error}") from error
    finally:
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate
        for each, gradient in kept:
            each.grad = gradient
            optimizer.state.pop(each, None)
        optimizer.state.update(before)


def _step_of(kind: type) -> Callable[..., Any]:
    """Returns a class's step past all hooks: those of one object, and those that torch calls around the class's."""
    step = getattr(kind, "step")
    return step.__wrapped__ if getattr(step, "hooked", False) else step


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _optimizers_of(optimizer: Optional[torch.optim.Optimizer], outer: Optional[DiLoCo]) -> List[torch.optim.Optimizer]:
    if outer is not None:
        return [fragment.optimizer for fragment in outer.fragments]
    return [optimizer] if optimizer is not None else []


def _plain(where: str, value: Any) -> Any:
    """Makes of a value what JSON can hold and `revived` turns back. `where` it stands, for errors.

    What the state of a scheduler has of functions is the same at all sites, and left out.

    >>> state = {"milestones": collections.Counter([3, 3, 6]), "betas": (0.9, 0.99), "anneal": print}
    >>> revived(json.loads(json.dumps(_plain("state", state))))
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


def revived(value: Any) -> Any:
    if isinstance(value, list):
        return [revived(each) for each in value]
    if not isinstance(value, dict):
        return value
    ((kind, items),) = value.items()
    if kind == "tuple":
        return tuple(revived(each) for each in items)
    made = {revived(name): revived(each) for name, each in items}
    return collections.Counter(made) if kind == "Counter" else made
