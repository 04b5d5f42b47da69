"""What ordinary training scripts do around the sums: each gives what one process with all batches does, or is refused."""

import contextlib
import copy
import datetime
import gc
import io
import pathlib
import pickle
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
from banyan.torch._groups import by_wire_name, trained
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


class Alone:
    """What attach() gives in the one process that sites are compared with."""

    weight = 1.0

    def wait(self, timeout=None):
        pass

    def no_sync(self):
        return contextlib.nullcontext()

    def sync_buffers(self):
        pass


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
            lambda each: setattr(each, "grad", each.grad / 4),
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
        for kind in torch.optim.Adam, torch.optim.SGD:
            self.train_with_a_late_one(kind)

    def train_with_a_late_one(self, kind):
        begun = threading.Event()

        def train(session, number):
            model = Small()
            optimizer = kind(model.parameters(), lr=0.05)
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
            return weights(model), state.step, sync._check_every

        outcomes = on_sites(train, more="membership: {start_with: 1}", late=begun)
        self.expect_like([each[0] for each in outcomes], outcomes[0][0])
        self.assertEqual([each[1:] for each in outcomes], [(30, 2)] * 2)


    def late_to_local_updates(self, groups=1):
        begun = threading.Event()

        def train(session, number):
            model = Small()
            each = [dict(params=list(part.parameters())) for part in (model.first, model.last)]
            inner = torch.optim.SGD(each if number and groups == 2 else model.parameters(), lr=1e-3)
            outer = bt.DiLoCo(session, model, inner, sync_every=2)
            scheduler = torch.optim.lr_scheduler.StepLR(inner, 5, gamma=0.5)
            state = bt.State(session, model=model, outer=outer, scheduler=scheduler)
            try:
                state.sync(100)
                while state.step < 20:
                    inner.zero_grad()
                    loss_of(model, batch(state.step, number)).backward()
                    inner.step()
                    scheduler.step()
                    state.advance(100)
                    if state.step == 11:
                        begun.set()
                    time.sleep(0.0 if number else 0.05)
            finally:
                begun.set()
            return inner.param_groups[0]["lr"], outer.outer_step

        return on_sites(train, more="membership: {start_with: 1}", late=begun)

    def test_a_site_that_comes_late_to_local_updates_has_the_learning_rate(self):
        self.assertEqual(self.late_to_local_updates(), [(1e-3 / 16, 10)] * 2)

    def test_a_late_site_with_other_groups_of_parameters_is_refused(self):
        told = self.late_to_local_updates(groups=2)[1]
        self.assertRegex(str(told), "expected an optimizer with groups of 4 parameters, as the others have, got 2, 2")

    def test_local_updates_that_let_nobody_in_are_refused_a_state(self):
        for every, fragments, delay in (6, 3, 2), (6, 2, 3), (100, 3, 40):
            for is_less in 0, 1:
                model = nn.Sequential(*(nn.Linear(1, 1) for _ in range(fragments)))
                outer = bt.StreamingDiLoCo(
                    banyan.solo(), model, torch.optim.SGD(model.parameters(), lr=1), sync_every=every, fragments=fragments,
                    fragment_sync_delay=delay - is_less * (1 if every < 100 else 7)
                )
                with contextlib.nullcontext() if is_less else self.assertRaisesRegex(banyan.InvalidArgument, "fragment_sync_delay"):
                    bt.State(banyan.solo(), model=model, outer=outer)


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
        for kind in bt.LocalSGD, bt.DiLoCo, streaming:
            for weighted in False, True:
                outcomes = on_sites(lambda session, number: train_local(
                    session, number, kind, ends=10 if number else 3, joins=True, weighted=weighted
                ))
                self.expect_like([each[0] for each in outcomes], outcomes[0][0])
                self.assertEqual([each[1:] for each in outcomes], [(13, 6) if kind is streaming else (12, 3)] * 2)

    def test_what_one_site_alone_has_in_the_end_is_told(self):
        with self.assertLogs("banyan", "WARNING") as told:
            train_local(banyan.solo(), 0, bt.LocalSGD, ends=11)
        self.assertIn("outer: this site alone has what its last 3 steps came to", told.output[0])

    def test_an_optimizer_that_wraps_another_steps(self):
        class Wrapped(torch.optim.Optimizer):
            """As accelerate has it, without what Optimizer makes."""

            def __init__(self, inner):
                self.inner = inner

            param_groups = property(lambda self: self.inner.param_groups)

            def step(self):
                self.inner.step()

        model = Small()
        inner = Wrapped(torch.optim.SGD(model.parameters(), lr=0.1))
        outer = bt.DiLoCo(banyan.solo(), model, inner, sync_every=2)
        inner.step()
        inner.step()
        self.assertEqual((outer.local_step, outer.outer_step), (2, 1))

    def test_settings_that_differ_are_told(self):
        for options, first in (
            (dict(fragment_sync_delay=1), r"n2 differ from n1, first in settings \(here DiLoCo, sync_every=4"),
            (dict(outer=bt.Nesterov(lr=0.6)), r"n2 \(0.6\) differ from n1 \(0.7\), first in the learning rate"),
        ):
            for said in on_sites(lambda session, number: train_local(session, number, bt.DiLoCo, **(options if number else {}))):
                self.assertRegex(str(said), f"outer/0: replicas have parted by round 1: {first}")

    def test_a_site_that_does_not_compare_is_told(self):
        for plain in 1, 0:
            self.expect_told_of_a_site_that_does_not_compare(plain)

    def expect_told_of_a_site_that_does_not_compare(self, plain):
        told = threading.Event()

        def begin(session, number):
            model = Small()
            if number == plain:  # what a site in C++ makes known
                session.init_group("outer/0", by_wire_name("outer/0", trained(model)))
                session.init("outer-fixed", torch.zeros(1, dtype=torch.int64))
                told.wait(300)
                return
            try:
                bt.DiLoCo(session, model, torch.optim.SGD(model.parameters(), lr=0.1))
            finally:
                told.set()

        with unittest.mock.patch("banyan.torch._replicas._INIT_SECONDS", 2.0):
            said = on_sites(begin)[1 - plain]
        why = "outer-check/0.* n2" if plain else "outer: the lowest worker .* compares nothing"
        self.assertRegex(str(said), f"{why}.* Sites in C.. do not compare .* give check=False")

    def test_a_site_with_other_settings_of_its_own_is_told(self):
        told = threading.Event()

        def begin(session, number):
            model = Small()
            try:
                bt.attach(session, model, weighted=number == 1)
                told.wait(300)
            finally:
                told.set()

        self.assertRegex(str(on_sites(begin)[1]), "grad: expected the settings of the lowest worker, got .* weighted=True, check_every=100")

    def test_rounds_that_may_leave_sites_out_are_not_compared(self):
        outcomes = on_sites(lambda session, number: train_local(session, number, bt.LocalSGD), more="aggregation: {quorum: 0.5}")
        self.assertEqual([each[1:] for each in outcomes], [(12, 3)] * 2)
        for said in on_sites(lambda session, number: train_local(session, number, bt.LocalSGD, joins=True), more="aggregation: {quorum: 0.5}"):
            self.assertRegex(str(said), "join: expected a job that counts all workers")


def streaming(session, model, inner, **options):
    parts = [model.first, model.last]
    return bt.StreamingDiLoCo(session, model, inner, fragments=parts, fragment_sync_delay=1, fragment_update_alpha=0, **options)


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
        if number and step == 4 and change == "wait":
            sync.wait(100)  # once more
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

    def test_checkpoints_of_other_steps_are_told_where_nobody_calls_sync(self):
        def train(session, number):
            model = Small()
            optimizer = torch.optim.Adam(model.parameters())
            step = (0, 500, 500)[number]
            if number == 1:  # a State may come before and after attach()
                bt.State(session, model=model, optimizer=optimizer, step=step)
            sync = bt.attach(session, model)
            if number != 1:
                bt.State(session, model=model, optimizer=optimizer, step=step)
            loss_of(model, batch(0, number)).backward()
            sync.wait(100)

        for said in on_sites(train, nodes=3):
            self.assertRegex(str(said), r"by round 1: n[23] \(500\), n[23] \(500\) differ from n1 \(0\), first in the step of the State")

    def test_parameters_are_told_with_the_first_that_differs(self):
        self.expect_told("plain", "weights", r"parted by round 8: n2 differ from n1, first in grad/last.bias\(4\).* Look at")

    def test_the_optimizers_state_is_told(self):
        self.expect_told("plain", "state", r"parted by round 8: n2 .* first in the optimizer's state of grad/last.bias")

    def test_a_wait_too_many_is_told(self):
        self.expect_told("plain", "wait", "parted by round 8: n2 differ from n1, first in")

    def test_ddp_tells_as_well(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)
        self.expect_told("ddp", "weights", r"parted by round 8: n2 differ from n1, first in grad/last.bias")

    def test_equal_replicas_are_told_nothing_of(self):
        self.expect_told("plain", "", "nothing")


class TwoNetworksTest(Case):
    def test_a_generator_and_a_discriminator(self):
        def train(number, sites, attach, wait_d, wait_g):
            generator, discriminator = Small(), nn.Linear(4, 1)
            with torch.no_grad():
                discriminator.weight.fill_(0.1)
                discriminator.bias.zero_()
            syncs = attach(generator, discriminator)
            steps = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (generator, discriminator)]
            for step in range(4):
                x, y = joint_batch(step, sites)
                steps[1].zero_grad()
                with syncs[1].no_sync():
                    discriminator(y).mean().backward()
                (-discriminator(generator(x).detach())).mean().backward()
                wait_d(syncs)
                steps[1].step()
                steps[0].zero_grad()
                with syncs[1].no_sync():
                    discriminator(generator(x)).square().mean().backward()
                wait_g(syncs)
                steps[0].step()
            return torch.cat([weights(generator), weights(discriminator)])

        class Alone:
            def no_sync(self):
                return contextlib.nullcontext()

        alone = train(0, range(2), lambda *_: [Alone()] * 2, lambda _: None, lambda _: None)
        self.expect_like(on_sites(lambda session, number: train(
            number, [number], lambda g, d: [bt.attach(session, g, name="g"), bt.attach(session, d, name="d")],
            lambda syncs: syncs[1].wait(100), lambda syncs: syncs[0].wait(100)
        )), alone)

    def test_a_name_that_was_taken_is_told(self):
        session = banyan.solo()
        bt.attach(session, Small())
        with self.assertRaisesRegex(banyan.AlreadyExists, "grad: .* give another name="):
            bt.attach(session, Small())

    def test_one_state_of_both(self):
        begun = threading.Event()

        def train(session, number):
            models = [Small(), Small()]
            with torch.no_grad():
                models[1].last.bias.fill_(2)
            syncs = [bt.attach(session, each, name=f"grad{i}") for i, each in enumerate(models)]
            optimizers = [torch.optim.Adam(each.parameters(), lr=0.01 * (i + 1)) for i, each in enumerate(models)]
            state = bt.State(session, model=models, optimizer=optimizers)
            self.assertEqual(state.sync(100), number > 0)
            while state.step < 12:
                for i, (model, sync, optimizer) in enumerate(zip(models, syncs, optimizers)):
                    optimizer.zero_grad()
                    loss_of(model, batch(state.step, 10 * i + number)).backward()
                    sync.wait(100)
                    optimizer.step()
                state.advance(100)
                if state.step == 3:
                    begun.set()
                time.sleep(0.0 if number else 0.05)
            return torch.cat([weights(each) for each in models])

        outcomes = on_sites(train, more="membership: {start_with: 1}", late=begun)
        self.expect_like(outcomes, outcomes[0])

    def test_a_second_state_is_refused(self):
        session = banyan.solo()
        model = Small()
        bt.State(session, model=model).sync()
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"model=\[one, other\]"):
            bt.State(session, model=model)


class OtherModelsTest(Case):
    """Sites whose models are the same, and look otherwise."""

    def test_channels_last_at_one_site(self):
        for kind in "ddp", "plain":
            if kind == "ddp":
                bt.local_group()
                self.addCleanup(torch.distributed.destroy_process_group)

            def gradient(session, number):
                net = nn.Conv2d(2, 2, 2)
                if number:
                    net = net.to(memory_format=torch.channels_last)
                model = DistributedDataParallel(net) if kind == "ddp" else net
                sync = bt.attach(session, model)
                model(torch.arange(8.0).view(1, 2, 2, 2)).sum().backward()
                sync.wait(100)
                return net.weight.grad[0].flatten().tolist()

            self.assertEqual(on_sites(gradient), [[0, 1, 2, 3, 4, 5, 6, 7]] * 2)

    def test_a_model_that_one_site_has_compiled_or_wrapped(self):
        class Compiled(nn.Module):  # as torch 2 has it
            def __init__(self, module):
                super().__init__()
                self._orig_mod = module

            def forward(self, x):
                return self._orig_mod(x)

        for wrap in Compiled, nn.DataParallel, inside_of(Compiled):
            def train(session, number):
                net = Small()
                model = wrap(net) if number else net
                sync = bt.attach(session, model)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                state = bt.State(session, model=model, optimizer=optimizer)
                state.sync(100)
                for step in range(3):
                    optimizer.zero_grad()
                    loss_of(net, batch(step, number)).backward()
                    sync.wait(100)
                    optimizer.step()
                    state.advance(100)
                return weights(net)

            outcomes = on_sites(train)
            self.expect_like(outcomes, outcomes[0])

    def test_complex_weights(self):
        class Phases(nn.Module):
            def __init__(self):
                super().__init__()
                self.phases = nn.Parameter(torch.tensor([1 + 1j, 2 - 1j]))

            def forward(self, x):
                return (x * self.phases).abs().square().mean()

        def train(model, data, wait):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            for step in range(4):
                optimizer.zero_grad()
                model(torch.cat(data(step))).backward()
                wait()
                optimizer.step()
            return torch.view_as_real(model.phases.detach())

        def on_site(session, number):
            model = Phases()
            sync = bt.attach(session, model)
            return train(model, lambda step: [batch(step, number)[0][:, :2]], lambda: sync.wait(100))

        alone = train(Phases(), lambda step: [batch(step, i)[0][:, :2] for i in range(2)], lambda: None)
        self.expect_like(on_sites(on_site), alone)

        def local(session, number):
            model = Phases()
            outer = bt.LocalSGD(session, model, torch.optim.SGD(model.parameters(), lr=0.05), sync_every=1)
            for step in range(4):
                outer.inner.zero_grad()
                model(batch(step, number)[0][:, :2]).backward()
                outer.inner.step()
            return torch.view_as_real(model.phases.detach())

        self.expect_like(on_sites(local), alone)
        with self.assertRaisesRegex(banyan.InvalidArgument, "view_as_real"):
            banyan.solo().init("w", torch.zeros(2, dtype=torch.complex64))


def inside_of(wrapper):
    def wrap(net):
        net.last = wrapper(net.last)
        return net

    return wrap


class CopiesTest(Case):
    def test_a_copy_sends_nothing_and_says_so(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)
        session = banyan.solo()
        ddp = DistributedDataParallel(Small())
        sync = bt.attach(session, ddp)
        copy.deepcopy(ddp)
        for twin in copy.deepcopy(sync), pickle.loads(pickle.dumps(sync)):
            with self.assertRaisesRegex(banyan.FailedPrecondition, "copy of an attachment"):
                twin.wait()
        model = Small()
        outer = bt.DiLoCo(session, model, torch.optim.SGD(model.parameters(), lr=0.1))
        for each, remedy in (session, r"banyan.join\(\)"), (outer, "state_dict"):
            for attempt in copy.deepcopy, pickle.dumps:
                with self.assertRaisesRegex(banyan.FailedPrecondition, remedy):
                    attempt(each)


class TimeoutTest(Case):
    def test_ddp_ends_its_wait(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)
        told = threading.Event()

        def train(session, number):
            ddp = DistributedDataParallel(Small())
            bt.attach(session, ddp, timeout=1)
            if number:
                told.wait(100)
            else:
                try:
                    loss_of(ddp, batch(0, 0)).backward()
                finally:
                    told.set()

        self.assertRegex(str(on_sites(train)[0]), r"backward\(\) has waited for 1 s; .*n2")


class NamesOfOthersTest(Case):
    """What other packages call the same things."""

    def test_tickets_times_and_errors(self):
        def body(session, number):
            session.init("w", torch.zeros(1), timeout=datetime.timedelta(minutes=1))
            if number:
                ticket = session.push_pull("w", torch.ones(1))
                with self.assertRaises(banyan.TimeoutError):
                    ticket.exception(datetime.timedelta(seconds=0.1))
                self.assertFalse(ticket.is_completed())
            else:
                time.sleep(0.5)
                ticket = session.push_pull("w", torch.ones(1) * 3)
            future = ticket.get_future()
            return future.wait().item(), ticket.exception(), ticket.is_completed()

        self.assertEqual(on_sites(body), [(2.0, None, True)] * 2)
        self.assertIs(banyan.FailedPreconditionError, banyan.FailedPrecondition)

    def test_local_updates_from_a_checkpoint(self):
        def train(state):
            model = Small()
            inner = torch.optim.SGD(model.parameters(), lr=0.1)
            with bt.DiLoCo(banyan.solo(), model, inner, outer_optimizer=bt.Nesterov(lr=0.6), sync_every=2) as outer:
                if state is not None:
                    outer.load_state_dict(state["outer"])
                    model.load_state_dict(state["model"])
                while outer.local_step < 8:
                    inner.zero_grad()
                    loss_of(model, batch(outer.local_step, 0)).backward()
                    inner.step()
                    if outer.local_step == 5 and state is None:
                        saved = copy.deepcopy({"outer": outer.state_dict(), "model": model.state_dict()})
            inner.step()  # which counts no more
            self.assertEqual((outer.local_step, outer.outer_step), (8, 4))
            return weights(model), saved if state is None else None

        whole, saved = train(None)
        self.assertTrue(torch.equal(train(saved)[0], whole))

    def test_a_ddp_that_is_detached_is_that_of_its_group(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)

        def train(session, number):
            ddp = DistributedDataParallel(Small())
            sync = bt.attach(session, ddp)
            sync.detach()
            loss_of(ddp, batch(0, number)).backward()
            return ddp.module.last.bias.grad.clone()

        for number, gradient in enumerate(on_sites(train)):
            model = Small()
            loss_of(model, batch(0, number)).backward()
            self.assertTrue(torch.equal(gradient, model.last.bias.grad))


class DocumentationTest(unittest.TestCase):
    """The snippets of docs/pytorch.md and docs/python.md, as they stand there: all of them."""

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

    @staticmethod
    def snippets():
        docs = pathlib.Path(__file__).parents[2] / "docs"
        return [
            each for name in ("pytorch.md", "python.md")
            for each in re.findall(r"```python\n(.*?)```", (docs / name).read_text(), re.DOTALL)
        ]

    def run_snippet(self, start, **names):
        """Runs the snippet that begins so, with a model, an optimizer and a job of one; returns its names."""
        model = Small()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        batches = [batch(step, 0) for step in range(3)]
        names = {
            **dict(torch=torch, banyan=banyan, bt=bt, job=banyan.solo(), model=model, optimizer=optimizer, inner=optimizer),
            **dict(scheduler=None, batches=batches, steps=3, dataset=torch.randn(20, 8)), **names
        }
        with contextlib.redirect_stdout(io.StringIO()):
            exec(next(each for each in self.snippets() if each.startswith(start)), names)
        return names

    def test_every_snippet_is_run(self):
        methods = [value for name, value in vars(type(self)).items() if name.startswith("test_")]
        constants = [each for method in methods for each in method.__code__.co_consts]
        constants += [each for several in constants if isinstance(several, tuple) for each in several]  # since Python 3.13
        starts = [each for each in constants if isinstance(each, str)]
        for snippet in self.snippets():
            self.assertTrue(any(snippet.startswith(each) for each in starts if len(each) > 5), snippet)

    def test_the_first_program(self):
        with unittest.mock.patch.object(banyan, "join", banyan.solo):
            names = self.run_snippet("import banyan, banyan.torch")
        self.assertGreater(names["model"].weight.mean().item(), 0.8)

    def test_a_sampler(self):
        self.assertEqual(len(self.run_snippet("sampler = ")["loader"]), 2)

    def test_a_state(self):
        def advance_alone(text):
            return text.replace("...", "pass")

        with unittest.mock.patch.object(self, "snippets", lambda: [advance_alone(each) for each in type(self).snippets()]):
            self.assertEqual(self.run_snippet("state = bt.State")["state"].step, 3)

    def test_an_end_that_all_agree_on(self):
        text = next(each for each in self.snippets() if each.startswith('job.init("stop"'))
        with unittest.mock.patch.object(self, "snippets", lambda: [text.replace("if job", "while job")]):
            self.run_snippet('job.init("stop"', wants_to_stop=True)

    def test_a_process_group(self):
        self.assertEqual(self.run_snippet("bt.init_process_group")["loss"].tolist(), [1])

    def test_tensors(self):
        a, b, gradient = (torch.tensor([float(i)]) for i in range(3))
        names = self.run_snippet("weights = job.init", weights=a.clone(), gradient=gradient, value=b.clone(), a=a, b=b)
        self.assertEqual(names["mean"].tolist(), [2])

    def test_each_kind_of_local_updates(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)
        lines = next(each for each in self.snippets() if each.startswith("outer = bt.DiLoCo")).splitlines()
        for line in lines:
            with self.subTest(line), unittest.mock.patch.object(self, "snippets", lambda: [line]):
                model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(4)))
                inner = torch.optim.SGD(model.parameters(), lr=0.1)
                self.assertIsInstance(self.run_snippet("outer = ", model=model, inner=inner)["outer"], bt.DiLoCo)

    def test_skip_and_join(self):
        failures = [1]

        def fail_once(x, y):
            if failures:
                raise torch.cuda.OutOfMemoryError(failures.pop())
            return ((x - y) ** 2).mean()

        model = Small()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        sync = bt.attach(banyan.solo(), model)
        self.run_snippet("with sync.join", loss_of=fail_once, sync=sync, model=model, optimizer=optimizer)
        self.assertFalse(torch.equal(weights(model), weights(Small())))

    def test_local_updates(self):
        model = Small()
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        outer = bt.DiLoCo(banyan.solo(), model, inner, sync_every=2)
        names = dict(outer=outer, inner=inner, model=model, scaler=self.Scaler(), loss_of=nn.functional.mse_loss)
        self.run_snippet("with outer.join", **names)
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
