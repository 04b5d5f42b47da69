"""A worker's whole training state, so that one that comes late, or again, begins where the others are."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

import torch

from ..errors import InvalidArgument, NotFound
from ..session import Session
from .diloco import DiLoCo

_FACTS_BYTES = 1 << 16


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

    A worker that asks for the state makes the others wait in `advance` until it has it. What lies on a GPU is copied to
    the host in every `advance`.
    """

    def __init__(
        self, job: Session, *, model: torch.nn.Module, optimizer: Optional[torch.optim.Optimizer] = None,
        outer: Optional[DiLoCo] = None, scheduler: Any = None, step: int = 0,
    ) -> None:
        self.step = step
        self._job = job
        self._outer = outer
        self._scheduler = scheduler
        self._optimizers = _optimizers_of(optimizer, outer)
        self._facts = bytearray(_FACTS_BYTES)
        self._parts: Dict[str, Any] = {"facts": self._facts}
        self._mirrors: List[Tuple[torch.Tensor, torch.Tensor]] = []  # of tensors on a device, in the host's memory
        for each in self._optimizers:
            materialise(each)
        self._add_tensors(model)
        self._encode()

    def sync(self, timeout: Optional[float] = None) -> bool:
        """Takes the others' state, if there is one; returns whether there was. Once, before training."""
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
        self._encode()
        self._job.pass_boundary(self.step, timeout)

    def _add_tensors(self, model: torch.nn.Module) -> None:
        if self._outer is None:
            for name, tensor in list(model.named_parameters()) + list(model.named_buffers()):
                self._add(f"model/{name}", tensor)
        else:
            for fragment in self._outer.fragments:
                for i, tensor in enumerate(fragment.begin):
                    self._add(f"{fragment.key}/{i}", tensor)
        for number, optimizer in enumerate(self._optimizers):
            for i, parameter in enumerate(_parameters_of(optimizer)):
                for name, value in sorted(optimizer.state.get(parameter, {}).items()):
                    if isinstance(value, torch.Tensor):
                        self._add(f"optimizer/{number}/{i}/{name}", value)

    def _add(self, name: str, tensor: torch.Tensor) -> None:
        if tensor.numel() == 0:
            return
        tensor = tensor.detach()
        if tensor.device.type != "cpu":
            mirror = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.device.type == "cuda")
            self._mirrors.append((tensor, mirror))
            tensor = mirror
        self._parts[name] = tensor

    def _encode(self) -> None:
        facts: Dict[str, Any] = {"step": self.step, "groups": [_settings_of(each) for each in self._optimizers]}
        if self._scheduler is not None:
            facts["scheduler"] = self._scheduler.state_dict()
        if self._outer is not None:
            facts["outer"] = [self._outer.local_step, self._outer.outer_step]
        text = json.dumps(facts, default=_refuse).encode()
        if len(text) > len(self._facts):
            raise InvalidArgument(f"the settings of optimizers and scheduler take {len(text)} bytes of {len(self._facts)}")
        self._facts[:] = text.ljust(len(self._facts))
        for tensor, mirror in self._mirrors:
            mirror.copy_(tensor, non_blocking=True)
        for device in {tensor.device for tensor, _ in self._mirrors if tensor.device.type == "cuda"}:
            torch.cuda.current_stream(device).synchronize()

    def _decode(self) -> None:
        for tensor, mirror in self._mirrors:
            tensor.copy_(mirror)
        facts = json.loads(self._facts.decode())
        self.step = facts["step"]
        for optimizer, groups in zip(self._optimizers, facts["groups"]):
            for group, settings in zip(optimizer.param_groups, groups):
                group.update({name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()})
        if self._scheduler is not None:
            self._scheduler.load_state_dict(facts["scheduler"])
        if self._outer is not None:
            self._outer.local_step, self._outer.outer_step = facts["outer"]
            for fragment in self._outer.fragments:
                fragment.load()


def materialise(optimizer: torch.optim.Optimizer) -> None:
    """Gives an optimizer that has not stepped the state that it has after its first step, all zeros.

    torch makes it only then, and a worker that comes late needs room for it. A step along zeros at no speed makes it;
    that it was zero, and not absent, changes no later step of the optimizers of torch, but with `dampening`.

    >>> model = torch.nn.Linear(1, 1)
    >>> adam = torch.optim.Adam(model.parameters())
    >>> materialise(adam)
    >>> [sorted(adam.state[each]) for each in model.parameters()]
    [['exp_avg', 'exp_avg_sq', 'step'], ['exp_avg', 'exp_avg_sq', 'step']]
    """
    if any(optimizer.state.get(each) for each in _parameters_of(optimizer)):
        return
    kept = [(each, each.grad) for each in _parameters_of(optimizer)]
    rates = [group["lr"] for group in optimizer.param_groups]
    for each, _ in kept:
        each.grad = torch.zeros_like(each)
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    type(optimizer).step(optimizer)  # past what others have hooked to this one
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate
    for each, gradient in kept:
        each.grad = gradient
        for value in optimizer.state.get(each, {}).values():
            if isinstance(value, torch.Tensor):
                value.zero_()


def _optimizers_of(optimizer: Optional[torch.optim.Optimizer], outer: Optional[DiLoCo]) -> List[torch.optim.Optimizer]:
    if outer is not None:
        return [fragment.optimizer for fragment in outer.fragments]
    return [optimizer] if optimizer is not None else []


def _parameters_of(optimizer: torch.optim.Optimizer) -> List[torch.Tensor]:
    return [each for group in optimizer.param_groups for each in group["params"]]


def _settings_of(optimizer: torch.optim.Optimizer) -> List[Dict[str, Any]]:
    return [{name: value for name, value in group.items() if name != "params"} for group in optimizer.param_groups]


def _refuse(value: Any) -> Any:
    raise InvalidArgument(f"expected numbers, texts and lists in the state of a scheduler, got {type(value).__name__}")
