"""Parameters and the names by which they travel."""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Tuple

import torch
import torch.distributed as dist

Named = Tuple[str, torch.nn.Parameter]
Chooser = Callable[[str, torch.nn.Parameter], bool]


def local_group() -> None:
    """Makes a process group of this process alone, which DistributedDataParallel needs, unless there is one."""
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def wire_name(prefix: str, name: str, tensor: torch.Tensor) -> str:
    """Names a tensor in a job. With its shape, so that sites whose models differ hear of both shapes."""
    return f"{prefix}/{name}({'x'.join(str(size) for size in tensor.shape)})"


def trained(module: torch.nn.Module) -> List[Named]:
    """Returns the parameters that are trained, each once, in the order in which the module registers them."""
    return [(name, each) for name, each in module.named_parameters() if each.requires_grad and each.numel() > 0]


def cut(named: List[Named], key_bytes: float, is_alone: Optional[Chooser] = None) -> List[List[Named]]:
    """Cuts parameters into groups of about `key_bytes`, the last parameters first: backward has their gradients first.

    A group is of one type. Those that `is_alone` chooses are groups of their own.

    >>> layers = [(str(i), torch.nn.Parameter(torch.zeros(10))) for i in range(3)]
    >>> [[name for name, _ in group] for group in cut(layers, 80)]
    [['2', '1'], ['0']]
    >>> [[name for name, _ in group] for group in cut(layers, 80, lambda name, _: name == "1")]
    [['2', '0'], ['1']]
    """
    groups: List[List[Named]] = []
    growing: Dict[torch.dtype, List[Named]] = {}
    sizes: Dict[torch.dtype, float] = {}
    for name, each in reversed(named):
        if is_alone is not None and is_alone(name, each):
            groups.append([(name, each)])
            continue
        size = each.numel() * each.element_size()
        if each.dtype not in growing or sizes[each.dtype] + size > key_bytes:
            growing[each.dtype] = []
            groups.append(growing[each.dtype])
            sizes[each.dtype] = 0
        growing[each.dtype].append((name, each))
        sizes[each.dtype] += size
    return groups


def by_wire_name(prefix: str, group: List[Named]) -> Dict[str, torch.Tensor]:
    """Returns a group as init_group takes it."""
    return {wire_name(prefix, name, each): each for name, each in group}
