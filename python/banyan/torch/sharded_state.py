"""The training state of models whose processes hold a part of each parameter, so that their site can come late, or again.

The first process of the site has the session, and with it the whole state in the host's memory: what the processes hold
is gathered there when another worker asks for it. So a state is the same, whatever the number of parts, and sites may
differ in that.
"""

from __future__ import annotations

import functools
import json
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import torch

from ..errors import InvalidArgument, NotFound
from ..session import Session
from ._parts import Part, Shapes, Site, agree_on_parts, row_of, shard_group_of
from .diloco import DiLoCo
from .state import NUMBERS, State, copy_where_it_differs, mirror_of, revived, set_settings, settings_of, states_of

_BATCH_BYTES = 4 << 20


class _Cut(NamedTuple):
    """A tensor of which each process holds a part."""

    get: Callable[[], Optional[torch.Tensor]]  # this process's part, or None where there is none yet
    parts: List[Part]
    like: torch.Tensor  # of the same type and place
    whole: Optional[torch.Tensor]  # in the first process

    @property
    def size(self) -> int:
        """Bytes of the whole."""
        return sum(part.count for part in self.parts) * self.like.element_size()


class ShardedState(State):
    """A state of a model in parts; made by `State`. All processes of the group call all of it alike."""

    def __init__(
        self, job: Optional[Session], *, model: torch.nn.Module, optimizer: Optional[torch.optim.Optimizer] = None,
        outer: Optional[DiLoCo] = None, scheduler: Any = None, step: int = 0, shard_group: Any = None,
        shapes: Optional[Shapes] = None,
    ) -> None:
        if outer is not None:
            raise InvalidArgument("outer: expected none, as local updates are of models in one piece; give the optimizer")
        self._site = Site(shard_group if shard_group is not None else shard_group_of(model))
        self._cuts: List[_Cut] = []
        self._buffers = [each for _, each in model.named_buffers() if each.numel() > 0]
        parameters = dict(model.named_parameters())
        _, _, self._parts_by_name = agree_on_parts(self._site, job, parameters, shapes or {})
        self._names = {id(each): name for name, each in parameters.items()}
        self._begin(job, scheduler, step)
        for name, each in parameters.items():
            self._add_cut(f"model/{name}", name, lambda each=each: each, each)
        if self._site.rank == 0:
            for name, _ in model.named_buffers():
                self._add(f"model/{name}", functools.partial(model.get_buffer, name))
        self._optimizers = [] if optimizer is None else [_CutOptimizer(self, optimizer)]
        self._batches = _batches(self._cuts)
        self._encode()

    def sync(self, timeout: Optional[float] = None) -> bool:
        if not self._site.of_first(functools.partial(self._fetch, timeout)):
            self._encode()
            return False
        self._decode()
        return True

    def _fetch(self, timeout: Optional[float]) -> bool:
        """Takes the others' state in the first process; returns whether there was one."""
        self._job.share_state(self._parts)
        try:
            self._job.fetch_state(timeout)
        except NotFound:
            return False
        return True

    def advance(self, timeout: Optional[float] = None) -> None:
        """Counts a step that is done. After an error in the first process the others raise Unavailable."""
        self.step += 1
        if self._site.of_first(lambda: self._job.boundary_is_held()):
            self._encode()
            self._site.of_first(lambda: self._job.pass_boundary(self.step, timeout))

    def add_part(self, name: str, tensor: torch.Tensor) -> None:
        """Makes memory of the first process a part of the state."""
        if self._site.rank == 0 and tensor.numel() > 0:
            self._parts[name] = tensor

    def _add_cut(
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
            self._encode_facts()
            for get, shared in self._shared:
                copy_where_it_differs(get(), shared)
            for optimizer in self._optimizers:
                optimizer.encode()
        for batch in self._batches:
            self._site.gather([each.parts for each in batch], self._rows(batch), _wholes(batch))
        if torch.cuda.is_available():
            torch.cuda.current_stream().synchronize()

    @torch.no_grad()
    def _decode(self) -> None:
        facts = revived(json.loads(self._site.tell(bytes(self._facts)).decode()))
        self.step = facts["step"]
        for optimizer, settings in zip(self._optimizers, facts["groups"]):
            optimizer.decode(settings)
        for batch in self._batches:
            self._site.scatter([each.parts for each in batch], self._rows(batch), _wholes(batch))
        for get, shared in self._shared:
            copy_where_it_differs(shared, get())
        for each in self._buffers:
            self._site.broadcast(each)
        if self._scheduler is not None:
            self._scheduler.load_state_dict(facts["scheduler"])


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


class _CutOptimizer:
    """An optimizer's state whose tensors are cut as their parameters are; single numbers are the first process's."""

    def __init__(self, state: ShardedState, optimizer: torch.optim.Optimizer) -> None:
        self._site = state._site
        self._optimizer = optimizer
        self._parameters = [each for group in optimizer.param_groups for each in group["params"]]
        names = [state._names.get(id(each)) for each in self._parameters]
        self._cut: Dict[Tuple[int, str], torch.dtype] = {}
        self._single: Dict[Tuple[int, str], torch.Tensor] = {}  # the memory that others read
        self._numbers: Dict[Tuple[int, str], type] = {}
        states = states_of(optimizer, self._parameters)
        for i, (each, name) in enumerate(zip(self._parameters, names)):
            if name is None:
                raise InvalidArgument("expected an optimizer of the model's parameters, got one with another parameter")
            for key, value in sorted(states[i].items()):
                self._sort((i, key), value, each)
        self._agree()
        self._there = torch.zeros(len(states), dtype=torch.uint8)
        self._values = torch.zeros(len(self._numbers), dtype=torch.float64)
        state.add_part("optimizer/0/there", self._there)
        state.add_part("optimizer/0/numbers", self._values)
        for (i, key) in sorted([*self._cut, *self._single]):
            if (i, key) in self._cut:
                like = torch.empty(0, dtype=self._cut[i, key], device=self._parameters[i].device)
                state._add_cut(f"optimizer/0/{i}/{key}", names[i], functools.partial(self._get, i, key), like)
            else:
                state.add_part(f"optimizer/0/{i}/{key}", self._single[i, key])

    def _sort(self, key: Tuple[int, str], value: Any, parameter: torch.Tensor) -> None:
        """Takes note of what a state's value is."""
        if isinstance(value, torch.Tensor) and value.shape == parameter.shape:
            self._cut[key] = value.dtype
        elif isinstance(value, torch.Tensor) and value.numel() == 1:
            self._single[key] = mirror_of(value)
        elif isinstance(value, NUMBERS):
            self._numbers[key] = type(value)
        elif value is not None and not isinstance(value, str):
            shape = f" of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else ""
            raise InvalidArgument(
                f"expected tensors like their parameters and single numbers in the state of {type(self._optimizer).__name__}, "
                f"got {key[1]} of {type(value).__name__}{shape}: a site in parts could not be given it"
            )

    def _agree(self) -> None:
        said = self._site.agree([list(each) for each in (self._cut, self._single, self._numbers)])
        if any(each != said[0] for each in said):
            raise InvalidArgument("expected the same optimizer, of the same parameters, in all processes of the group")

    def _get(self, i: int, key: str) -> Optional[torch.Tensor]:
        return self._optimizer.state.get(self._parameters[i], {}).get(key)

    def settings(self) -> List[Dict[str, Any]]:
        """Returns the settings of the groups, such as learning rates."""
        return settings_of(self._optimizer)

    def encode(self) -> None:
        """Brings up to date what is not cut; in the first process."""
        for i, each in enumerate(self._parameters):
            self._there[i] = len(self._optimizer.state.get(each, {})) > 0
        for (i, key), shared in self._single.items():
            value = self._get(i, key)
            if value is not None:
                shared.copy_(value)
        for at, (i, key) in enumerate(self._numbers):
            self._values[at] = self._optimizer.state.get(self._parameters[i], {}).get(key, 0)

    def decode(self, settings: List[Dict[str, Any]]) -> None:
        """Makes the optimizer what the first process has, with room for what is cut."""
        there, values, single = self._site.tell((self._there, self._values, list(self._single.values())))
        set_settings(self._optimizer, settings)
        made = states_of(self._optimizer, self._parameters)
        for i, parameter in enumerate(self._parameters):
            self._optimizer.state.pop(parameter, None)
            if there[i]:
                self._optimizer.state[parameter] = made[i]
        for ((i, key), _), value in zip(self._single.items(), single):
            if there[i]:
                made[i][key] = value.to(made[i][key].device).clone()
        for at, ((i, key), kind) in enumerate(self._numbers.items()):
            if there[i]:
                made[i][key] = kind(values[at].item())
