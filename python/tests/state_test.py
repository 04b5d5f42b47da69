"""Who comes late, or again, begins where the others are."""

import copy
import functools
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from diloco_test import Blocks
from torch_test import Net, batch, distance, loss_of, optimizer_of, values

_STEPS = 400
_SECONDS = 300
_MORE = "membership: {start_with: 2, heartbeat_seconds: 1, lost_after_seconds: 30}"


def train(scheduler, name, number, results, is_back, with_outer, die_at):
    torch.set_num_threads(1)
    with banyan.join(scheduler=scheduler, name=name, timeout=300) as session:
        if with_outer:
            net = Blocks()
            inner = optimizer_of(net, torch.optim.AdamW, lr=0.01)
            sync, outer = None, bt.DiLoCo(session, net, inner, sync_every=4)
            state = bt.State(session, model=net, outer=outer)
        else:
            net = Net()
            sync, outer = bt.attach(session, net), None
            inner = optimizer_of(net, torch.optim.AdamW, lr=0.01)
            scheduler_of_rates = torch.optim.lr_scheduler.StepLR(inner, 5, gamma=0.8)
            state = bt.State(session, model=net, optimizer=inner, scheduler=scheduler_of_rates)
        was_there = state.sync(300)
        results.put((name, "begins", (was_there, state.step)))
        if was_there:
            is_back.set()
        while state.step < _STEPS:
            if state.step == die_at:
                results.put((name, "dies", state.step))
                results.close()
                results.join_thread()
                os.kill(os.getpid(), signal.SIGKILL)
            if state.step > 12:
                is_back.wait(0.25)  # a site that starts again imports torch for seconds
            inner.zero_grad()
            loss_of(net, batch(state.step, number)).backward()
            if sync is not None:
                sync.wait(300)
            inner.step()
            if sync is not None:
                scheduler_of_rates.step()
            state.advance(300)
        rate = inner.param_groups[0]["lr"]
        results.put((name, "ends", (values(net), rate, loss_of(net, batch(0, 0)).item())))


class StateTest(unittest.TestCase):
    def run_with_a_death(self, with_outer):
        """Trains at two sites; the second dies and comes again. Returns all that they told."""
        context = multiprocessing.get_context("spawn")
        results, is_back = context.Queue(), context.Event()
        told = {}
        with LocalJob(nodes=2, more=_MORE) as job:

            def start(name, number, die_at=None):
                process = context.Process(
                    target=train, args=(job.scheduler, name, number, results, is_back, with_outer, die_at), daemon=True
                )
                process.start()
                return process

            processes = [start("n1", 0), start("n2", 1, die_at=9)]
            while (("n1", "ends") not in told) or (("n2", "ends") not in told):
                try:
                    name, what, value = results.get(timeout=_SECONDS)
                except Exception:
                    self.fail(f"nothing more was told; so far {list(told)}\n{job.log[-3000:]}")
                told.setdefault((name, what), []).append(value)
                if what == "dies":
                    processes.append(start("n2", 1))
            for process in processes:
                process.join(_SECONDS)
        return told

    def test_gradients_of_every_step(self):
        told = self.run_with_a_death(with_outer=False)
        self.assertEqual(told["n2", "begins"][0], (False, 0))
        was_there, step = told["n2", "begins"][1]
        self.assertTrue(was_there)
        self.assertGreaterEqual(step, 9)
        (first, rate, _), (second, other_rate, _) = told["n1", "ends"][0], told["n2", "ends"][0]
        self.assertEqual(distance(first, second), 0)
        self.assertEqual(rate, other_rate)

    def test_diloco(self):
        told = self.run_with_a_death(with_outer=True)
        was_there, step = told["n2", "begins"][1]
        self.assertTrue(was_there)
        (first, _, _), (second, _, _) = told["n1", "ends"][0], told["n2", "ends"][0]
        self.assertEqual(distance(first, second), 0)


def train_and_die(scheduler, results):
    """Trains for some steps and dies with the node, so that nobody has the state any more."""
    torch.set_num_threads(1)
    session = banyan.join(scheduler=scheduler, name="n1", timeout=300)
    net = Net()
    sync = bt.attach(session, net)
    optimizer = optimizer_of(net, torch.optim.SGD, lr=0.01)
    state = bt.State(session, model=net, optimizer=optimizer)
    try:
        results.put((state.sync(300), state.step))
    except banyan.Error as error:
        results.put((type(error).__name__, str(error)))
    while state.step < 5:
        optimizer.zero_grad()
        try:  # either tells, by when the answer comes
            loss_of(net, batch(state.step, 0)).backward()
            sync.wait(300)
        except banyan.Error as error:
            results.put(type(error).__name__)
            break
        optimizer.step()
        state.advance(300)
    results.close()
    results.join_thread()
    os.kill(os.getpid(), signal.SIGKILL)


class LateTest(unittest.TestCase):
    """A second site, in a thread of its own, begins when the first one has trained for a while."""

    def run_both(self, first, late):
        told, is_under_way, is_done = {}, threading.Event(), threading.Event()
        with LocalJob(nodes=2, more="membership: {start_with: 1}") as job:

            def run(name, body):
                try:
                    with job.join(name) as session:
                        told[name] = body(session, is_under_way, is_done)
                except BaseException as error:
                    told[name] = error
                    raise
                finally:
                    is_under_way.set()
                    is_done.set()

            one = threading.Thread(target=run, args=("n1", first), daemon=True)
            one.start()
            is_under_way.wait(_SECONDS)
            run("n2", late)
            one.join(_SECONDS)
        return told["n1"], told["n2"]

    def test_without_a_state_it_keeps_its_own_model_and_takes_no_part(self):
        def first(session, is_under_way, is_done):
            net = nn.Linear(2, 1, bias=False)
            sync = bt.attach(session, net)
            gradients = set()
            for step in itertools.count():
                net.weight.grad = None
                net(torch.full((1, 2), 3.0)).sum().backward()
                sync.wait(_SECONDS)
                gradients.update(net.weight.grad.flatten().tolist())
                if step == 5:
                    is_under_way.set()
                if step > 5 and is_done.wait(0.01):
                    break
            return gradients

        def late(session, is_under_way, is_done):
            net = nn.Linear(2, 1, bias=False)
            before = net.weight.detach().clone()
            sync = bt.attach(session, net)
            self.assertTrue(torch.equal(net.weight, before), "not the values of nobody")
            with self.assertRaisesRegex(banyan.FailedPrecondition, r"past round \d+ .* bt.State\(...\).sync\(\)"):
                # Either tells, by when the answer comes.
                net(torch.full((1, 2), 5.0)).sum().backward()
                sync.wait(_SECONDS)

        gradients, _ = self.run_both(first, late)
        self.assertEqual(gradients, {3.0})

    def test_without_a_state_local_updates_say_so_at_the_first_step(self):
        def trained(session):
            net = nn.Linear(2, 1, bias=False)
            inner = torch.optim.SGD(net.parameters(), lr=0.1)
            bt.DiLoCo(session, net, inner, sync_every=2, timeout=_SECONDS)
            return inner

        def first(session, is_under_way, is_done):
            inner = trained(session)
            for step in itertools.count():
                inner.step()
                if step == 5:
                    is_under_way.set()
                if step > 5 and is_done.wait(0.01):
                    break

        def late(session, is_under_way, is_done):
            inner = trained(session)
            with self.assertRaisesRegex(banyan.FailedPrecondition, r"past round \d+, .* bt.State\(...\).sync\(\)"):
                inner.step()

        self.run_both(first, late)

    def test_running_means_are_synchronised_with_who_comes_late(self):
        ends = [sys.maxsize]

        def train(session, number, is_under_way, is_done):
            torch.manual_seed(number)
            net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
            optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
            sync = bt.attach(session, net)
            state = bt.State(session, model=net, optimizer=optimizer)
            was_there = state.sync(_SECONDS)
            if was_there:
                ends.append(state.step + 40)
                is_done.set()
            while state.step < ends[-1]:
                optimizer.zero_grad()
                net(torch.randn(4, 2)).pow(2).sum().backward()
                sync.wait(_SECONDS)
                optimizer.step()
                sync.sync_buffers(_SECONDS)
                state.advance(_SECONDS)
                if state.step == 5:
                    is_under_way.set()
                if state.step > 5:
                    is_done.wait(0.01)
            return was_there, state.step, values(net), net[1].running_mean.tolist()

        one, two = self.run_both(
            lambda session, *events: train(session, 0, *events), lambda session, *events: train(session, 1, *events)
        )
        self.assertEqual((one[0], two[0]), (False, True))
        self.assertEqual(one[1], two[1])
        self.assertEqual(distance(one[2], two[2]), 0)
        self.assertEqual(one[3], two[3])

    def test_a_state_that_all_have_lost_is_an_error(self):
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        with LocalJob(nodes=2, more="membership: {start_with: 1}") as job:
            told = []
            for _ in range(2):
                process = context.Process(target=train_and_die, args=(job.scheduler, results), daemon=True)
                process.start()
                told.append(results.get(timeout=_SECONDS))
                if told[-1][0] == "DataLoss":
                    told.append(results.get(timeout=_SECONDS))
                process.join(_SECONDS)
        self.assertEqual(told[0], (False, 0))
        self.assertEqual(told[1][0], "DataLoss")
        self.assertIn("banyan scheduler --another", told[1][1])
        self.assertEqual(told[2], "FailedPrecondition")


def trainer(kind, options, rates, with_state=True):
    """Returns a model with its optimizer, its schedule of rates, and a state that it shares with nobody yet."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    optimizer = kind(net.parameters(), **options)
    schedule = rates(optimizer) if rates is not None else None
    state = bt.State(banyan.solo(), model=net, optimizer=optimizer, scheduler=schedule) if with_state else None
    return net, optimizer, schedule, state


def train_steps(parts, steps):
    net, optimizer, schedule, state = parts
    for step in steps:
        optimizer.zero_grad()
        x = torch.randn(5, 3, generator=torch.Generator().manual_seed(step))
        (net(x) ** 2).sum().backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        if state is not None:
            state.advance()


def hand_over(state, late):
    """Does what a node does with the parts of two states."""
    state._encode()  # as `advance` does where somebody waits
    own = dict(late._parts)
    for name, part in state._parts.items():
        if isinstance(part, bytearray):
            own.pop(name)[:] = part
        else:
            own.pop(name).copy_(part)
    assert not own, own
    late._decode()


class OwnSteps(torch.optim.Optimizer):
    """Counts in a number of Python's, and makes a new tensor in each step."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1})

    @torch.no_grad()
    def step(self):
        for parameter in self.param_groups[0]["params"]:
            state = self.state[parameter]
            state["count"] = state.get("count", 0) + 1
            state["sum"] = 0.9 * state.get("sum", torch.zeros_like(parameter)) + parameter.grad
            parameter -= self.param_groups[0]["lr"] / state["count"] * state["sum"]


_RATES = torch.optim.lr_scheduler
_KINDS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}, "Adam": {"amsgrad": True}, "AdamW": {}, "Adagrad": {},
    "Rprop": {}, "RMSprop": {"centered": True}, "ASGD": {}, "Adamax": {}, "NAdam": {}, "RAdam": {}, "Adadelta": {},
}
_SCHEDULES = {
    "MultiStepLR": lambda optimizer: _RATES.MultiStepLR(optimizer, [3, 6, 9, 11]),
    "OneCycleLR": lambda optimizer: _RATES.OneCycleLR(optimizer, 0.1, 20),
    "CyclicLR": lambda optimizer: _RATES.CyclicLR(optimizer, 0.01, 0.1, 3),
    "LambdaLR": lambda optimizer: _RATES.LambdaLR(optimizer, lambda step: 1 / (1 + step)),
    "SequentialLR": lambda optimizer: _RATES.SequentialLR(
        optimizer, [_RATES.ConstantLR(optimizer, 0.1, 2), _RATES.MultiStepLR(optimizer, [5, 8])], [3]
    ),
}


class OptimizerStateTest(unittest.TestCase):
    def expect_the_same(self, kind, options, rates=None, change=lambda optimizer: None):
        first, late = trainer(kind, options, rates), trainer(kind, options, rates)
        train_steps(first, range(5))
        change(first[1])
        train_steps(first, range(5, 7))
        hand_over(first[3], late[3])
        for parts in first, late:
            train_steps(parts, range(7, 14))
        alone = trainer(kind, options, rates, with_state=False)
        train_steps(alone, range(14))
        self.assertEqual(distance(values(late[0]), values(first[0])), 0)
        self.assertEqual(distance(values(first[0]), values(alone[0])), 0)
        self.assertEqual(late[1].param_groups[0]["lr"], first[1].param_groups[0]["lr"])

    def test_every_optimizer_goes_on_as_without_a_state_and_as_the_others(self):
        for name, options in _KINDS.items():
            with self.subTest(name):
                self.expect_the_same(getattr(torch.optim, name), options)

    def test_schedules_of_rates(self):
        for name, rates in _SCHEDULES.items():
            with self.subTest(name):
                self.expect_the_same(torch.optim.SGD, {"lr": 0.05, "momentum": 0.9}, rates)

    def test_numbers_and_tensors_that_are_replaced(self):
        self.expect_the_same(OwnSteps, {})

        def reload(optimizer):
            optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))

        self.expect_the_same(torch.optim.Adam, {}, change=reload)

    def test_who_comes_before_the_first_step(self):
        first, late = trainer(torch.optim.Rprop, {}, None), trainer(torch.optim.Rprop, {}, None)
        hand_over(first[3], late[3])
        for parts in first, late:
            train_steps(parts, range(3))
        self.assertEqual(distance(values(late[0]), values(first[0])), 0)

    def test_hooks_of_steps_see_none_that_never_was(self):
        seen = []

        class Watched(torch.optim.Adam):
            pass

        # As torch wraps the step of a class, from version 2 on with the hooks of the object and of all optimizers.
        plain = torch.optim.Adam.step

        @functools.wraps(plain)
        def step(self, *arguments):
            seen.append(self)
            return plain(self, *arguments)

        step.hooked = True
        Watched.step = step
        net = nn.Linear(2, 1)
        optimizer = Watched(net.parameters())
        state = bt.State(banyan.solo(), model=net, optimizer=optimizer)
        self.assertEqual(seen, [])
        self.assertIn("optimizer/0/0/exp_avg", state._parts)

    def test_what_cannot_be_shared_is_refused_by_name(self):
        net = nn.Linear(1, 1)
        with self.assertRaisesRegex(banyan.InvalidArgument, "LBFGS"):
            bt.State(banyan.solo(), model=net, optimizer=torch.optim.LBFGS(net.parameters()))
        optimizer = torch.optim.SGD([{"params": net.parameters(), "note": {1, 2}}], lr=1)
        with self.assertRaisesRegex(banyan.InvalidArgument, "note: .* got set"):
            bt.State(banyan.solo(), model=net, optimizer=optimizer)


if __name__ == "__main__":
    unittest.main()
