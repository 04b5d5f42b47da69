"""Local updates over real nodes equal an emulation of all workers in one process."""

import unittest
import warnings

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn

import banyan
import banyan.torch as bt
from banyan.torch.diloco import split
from torch_test import batch, distance, loss_of, optimizer_of, run_sites, values

_NODES = 2
_STEPS = 24
_EVERY = 8


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.first = nn.Linear(8, 12)
        self.blocks = nn.ModuleList([nn.Linear(12, 12) for _ in range(4)])
        self.last = nn.Linear(12, 4)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        for block in self.blocks:
            x = x + torch.tanh(block(x))
        return self.last(x)


KINDS = {
    "DiLoCo": dict(sync_every=_EVERY),
    "in fragments": dict(sync_every=_EVERY, fragments=2),
    "StreamingDiLoCo": dict(sync_every=_EVERY, fragments=2, fragment_sync_delay=2, fragment_update_alpha=0.5),
    "LocalSGD": dict(sync_every=4),
}


def make(kind, session, model, inner):
    maker = {"StreamingDiLoCo": bt.StreamingDiLoCo, "LocalSGD": bt.LocalSGD}.get(kind, bt.DiLoCo)
    return maker(session, model, inner, **KINDS[kind])


def train_local(session, number, kind):
    model = Blocks()
    inner = optimizer_of(model, torch.optim.AdamW, lr=0.01)
    outer = make(kind, session, model, inner)
    for step in range(_STEPS):
        inner.zero_grad()
        loss_of(model, batch(step, number)).backward()
        inner.step()
    outer.flush()
    begins = {str(i): each.detach().numpy() for f in outer.fragments for i, each in enumerate(f.begin)}
    return values(model), begins, outer.outer_step, outer.sent_elements


def train_kinds(session, number, kinds):
    results = []
    for kind in kinds:
        named = NamedSession(session, kind)
        results.append(train_local(named, number, kind))
    return results


class NamedSession:
    """A session whose groups have a name of their own for each of several trainings."""

    _training_state, _types, _replaced, _at_end = None, {}, {}, []

    def __init__(self, session, prefix):
        self._session, self._prefix = session, prefix
        self.aggregation_op, self.may_leave_out = session.aggregation_op, session.may_leave_out

    def init(self, key, value, **options):
        return self._session.init(self._prefix + key, value, **options)

    def init_group(self, group, parts):
        self._session.init_group(self._prefix + group, {self._prefix + name: each for name, each in parts.items()})

    def push_pull(self, key, value, out):
        return self._session.push_pull(self._prefix + key, value, out=out)

    def push_pull_group(self, group, gradients):
        return self._session.push_pull_group(self._prefix + group, gradients)


class LateTicket:
    """A round whose wait ends with `session.interruptions`, one after another, before it is done."""

    def __init__(self, session, group):
        self._session, self._group = session, group

    def wait(self, timeout=None):
        if self._session.interruptions:
            raise self._session.interruptions.pop(0)
        self._session.pending.discard(self._group)


class LateSession(NamedSession):
    """A job of one that notes what is sent, and refuses a round of a group whose last one is not done."""

    def __init__(self):
        super().__init__(banyan.solo(), "")
        self.interruptions, self.pending, self.sent = [], set(), []

    def push_pull_group(self, group, gradients):
        assert group not in self.pending, "overwrites the round that is under way"
        super().push_pull_group(group, gradients)
        self.pending.add(group)
        self.sent.append(group)
        return LateTicket(self, group)


def emulate(kind):
    """Trains all workers in this process; says in plain words what DiLoCo does."""
    options = dict(KINDS[kind])
    every, count = options["sync_every"], options.get("fragments", 1)
    delay, alpha = options.get("fragment_sync_delay", 0), options.get("fragment_update_alpha", 0.0)
    lr, momentum = (1.0, 0.0) if kind == "LocalSGD" else (0.7, 0.9)
    models = [Blocks() for _ in range(_NODES)]
    inner = [optimizer_of(model, torch.optim.AdamW, lr=0.01) for model in models]
    names = list(values(models[0]))
    fragment_of = {
        name: int(name.split(".")[1]) % count if name.startswith("blocks") else 0 for name in names
    }
    begin = {name: each.detach().clone() for name, each in models[0].named_parameters()}
    speed = {name: torch.zeros_like(each) for name, each in begin.items()}
    under_way = {}
    parameters = [dict(model.named_parameters()) for model in models]

    @torch.no_grad()
    def finish(fragment):
        for name, mean in under_way.pop(fragment)[1].items():
            speed[name] = momentum * speed[name] + mean
            begin[name] = begin[name] - lr * (mean + momentum * speed[name])
            for each in parameters:
                each[name].copy_(alpha * each[name] + (1 - alpha) * begin[name])

    for step in range(1, _STEPS + 1):
        for number, model in enumerate(models):
            inner[number].zero_grad()
            loss_of(model, batch(step - 1, number)).backward()
            inner[number].step()
        for fragment in range(count):
            if fragment in under_way and under_way[fragment][0] == step:
                finish(fragment)
            if step % every == fragment * every // count:
                mean = {
                    name: sum(begin[name] - each[name].detach() for each in parameters) / _NODES
                    for name in names if fragment_of[name] == fragment
                }
                under_way[fragment] = (step + delay, mean)
                if delay == 0:
                    finish(fragment)
    for fragment in list(under_way):
        finish(fragment)
    return [values(model) for model in models]


class LocalUpdatesTest(unittest.TestCase):
    def test_sites_equal_an_emulation_in_one_process(self):
        kinds = list(KINDS)
        sites = run_sites(train_kinds, kinds, nodes=_NODES)
        for i, kind in enumerate(kinds):
            emulated = emulate(kind)
            for number in range(_NODES):
                model, begins, rounds, sent = sites[number][i]
                self.assertLess(distance(model, emulated[number]), 1e-5, kind)
                self.assertEqual(distance(begins, sites[0][i][1]), 0, f"{kind}: all have the same outer parameters")
                size = sum(each.size for each in model.values())
                turns = _STEPS // KINDS[kind]["sync_every"]
                self.assertLessEqual(sent, size * (turns + 1), kind)

    def test_schedulers_of_rates_go_before_and_after(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = nn.Linear(2, 1)
            inner = torch.optim.SGD(model.parameters(), lr=0.1)
            before = torch.optim.lr_scheduler.StepLR(inner, 1)
            outer = bt.DiLoCo(banyan.solo(), model, inner, sync_every=2)
            after = torch.optim.lr_scheduler.StepLR(inner, 1)
            for _ in range(4):
                model(torch.ones(1, 2)).sum().backward()
                inner.step()
                before.step()
                after.step()
        self.assertEqual((outer.local_step, outer.outer_step), (4, 2))

    def test_fragments_are_of_the_blocks_and_of_no_list_in_them(self):
        block = lambda: nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))  # noqa: E731
        model = nn.ModuleDict({"blocks": nn.ModuleList([block(), block()]), "head": nn.Linear(2, 2)})
        names = [[name for name, _ in part] for part in split(model, 2)]
        self.assertEqual([{".".join(name.split(".")[:-2]) or "head" for name in part} for part in names], [{"blocks.0", "head"}, {"blocks.1"}])

    def test_wrong_options_are_refused(self):
        model = nn.Linear(2, 1)
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        for options, part in (
            (dict(sync_every=2, fragment_sync_delay=2), "fragment_sync_delay"),
            (dict(fragments=2), "ModuleList"),
            (dict(fragment_update_alpha=1.0), "fragment_update_alpha"),
            (dict(sync_every=2.5), "sync_every: .* whole number"),
            (dict(sync_every=4, fragment_sync_delay=0.5), "fragment_sync_delay: .* whole number"),
            (dict(fragments=[]), "at least one"),
            (dict(outer=torch.optim.SGD(model.parameters(), lr=1)), "outer: expected a maker"),
        ):
            with self.assertRaisesRegex(banyan.InvalidArgument, part):
                bt.DiLoCo(banyan.solo(), model, inner, **options)

    def test_doubles_stay_doubles(self):
        model = nn.Linear(1, 1, bias=False).double()
        inner = torch.optim.SGD(model.parameters(), lr=1)
        bt.LocalSGD(banyan.solo(), model, inner, sync_every=1)
        with torch.no_grad():
            model.weight.fill_(1 / 3)
        model.weight.grad = torch.full_like(model.weight, 1e-12)
        inner.step()
        self.assertAlmostEqual(model.weight.item(), 1 / 3 - 1e-12, delta=1e-15)


class InterruptionTest(unittest.TestCase):
    """Waits that end before the round does, by a time-out or by Ctrl-C."""

    def setUp(self):
        self.session = LateSession()
        self.model = Blocks()
        self.inner = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self, expected=None):
        loss_of(self.model, batch(0, 0)).backward()
        if expected is None:
            self.inner.step()
        else:
            with self.assertRaises(expected):
                self.inner.step()
        self.inner.zero_grad()

    def test_the_next_step_finishes_the_round(self):
        for interruption in banyan.Timeout("late"), KeyboardInterrupt():
            outer = bt.DiLoCo(self.session, self.model, self.inner, sync_every=2, name=type(interruption).__name__)
            self.step()
            self.session.interruptions = [interruption]
            self.step(type(interruption))
            self.assertEqual((outer.outer_step, outer.is_pending), (0, True))
            self.step()
            self.assertEqual((outer.outer_step, outer.is_pending), (1, False))
            self.step()
            self.assertEqual((outer.local_step, outer.outer_step), (4, 2))
            outer.detach()
            self.inner = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def test_no_round_is_left_out_or_overwritten(self):
        outer = bt.LocalSGD(self.session, self.model, self.inner, sync_every=2)
        self.session.interruptions = [banyan.Timeout("late") for _ in range(5)]
        self.step()
        for _ in range(5):
            self.step(banyan.Timeout)  # steps 2 to 6, in which three rounds come due
        self.assertEqual(len(self.session.sent), 1)
        self.step()
        self.assertEqual((len(self.session.sent), outer.outer_step, outer.is_pending), (3, 3, False))

    def test_other_fragments_go_on(self):
        outer = bt.StreamingDiLoCo(
            self.session, self.model, self.inner, sync_every=4, fragments=2, fragment_sync_delay=2
        )
        for _ in range(5):
            self.step()
        self.assertEqual(self.session.sent, ["outer/1", "outer/0"])
        self.session.interruptions = [banyan.Timeout("late")]
        self.step(banyan.Timeout)  # for the first fragment, when the second one's turn comes
        self.assertEqual(self.session.sent, ["outer/1", "outer/0", "outer/1"])
        outer.flush()
        self.assertEqual((outer.outer_step, outer.is_pending), (3, False))


if __name__ == "__main__":
    unittest.main()
