"""What optimizers hold, in memory that other workers can read."""

from __future__ import annotations

import mmap
from typing import Any, Callable, Dict, List, Set, Tuple

import torch

from ..errors import FailedPrecondition, InvalidArgument
from ._copies import copy_where_it_differs, mirror_of

_ALIGNED = 64  # bytes, for tensors in memory of our own
NUMBERS = (bool, int, float)


class SharedOptimizer:
    """An optimizer's state in memory that others can read, also before torch has made that state.

    Optimizers may replace their tensors, and `load_state_dict` does: memory is brought up to date at each `encode`.

    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> adam = torch.optim.Adam(model.parameters())
    >>> shared = SharedOptimizer(adam)
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
        self._share(states_of(optimizer, self._parameters))
        self._there = torch.zeros(len(self._parameters), dtype=torch.uint8)
        self._values = torch.zeros(len(self._numbers), dtype=torch.float64)

    def _share(self, states: List[Dict[str, Any]]) -> None:
        """Makes the memory for states like these."""
        memory = _Memory(sum(_room_of(each) for state in states for each in state.values() if _is_shared(each)))
        for i, state in enumerate(states):
            for name, value in sorted(state.items()):
                if _is_shared(value):
                    self._tensors[i, name] = (value.device, memory.like(value))
                elif isinstance(value, NUMBERS):
                    self._numbers[i, name] = type(value)
                elif value is not None and not isinstance(value, (str, torch.Tensor)):
                    raise InvalidArgument(
                        f"expected tensors and numbers in the state of {type(self._optimizer).__name__}, got {name} of "
                        f"{type(value).__name__}: who comes late could not be given it"
                    )

    @property
    def parts(self) -> Dict[str, torch.Tensor]:
        """The memory, by name."""
        whole = {"there": self._there, "numbers": self._values}
        whole.update({f"{i}/{name}": shared for (i, name), (_, shared) in self._tensors.items()})
        return {name: each for name, each in whole.items() if each.numel() > 0}

    def refuse_more(self) -> None:
        """Raises where the optimizer has got parameters since."""
        count = sum(len(group["params"]) for group in self._optimizer.param_groups)
        if count != len(self._parameters):
            raise FailedPrecondition(
                f"State: expected an optimizer of {len(self._parameters)} parameters, as it was, got {count}, of which who "
                "comes late would not be given all: add_param_group() before State(), with lr=0 for what is trained later"
            )

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
        self._make_states()
        for (i, name), (device, shared) in self._tensors.items():
            if self._there[i]:
                own = shared if device.type == "cpu" else shared.to(device)
                self._optimizer.state[self._parameters[i]][name] = own
        for at, ((i, name), kind) in enumerate(self._numbers.items()):
            if self._there[i]:
                self._optimizer.state[self._parameters[i]][name] = kind(self._values[at].item())

    def _make_states(self) -> None:
        """Leaves parameters a state where the memory has one of them."""
        for i, parameter in enumerate(self._parameters):
            if not self._there[i]:
                self._optimizer.state.pop(parameter, None)


def settings_of(optimizer: torch.optim.Optimizer) -> List[Dict[str, Any]]:
    """Returns the settings of an optimizer's groups, such as learning rates, and of parameters their number."""
    return [{**group, "params": len(group["params"])} for group in optimizer.param_groups]


def set_settings(optimizer: torch.optim.Optimizer, settings: List[Dict[str, Any]]) -> None:
    """Sets them; raises where the groups are others.

    >>> sgd = torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=1)
    >>> set_settings(sgd, [{"params": 1, "lr": 2}, {"params": 1, "lr": 3}])
    Traceback (most recent call last):
    banyan.errors.InvalidArgument: expected an optimizer with groups of 1, 1 parameters, as the others have, got 2
    """
    wanted, got = [each["params"] for each in settings], [len(group["params"]) for group in optimizer.param_groups]
    if wanted != got:
        raise InvalidArgument(
            f"expected an optimizer with groups of {', '.join(map(str, wanted))} parameters, as the others have, got "
            f"{', '.join(map(str, got))}"
        )
    for group, named in zip(optimizer.param_groups, settings):
        for name, value in named.items():
            if isinstance(group.get(name), torch.Tensor):
                group[name].fill_(value)
            elif name != "params":
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
