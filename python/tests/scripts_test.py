"""What ordinary training scripts do around the sums: each gives what one process with all batches does, or is refused."""

import contextlib
import gc
import pathlib
import re
import threading
import time
import unittest
import unittest.mock

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from torch_test import batch, joint_batch, loss_of


def on_sites(body, nodes=2, more="", late=None):
    """Returns what body(session, number) returns or raises in each site, which are threads of this process.

    All but the first come when the event `late` is there.
    """
    outcomes = [None] * nodes

    def run(job, number):
        try:
            if number and late is not None:
                late.wait(300)
            with job.join(f"n{number + 1}") as session:
                outcomes[number] = body(session, number)
        except Exception as error:
            outcomes[number] = error

    with LocalJob(nodes=nodes, more=more) as job:
        threads = [threading.Thread(target=run, args=(job, i), daemon=True) for i in range(nodes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
    return outcomes


class Small(nn.Module):
    """A model that is the same wherever it is made, also in threads, which share torch's generator."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 4)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for each in self.parameters():
                each.copy_(torch.randn(each.shape, generator=generator) / 4)

    def forward(self, x):
        return self.last(torch.tanh(self.first(x)))


def weights(model):
    return torch.cat([each.detach().flatten() for each in model.parameters()])


class Case(unittest.TestCase):
    def expect_like(self, outcomes, expected, tolerance=1e-6):
        """Expects the same weights at all sites, which are `expected` but for rounding."""
        for each in outcomes:
            if isinstance(each, Exception):
                raise each
            self.assertTrue(torch.equal(each, outcomes[0]))
            self.assertLess(float((each - expected).norm() / expected.norm()), tolerance)


class GradientsUnderWayTest(Case):
    """Changes of gradients between backward() and wait()."""

    def setUp(self):
        self.model = Small()
        self.sync = bt.attach(banyan.solo(), self.model)

    def backward(self):
        loss_of(self.model, batch(0, 0)).backward()

    def test_each_change_in_place_is_refused_by_name(self):
        changes = [
            lambda each: nn.utils.clip_grad_norm_([each], 1e-3),
            lambda each: each.grad.mul_(0.5),
            lambda each: each.grad.add_(1),
            lambda each: torch._foreach_mul_([each.grad], 0.5),  # as GradScaler.unscale_
            lambda each: self.model.zero_grad(set_to_none=False),
            lambda each: each.grad.zero_(),
        ]
        if not torch.__version__.startswith("1."):  # which clips by .data, and torch does not count that
            changes.append(lambda each: nn.utils.clip_grad_value_([each], 1e-3))
        for number, change in enumerate(changes):
            self.backward()
            change(self.model.last.weight)
            with self.subTest(number), self.assertRaisesRegex(banyan.FailedPrecondition, r"grad/.*: its gradient was changed .* Call wait\(\) first"):
                self.sync.wait()
            self.model.zero_grad(set_to_none=True)

    def test_hooks_outlive_the_garbage_collector(self):
        gc.collect()
        self.backward()
        self.assertEqual(len(self.sync._started), 4)
        self.sync.wait()

    def test_a_replaced_gradient_is_the_jobs_and_no_change(self):
        self.backward()
        self.model.zero_grad(set_to_none=True)
        self.sync.wait()
        self.assertIsNotNone(self.model.last.weight.grad)

    def test_clipping_after_wait_is_that_of_one_process(self):
        def train(session, number):
            model = Small()
            sync = bt.attach(session, model)
            return step_all(model, lambda step: batch(step, number), sync.wait)

        alone = step_all(Small(), lambda step: joint_batch(step, range(2)), lambda: None)
        self.expect_like(on_sites(train), alone)

    def test_a_backward_in_no_sync_while_gradients_are_on_their_way_is_refused(self):
        self.backward()
        with self.sync.no_sync(), self.assertRaisesRegex(banyan.FailedPrecondition, r"second backward\(\) .* no_sync"):
            self.backward()

    def test_a_ddp_inside_of_what_is_attached_is_refused(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)
        ddp = DistributedDataParallel(Small())
        with self.assertRaisesRegex(banyan.InvalidArgument, r"attach\(job, model.0\)"):
            bt.attach(banyan.solo(), nn.Sequential(ddp))
        sync = bt.attach(banyan.solo(), ddp.module)  # which nobody can see, but for its copies over gradients
        loss_of(ddp, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, "DistributedDataParallel is inside"):
            sync.wait()


class SkipTest(Case):
    """Steps that one site leaves out, and data that ends earlier at one site."""

    SIZES = 4, 6

    def train(self, session, number, *, kind="plain", weighted=False, left_out=(), ends=6, fails=""):
        model = Small()
        ddp = DistributedDataParallel(model) if kind == "ddp" else model
        sync = bt.attach(session, ddp, weighted=weighted)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        with sync.join(optimizer.step):
            for step in range(ends):
                optimizer.zero_grad()
                if weighted:
                    sync.weight = self.SIZES[number]
                try:
                    if step in left_out and fails == "forward":
                        raise MemoryError
                    if step in left_out and fails == "backward":
                        hidden = model.first(torch.ones(1, 8))
                        hidden.register_hook(fail)
                        model.last(hidden).sum().backward()
                    if step not in left_out:
                        loss_of(ddp, batch(step, number, self.SIZES[number])).backward()
                        sync.wait(100)
                except (MemoryError, RuntimeError):
                    pass
                if step in left_out:
                    sync.skip(100)
                optimizer.step()
        return weights(model)

    def alone(self, present, weighted):
        """Trains one process; `present[step]` are the sites that take part in the step."""
        model = Small()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for step, numbers in enumerate(present):
            optimizer.zero_grad()
            share = sum(self.SIZES[i] for i in numbers) if weighted else len(self.SIZES)
            for i in numbers:
                (loss_of(model, batch(step, i, self.SIZES[i])) * ((self.SIZES[i] if weighted else 1) / share)).backward()
            optimizer.step()
        return weights(model)

    def test_a_batch_that_is_left_out(self):
        for kind, weighted in ("plain", False), ("plain", True), ("ddp", True):
            with self.subTest(kind=kind, weighted=weighted):
                if kind == "ddp":
                    bt.local_group()
                    self.addCleanup(torch.distributed.destroy_process_group)
                outcomes = on_sites(lambda session, number: self.train(
                    session, number, kind=kind, weighted=weighted, left_out=(2, 3) if number else (), fails="forward"
                ))
                self.expect_like(outcomes, self.alone([[0, 1]] * 2 + [[0]] * 2 + [[0, 1]] * 2, weighted))

    def test_data_that_ends_earlier_at_one_site(self):
        outcomes = on_sites(lambda session, number: self.train(session, number, weighted=True, ends=6 - 2 * number))
        self.expect_like(outcomes, self.alone([[0, 1]] * 4 + [[0]] * 2, True))

    def test_after_an_error_in_backward_the_sites_stay_alike(self):
        with self.assertLogs("banyan", "WARNING") as told:
            outcomes = on_sites(lambda session, number: self.train(
                session, number, left_out=(2,) if number else (), fails="backward"
            ))
        self.assertTrue(any("had sent gradients of 2 of 4 parameters" in each for each in told.output), told.output)
        self.expect_like(outcomes, outcomes[1])


class LateSiteTest(Case):
    def test_a_site_that_comes_late_joins_skips_and_is_compared(self):
        begun = threading.Event()

        def train(session, number):
            model = Small()
            optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
            sync = bt.attach(session, model, weighted=True, check_every=2)
            state = bt.State(session, model=model, optimizer=optimizer)
            self.assertEqual(state.sync(100), number > 0)

            def finish_step():
                optimizer.step()
                state.advance(100)

            with sync.join(finish_step, 100):
                while state.step < (30 if number else 20):
                    optimizer.zero_grad()
                    sync.weight = 1 + number
                    if state.step % 7 == 6:
                        sync.skip(100)
                    else:
                        loss_of(model, batch(state.step, number)).backward()
                        sync.wait(100)
                    finish_step()
                    if number == 0 and state.step == 4:
                        begun.set()
                    if number == 0:
                        time.sleep(0.05)
            return weights(model), state.step

        outcomes = on_sites(train, more="membership: {start_with: 1}", late=begun)
        self.expect_like([each[0] for each in outcomes], outcomes[0][0])
        self.assertEqual([each[1] for each in outcomes], [30, 30])


def train_local(session, number, kind, *, skips=(), ends=12, joins=False, weighted=False, **options):
    """Trains by local updates; returns the weights, and the numbers of steps and rounds."""
    model = Small()
    inner = torch.optim.SGD(model.parameters(), lr=0.05)
    outer = kind(session, model, inner, sync_every=4, weighted=weighted, **options)
    if weighted:
        outer.weight = 1 + number
    with outer.join() if joins else contextlib.nullcontext():
        for step in range(ends):
            inner.zero_grad()
            loss_of(model, batch(step, number)).backward()
            if step in skips:
                outer.skip()
            else:
                inner.step()
    outer.flush()
    return weights(model), outer.local_step, outer.outer_step


class LocalUpdatesTest(Case):
    def test_a_skipped_step_counts_as_one(self):
        outcomes = on_sites(lambda session, number: train_local(session, number, bt.LocalSGD, skips=(2,) if number else ()))
        models, begin = [Small(), Small()], weights(Small())
        for step in range(12):
            for i, model in enumerate(models):
                if not (i == 1 and step == 2):
                    model.zero_grad()
                    loss_of(model, batch(step, i)).backward()
                    torch.optim.SGD(model.parameters(), lr=0.05).step()
            if step % 4 == 3:
                begin = (weights(models[0]) + weights(models[1])) / 2
                for model in models:
                    nn.utils.vector_to_parameters(begin.clone(), model.parameters())
        self.expect_like([each[0] for each in outcomes], begin)
        self.assertEqual([each[1:] for each in outcomes], [(12, 3)] * 2)

    def test_data_that_ends_earlier_at_one_site(self):
        for kind in bt.LocalSGD, bt.DiLoCo:
            for weighted in False, True:
                outcomes = on_sites(lambda session, number: train_local(
                    session, number, kind, ends=10 if number else 3, joins=True, weighted=weighted
                ))
                self.expect_like([each[0] for each in outcomes], outcomes[0][0])
                self.assertEqual([each[1:] for each in outcomes], [(12, 3)] * 2)

    def test_settings_that_differ_are_told(self):
        for options, first in (
            (dict(fragment_sync_delay=1), r"n2 differ from n1, first in settings \(here DiLoCo, sync_every=4"),
            (dict(outer=bt.Nesterov(lr=0.6)), r"n2 \(0.6\) differ from n1 \(0.7\), first in the learning rate"),
        ):
            for said in on_sites(lambda session, number: train_local(session, number, bt.DiLoCo, **(options if number else {}))):
                self.assertRegex(str(said), f"outer/0: replicas have parted by round 1: {first}")

    def test_a_site_that_does_not_compare_is_told(self):
        told = threading.Event()

        def begin(session, number):
            model = Small()
            try:
                bt.DiLoCo(session, model, torch.optim.SGD(model.parameters(), lr=0.1), check=number == 0)
                told.wait(300)
            finally:
                told.set()

        with unittest.mock.patch("banyan.torch._replicas._INIT_SECONDS", 2.0):
            said, _ = on_sites(begin)
        self.assertRegex(str(said), "outer-check/0.* n2.* sites in C.. do not.* give check=False")

    def test_rounds_that_may_leave_sites_out_are_not_compared(self):
        outcomes = on_sites(lambda session, number: train_local(session, number, bt.LocalSGD), more="aggregation: {quorum: 0.5}")
        self.assertEqual([each[1:] for each in outcomes], [(12, 3)] * 2)
        for said in on_sites(lambda session, number: train_local(session, number, bt.LocalSGD, joins=True), more="aggregation: {quorum: 0.5}"):
            self.assertRegex(str(said), "join: expected a job that counts all workers")


def fail(gradient):
    raise MemoryError("as a test")


def parted(session, number, kind, change):
    """Trains until a difference is told; returns its text."""
    model = Small()
    ddp = DistributedDataParallel(model) if kind == "ddp" else model
    sync = bt.attach(session, ddp, check_every=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02 if number and change == "rate" else 0.01)
    if change in ("rate", "state"):
        sync.watch(optimizer)
    for step in range(12):
        optimizer.zero_grad()
        try:
            loss_of(ddp, batch(step, number)).backward()
            sync.wait(100)
        except RuntimeError as error:
            return str(error)
        optimizer.step()
        if number and step == 4 and change == "weights":
            with torch.no_grad():
                model.last.bias[0] += 1e-6
        if number and step == 4 and change == "state":
            optimizer.state[model.last.bias]["exp_avg"].zero_()
    return "nothing"


class PartedReplicasTest(Case):
    def expect_told(self, kind, change, pattern):
        for said in on_sites(lambda session, number: parted(session, number, kind, change)):
            self.assertRegex(str(said), pattern)

    def test_settings_are_told_in_the_first_round(self):
        self.expect_told(
            "plain", "rate",
            r"grad: replicas have parted by round 1: n2 \(0.02\) differ from n1 \(0.01\), first in the learning rate"
        )

    def test_checkpoints_of_other_steps_are_told(self):
        def train(session, number):
            model = Small()
            optimizer = torch.optim.Adam(model.parameters())
            step = (0, 500, 500)[number]
            if number == 1:  # a State may come before and after attach()
                state = bt.State(session, model=model, optimizer=optimizer, step=step)
            sync = bt.attach(session, model)
            if number != 1:
                state = bt.State(session, model=model, optimizer=optimizer, step=step)
            state.sync()
            loss_of(model, batch(0, number)).backward()
            sync.wait(100)

        for said in on_sites(train, nodes=3):
            self.assertRegex(str(said), r"by round 1: n[23] \(500\), n[23] \(500\) differ from n1 \(0\), first in the step of the State")

    def test_parameters_are_told_with_the_first_that_differs(self):
        self.expect_told("plain", "weights", r"parted by round 8: n2 differ from n1, first in grad/last.bias\(4\).* Look at")

    def test_the_optimizers_state_is_told(self):
        self.expect_told("plain", "state", r"parted by round 8: n2 .* first in the optimizer's state of grad/last.bias")

    def test_ddp_tells_as_well(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)
        self.expect_told("ddp", "weights", r"parted by round 8: n2 differ from n1, first in grad/last.bias")

    def test_equal_replicas_are_told_nothing_of(self):
        self.expect_told("plain", "", "nothing")


class DocumentationTest(unittest.TestCase):
    """The snippets of docs/python.md, as they stand there."""

    class Scaler:
        """A GradScaler that leaves its second step out, as there may be no GPU."""

        def __init__(self):
            self.steps = 0

        def get_scale(self):
            return 2.0 if self.steps < 2 else 1.0

        def scale(self, loss):
            return loss

        def step(self, optimizer):
            self.steps += 1
            if self.steps != 2:
                optimizer.step()

        def update(self):
            pass

    def snippet(self, start):
        path = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
        return next(each for each in re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL) if each.startswith(start))

    def test_skip_and_join(self):
        model = Small()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        failures = [1]

        def fail_once(x, y):
            if failures:
                raise torch.cuda.OutOfMemoryError(failures.pop())
            return ((x - y) ** 2).mean()

        names = dict(
            torch=torch, model=model, optimizer=optimizer, sync=bt.attach(banyan.solo(), model), loss_of=fail_once,
            batches=[batch(step, 0) for step in range(3)]
        )
        exec(self.snippet("with sync.join"), names)
        self.assertFalse(torch.equal(weights(model), weights(Small())))

    def test_local_updates(self):
        model = Small()
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        outer = bt.DiLoCo(banyan.solo(), model, inner, sync_every=2)
        names = dict(
            outer=outer, inner=inner, model=model, scaler=self.Scaler(), loss_of=nn.functional.mse_loss,
            batches=[batch(step, 0) for step in range(3)]
        )
        exec(self.snippet("with outer.join"), names)
        self.assertEqual((outer.local_step, outer.outer_step), (4, 2))


def step_all(model, data, wait, steps=6):
    """Trains with clipping; returns the weights."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(model, data(step)).backward()
        wait()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
    return weights(model)


if __name__ == "__main__":
    unittest.main()
