"""Parameters and the names by which they travel."""

from __future__ import annotations

import logging
import weakref
from typing import Any, Callable, Container, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import torch

from ..errors import AlreadyExists, FailedPrecondition
from ..session import Session
from ._replicas import ADDRESS, Part, digests_of, told_of

_log = logging.getLogger("banyan")
_SETTINGS = 2**20  # digests of settings
_SAME_ROUNDS = 3

Named = Tuple[str, torch.nn.Parameter]
Chooser = Callable[[str, torch.nn.Parameter], bool]

# By what is done with a parameter and its id: what does it, of whatever session, and holds the parameter.
_claimed: "weakref.WeakValueDictionary[Tuple[str, int], Any]" = weakref.WeakValueDictionary()


def claim(owner: Any, what: str, named: Sequence[Named]) -> None:
    """Notes who does something with parameters. Raises where another one does: each would take the other's results."""
    for name, each in named:
        if (what, id(each)) in _claimed:
            raise FailedPrecondition(f"{name}: this parameter {what} already; detach() that first")
    note(owner, what, named)


def note(owner: Any, what: str, named: Iterable[Named]) -> None:
    """Notes who does something with parameters, the last of those that do."""
    _claimed.update({(what, id(each)): owner for _, each in named})


def owner_of(what: str, parameters: Iterable[torch.Tensor]) -> Any:
    """Returns what does something with the first of these parameters of which anything does; None where nothing does."""
    owners = (_claimed.get((what, id(each))) for each in parameters)
    return next((each for each in owners if each is not None), None)


def release(owner: Any) -> None:
    """Lets parameters be given to another one."""
    for key in [key for key, each in _claimed.items() if each is owner]:
        del _claimed[key]


def unwrapped(model: torch.nn.Module) -> torch.nn.Module:
    """Returns the model inside of torch.compile and DataParallel, whose names are those of other sites."""
    while isinstance(model, torch.nn.DataParallel) or hasattr(model, "_orig_mod"):
        model = getattr(model, "module" if isinstance(model, torch.nn.DataParallel) else "_orig_mod")
    return model


def plain_name(name: str) -> str:
    """Names a tensor as where no part of its model is compiled."""
    return name.replace("_orig_mod.", "")


def numbers_of(tensor: torch.Tensor) -> torch.Tensor:
    """Returns what travels of a tensor, in its own memory: of complex numbers both parts.

    >>> numbers_of(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def printable(name: str) -> str:
    return name.encode("ascii", "backslashreplace").decode()


def wire_name(prefix: str, name: str, tensor: torch.Tensor) -> str:
    """Names a tensor in a job. With its shape, so that sites whose models differ hear of both shapes.

    >>> wire_name("grad", "größe", torch.zeros(2, 3))
    'grad/gr\\\\xf6\\\\xdfe(2x3)'
    """
    return f"{prefix}/{printable(name)}({'x'.join(str(size) for size in tensor.shape)})"


def has_running_means(part: torch.nn.Module) -> bool:
    """Tells whether a module is a batch norm or of its kind, also where torch.jit has made it another class."""
    return any(name == "running_mean" for name, _ in part.named_buffers(recurse=False))


def trained(module: torch.nn.Module) -> List[Named]:
    """Returns the parameters that are trained, each once, in the order in which the module registers them."""
    named = list(module.named_parameters())
    for name, each in named:
        if isinstance(each, torch.nn.parameter.UninitializedParameter):
            raise FailedPrecondition(
                f"{name}: expected a parameter with a shape, got a lazy layer's; run a batch through the model first"
            )
    return [(plain_name(name), each) for name, each in named if each.requires_grad and each.numel() > 0]


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


def keyed(prefix: str, groups: List[List[Named]], is_low_bit: Optional[Chooser]) -> Dict[str, List[Named]]:
    """Names groups. The key of what may go low-bit has the parameter's name: a binding outlives another `key_mb`.

    >>> layers = [[(str(i), torch.nn.Parameter(torch.zeros(1)))] for i in range(2)]
    >>> list(keyed("grad", layers, lambda name, _: name == "0"))
    ['grad/low-bit/0', 'grad/1']
    """
    def name_of(i: int, group: List[Named]) -> str:
        is_alone = is_low_bit is not None and is_low_bit(*group[0])
        return f"{prefix}/low-bit/{printable(group[0][0])}" if is_alone else f"{prefix}/{i}"

    return {name_of(i, group): group for i, group in enumerate(groups)}


def role_of(model: torch.nn.Module, name: str, parameter: torch.Tensor) -> str:
    """Returns what a parameter does in its model, as a binding has it (docs/precision.md), by the modules that have it.

    >>> model = torch.nn.Sequential(torch.nn.Embedding(3, 2), torch.nn.LayerNorm(2), torch.nn.Linear(2, 2))
    >>> [role_of(model, *each) for each in model.named_parameters()]
    ['embedding', 'norm', 'norm', 'encoder', 'bias']
    """
    owners = [part for part in model.modules() if any(each is parameter for each in part.parameters(recurse=False))]
    if any(isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag)) for part in owners):
        return "embedding"
    if any(has_running_means(part) or "Norm" in type(part).__name__ for part in owners):
        return "norm"
    if parameter.dim() < 2:
        return "bias" if name.endswith("bias") else "other"
    return "encoder" if parameter.dim() == 2 else "backbone"


def by_wire_name(prefix: str, group: List[Named]) -> Dict[str, torch.Tensor]:
    """Returns a group as init_group takes it."""
    return {wire_name(prefix, name, each): numbers_of(each.detach()) for name, each in group}


def begin_alike(
    job: Session, key: str, values: Mapping[str, torch.Tensor], parameters: Sequence[torch.nn.Parameter]
) -> None:
    """Makes a group known, and gives all workers the values of the lowest one; `parameters` are whose they are.

    What that takes from this worker the session keeps until the first step: it may be a checkpoint's.
    """
    before = [each.clone() for each in values.values()]
    job.init_group(key, values)
    for parameter, own, agreed in zip(parameters, before, values.values()):
        if not torch.equal(own, agreed):
            job._replaced[id(parameter)] = own


def tell_of_replaced(job: Session, name: str) -> None:
    """Warns that this worker's own parameters are gone, now that it trains with others'."""
    _log.warning(
        "%s: %d parameters had other values here than at the lowest worker, and are now those; of checkpoints the newest counts "
        "where all sites make a State(step=...) and call its sync() before the first step", name, len(job._replaced),
    )
    job._replaced.clear()


def refuse_results(what: str, op: str, wanted: Sequence[str]) -> None:
    """Raises where a job makes of pushes, by its `op`, nothing that `what` can use.

    >>> refuse_results("attach", "adam", ("mean", "sum"))
    Traceback (most recent call last):
    banyan.errors.FailedPrecondition: attach: expected a job whose aggregation.op is mean or sum, got adam, whose results are parameters; run a job with aggregation: {op: mean}
    """
    if op not in wanted:
        raise FailedPrecondition(
            f"{what}: expected a job whose aggregation.op is {' or '.join(wanted)}, got {op}, whose results are "
            f"{'sums' if op == 'sum' else 'parameters'}; run a job with aggregation: {{op: {wanted[0]}}}"
        )


def refuse_left_out(what: str, may_leave_out: bool) -> None:
    """Raises where what comes of one key, a sum of weights, would be no measure of what comes of another.

    >>> refuse_left_out("weighted", True)
    Traceback (most recent call last):
    banyan.errors.FailedPrecondition: weighted: expected a job that counts all workers in each round, as their number or weights have a key of their own; leave aggregation.quorum and not_finite: skip away
    """
    if may_leave_out:
        raise FailedPrecondition(
            f"{what}: expected a job that counts all workers in each round, as their number or weights have a key of their "
            "own; leave aggregation.quorum and not_finite: skip away"
        )


def refuse_name(job: Session, name: str) -> None:
    """Raises where this session has had keys of that name, which are made known once."""
    if any(each == f"{name}/0" or each.startswith(f"{name}/low-bit/") for each in job._types):
        raise AlreadyExists(
            f"{name}: this session has attached or trained a model under that name; give another name=, at all sites alike"
        )


def refuse_unknown(module: torch.nn.Module, known: Container[int]) -> None:
    """Raises where a parameter is trained now that was not when the module was attached; `known` has those that were.

    It would be trained by each site alone.
    """
    for name, each in module.named_parameters():
        if each.requires_grad and id(each) not in known and each.numel() > 0:
            raise FailedPrecondition(
                f"{name}: this parameter was added, replaced or unfrozen after the model had been given to the job, so this "
                "site alone would train it; let all that will be trained have requires_grad then, and freeze after that"
            )


def tell_of_others(name: str, optimizers: Iterable[torch.optim.Optimizer], what: str) -> None:
    """Warns of parameters that optimizers train and no model has that was given to a job, such as those of a loss."""
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    trained_here = [each for group in groups for each in group["params"] if each.requires_grad and each.numel() > 0]
    shapes = [str(tuple(each.shape)) for each in trained_here if (what, id(each)) not in _claimed]
    if shapes:
        _log.warning(
            "%s: the optimizer has %d parameters, such as one of shape %s, that this site alone trains; where all should, give "
            "the job one module with all, such as nn.ModuleList([model, loss])", name, len(shapes), shapes[0],
        )


def fixed_of(module: torch.nn.Module) -> List[Tuple[str, torch.Tensor]]:
    """Returns what nobody synchronises: frozen parameters, and buffers but for running means, which are each site's own."""
    fixed = [(plain_name(each), tensor.detach()) for each, tensor in module.named_parameters() if not tensor.requires_grad]
    for prefix, part in module.named_modules():
        if not has_running_means(part):
            buffers = part.named_buffers(recurse=False)
            fixed += [(plain_name(f"{prefix}.{each}".lstrip(".")), tensor) for each, tensor in buffers]
    return fixed


class Sameness:
    """Tells once where the first results of a job are what this worker has sent: all sites read the same examples then.

    Looks at the smallest matrix alone; owned by what trains it. `sent` and `came` may be called by other threads.

    >>> one = torch.nn.Parameter(torch.ones(2))
    >>> sameness = Sameness(None, "grad", [one], is_on=True)
    >>> for _ in range(3):
    ...     sameness.sent(one, torch.tensor([1.0, 2.0]))
    ...     sameness.came(one, torch.tensor([1.0, 2.0]))
    >>> sameness.is_found
    True
    """

    def __init__(self, job: Any, name: str, parameters: Sequence[torch.Tensor], *, is_on: bool) -> None:
        self._job = job
        self._name = name
        # A bias may have a gradient that no example changes.
        self._looked_at = min(parameters, key=lambda each: (each.dim() < 2, each.numel())) if is_on else None
        self._sent: Optional[torch.Tensor] = None
        self._rounds = 0

    @property
    def is_found(self) -> bool:
        return self._rounds == _SAME_ROUNDS

    def sent(self, parameter: torch.Tensor, numbers: torch.Tensor) -> None:
        """Notes what this worker sends."""
        if parameter is self._looked_at:
            self._sent = numbers.detach().to("cpu", copy=True)

    def came(self, parameter: torch.Tensor, result: torch.Tensor) -> None:
        """Compares it with the result, which is in the host's memory."""
        if parameter is self._looked_at and self._sent is not None:
            own, self._sent = self._sent, None
            is_same = bool(0 < own.norm() and (result.detach() - own).norm() <= 1e-3 * own.norm())
            self._rounds += is_same
            if not is_same or self.is_found:
                self._looked_at = None

    def tell(self) -> None:
        """Says so, where there are several workers."""
        if self.is_found:
            self._rounds += 1
            if self._job.world_size > 1:
                _log.warning(
                    "%s: all sites have sent the same %d times: if they read the same examples, give each its own, by bt.SiteSampler, or by "
                    "DistributedSampler with num_replicas=job.world_size and rank=job.rank", self._name, _SAME_ROUNDS,
                )


class Fixed:
    """Tells once, of a module, that what nobody synchronises has come to differ between sites; owned by what trains it.

    >>> layer = torch.nn.Linear(1, 1).requires_grad_(False)
    >>> [part.bits[0] for part in Fixed(layer, "grad").parts()]
    ['weight']
    """

    def __init__(self, module: torch.nn.Module, name: str) -> None:
        self._module = module
        self._name = name
        self._told: Dict[str, Tuple[int, Any]] = {}  # of parameters: torch's count of their changes, and a digest
        self._has_warned = isinstance(module, torch.jit.ScriptModule)

    def parts(self) -> List[Part]:
        """Returns what to compare: none where this site has nothing, or has told."""
        fixed = [] if self._has_warned else fixed_of(self._module)
        return [Part("", "", [bit for name, each in fixed for bit in (name, self._bits_of(name, each))])] if fixed else []

    def warn(self) -> None:
        """Says that these parts differ."""
        if not self._has_warned and fixed_of(self._module):
            self._has_warned = True
            _log.warning(
                "%s: buffers of this model, or frozen parameters, have come to differ between sites, each of which computes with its "
                "own; sync_buffers() of attach(), or job.all_reduce() of each, makes them alike", self._name,
            )

    def _bits_of(self, name: str, tensor: torch.Tensor) -> Any:
        """Returns what stands for a tensor; of a parameter, which may be large, as long as torch knows of no change."""
        if not isinstance(tensor, torch.nn.Parameter):
            return tensor
        version, told = self._told.get(name, (-1, None))
        if version != tensor._version:
            self._told[name] = version, told = tensor._version, told_of(tensor)
        return told


def agree_on_the_rest(job: Session, name: str, module: torch.nn.Module, told: str, is_whole: bool = True) -> bool:
    """Compares with the lowest worker what is the same at all sites and is given to none: settings, and fixed tensors.

    Raises where settings, as they are `told`, differ. Logs a warning where frozen parameters, buffers and what layers say
    of themselves do; of a model in parts, which is not whole, and of one that torch.jit has made nothing is known. All
    sites call it at the same place; those in C++ tell nothing. Returns whether the lowest worker has told its settings.
    """
    fixed = fixed_of(module)
    said = [(plain_name(f"{each}."), ADDRESS.sub("", part.extra_repr())) for each, part in module.named_modules()]
    layers = [each for each in said if each[1]]
    is_whole = is_whole and not any(isinstance(part, torch.jit.ScriptModule) for part in module.modules())
    own = digests_of([Part("", "", [str(layers), *(bit for each in fixed for bit in each)])])[0] if is_whole else 0
    settings = digests_of([Part("", "", [told])])[0] % _SETTINGS + 1
    agreed = job.init(f"{name}-fixed", torch.tensor([own * _SETTINGS * 2 + settings])).item()
    theirs, lowest = agreed % (_SETTINGS * 2), agreed // (_SETTINGS * 2)
    if theirs not in (0, settings):
        raise FailedPrecondition(
            f"{name}: expected the settings of the lowest worker, got others here: {told}; give all sites the same"
        )
    if lowest != own and 0 not in (lowest, own):
        _log.warning(
            "%s: tensors of this model that are not trained (%d, such as %s) have other values here than at the lowest "
            "worker, or its layers other settings (such as of %s: %s), and keep them; load the same ones, or make them from "
            "the same seed", name, len(fixed), fixed[0][0] if fixed else "none", *(layers[0] if layers else ("none", "")),
        )
    return theirs > 0
