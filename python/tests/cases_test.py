"""More things that scripts do: each gives what one process with all batches does, or is refused with a remedy."""

import contextlib
import copy
import io
import logging
import os
import pickle
import signal
import sys
import threading
import time
import unittest
import unittest.mock

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import prune
from torch.utils.checkpoint import checkpoint

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from scripts_test import Alone, Case, Small, on_sites, weights
from torch_test import batch, joint_batch, loss_of


class Cases(Case):
    def expect_one_process(self, train, *, nodes=2, tolerance=1e-6, more="", **options):
        """Expects of train(attach, data) at sites, each with its batches, what it gives in one process with all."""

        def on_site(session, number):
            def attach(model, **own):
                return bt.attach(session, model, timeout=100, **options, **own)

            return train(attach, lambda step: batch(step, number))

        alone = train(lambda model, **_: Alone(), lambda step: joint_batch(step, range(nodes)))
        self.expect_like(on_sites(on_site, nodes, more), alone, tolerance)

    def local_group(self):
        bt.local_group()
        self.addCleanup(torch.distributed.destroy_process_group)


def plain_loop(model, sync, data, *, steps=4, optimizer=None, loss=loss_of):
    """The loop that most cases have; returns the weights."""
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(steps):
        optimizer.zero_grad()
        loss(model, data(step)).backward()
        sync.wait()
        optimizer.step()
    return weights(model)


def void(_):
    """What hooks give that change nothing of what comes after them."""


class Checkpointed(nn.Module):
    """Blocks whose activations are computed again in backward; `times` each."""

    def __init__(self, use_reentrant, times=1):
        super().__init__()
        self.small = Small()
        self.use_reentrant, self.times = use_reentrant, times

    def forward(self, x):
        x = x.clone().requires_grad_()  # reentrant checkpoints need an input with a gradient
        for _ in range(self.times):
            x = torch.tanh(checkpoint(self.small.first, x, use_reentrant=self.use_reentrant))
        return self.small.last(x)


class BackwardTest(Cases):
    """Ways in which gradients come about."""

    def test_checkpoints_of_both_kinds(self):
        for use_reentrant in False, True:
            for ddp in False, True:
                if ddp and not torch.distributed.is_initialized():
                    self.local_group()

                def train(attach, data):
                    inner = Checkpointed(use_reentrant)
                    model = DistributedDataParallel(inner) if ddp else inner
                    return plain_loop(model, attach(model), data)

                with self.subTest(use_reentrant=use_reentrant, ddp=ddp):
                    self.expect_one_process(train)

    def test_a_layer_in_two_checkpoints(self):
        def train(attach, data):
            model = Checkpointed(False, times=2)
            return plain_loop(model, attach(model), data)

        self.expect_one_process(train)
        model = Checkpointed(True, times=2)
        sync = bt.attach(banyan.solo(), model)
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"a checkpoint's: the whole backward under no_sync\(\)"):
            loss_of(model, batch(0, 0)).backward()

        def train_as_told(attach, data):
            model = Checkpointed(True, times=2)
            sync = attach(model)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
            for step in range(4):
                optimizer.zero_grad()
                with sync.no_sync():
                    loss_of(model, data(step)).backward()
                sync.wait()
                optimizer.step()
            return weights(model)

        self.expect_one_process(train_as_told)

    def test_losses_that_run_backward_one_by_one(self):
        """Of parts that have nothing in common as they come; of a common trunk all but the last under no_sync()."""

        def apart(attach, data):
            policy, value = Small(), Small()
            both = nn.ModuleList([policy, value])
            sync = attach(both)
            optimizer = torch.optim.Adam(both.parameters(), lr=0.05)
            for step in range(4):
                optimizer.zero_grad()
                loss_of(policy, data(step)).backward()
                loss_of(value, data(step + 100)).backward()
                sync.wait()
                optimizer.step()
            return weights(both)

        def trunk(attach, data):
            model = Small()
            sync = attach(model)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
            for step in range(4):
                optimizer.zero_grad()
                (x, y), hidden = data(step), None
                hidden = model(x)
                with sync.no_sync():
                    (hidden - y).abs().mean().backward(retain_graph=True)
                (hidden - y).square().mean().backward()
                sync.wait()
                optimizer.step()
            return weights(model)

        self.expect_one_process(apart)
        self.expect_one_process(trunk)
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        out = loss_of(model, batch(0, 0))
        out.backward(retain_graph=True)
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"second backward\(\) before wait\(\).* under no_sync\(\)"):
            out.backward()

    def test_a_gradient_penalty(self):
        def loss(model, data):
            x, y = data
            x = x.clone().requires_grad_()
            out = model(x)
            slopes, = torch.autograd.grad(out.sum(), x, create_graph=True)
            return (out - y).square().mean() + slopes.square().sum(1).mean()

        def train(attach, data):
            model = Small()
            return plain_loop(model, attach(model), data, loss=loss)

        self.expect_one_process(train)
        model = Small()
        bt.attach(banyan.solo(), model)
        loss_of(model, batch(0, 0)).backward(create_graph=True)
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"second backward\(\)"):
            sum(each.grad.square().sum() for each in model.parameters()).backward()

    def test_gradients_that_are_computed_and_put_there_by_hand(self):
        def train(attach, data):
            model = Small()
            sync = attach(model)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
            for step in range(4):
                parameters = list(model.parameters())
                for each, gradient in zip(parameters, torch.autograd.grad(loss_of(model, data(step)), parameters)):
                    each.grad = gradient
                sync.wait()
                optimizer.step()
            return weights(model)

        self.expect_one_process(train)

    def test_what_no_site_uses_stays_as_it_is(self):
        """As in one process, where its gradient is None: no weight decay, no momentum and no step of it."""
        class Spared(Small):
            def __init__(self):
                super().__init__()
                self.spare = nn.Linear(3, 3)
                with torch.no_grad():
                    for each in self.spare.parameters():
                        each.fill_(1)

            def forward(self, x, with_spare=False):
                return self.last(torch.tanh(self.first(x))) + (self.spare(x[:, :3]).mean(1, keepdim=True) if with_spare else 0)

        for kind in "plain", "weighted", "ddp":
            if kind == "ddp":
                self.local_group()

            def train(attach, data):
                model = Spared()
                if kind == "ddp":
                    model = DistributedDataParallel(model, find_unused_parameters=True)
                sync = attach(model, weighted=kind == "weighted")
                optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)
                for step in range(5):
                    optimizer.zero_grad(set_to_none=True)
                    loss_of(model, data(step), with_spare=step == 2).backward()
                    sync.wait()
                    optimizer.step()
                return weights(model)

            self.expect_one_process(train)

    def test_hooks_of_ones_own(self):
        """Hooks on tensors come before what travels; those after it may not change it."""
        for register in (
            lambda model: [each.register_hook(lambda gradient: gradient * 0.5) for each in model.parameters()],
            lambda model: [model.first.register_full_backward_hook(lambda module, before, after: (before[0],))],
        ):
            def train(attach, data):
                model = Small()
                sync = attach(model)
                register(model)
                return plain_loop(model, sync, data)

            self.expect_one_process(train)

    def test_a_hook_that_changes_what_has_been_sent_is_refused(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        each = model.last.bias
        accumulator = each.expand_as(each).grad_fn.next_functions[0][0]
        accumulator.register_hook(lambda *_: void(each.grad.clamp_(-1e-3, 1e-3)))
        loss_of(model, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"last.bias.* was changed .* Call wait\(\) first"):
            sync.wait()

    def test_a_backward_that_is_compiled_is_refused(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)

        def backward():
            loss_of(model, batch(0, 0)).backward()

        if hasattr(torch, "compiler"):
            backward, compiling = torch.compile(backward, backend="eager"), contextlib.nullcontext()
        else:  # this torch has no compiler, and is told that it has
            compiling = unittest.mock.patch.object(sys.modules["banyan.torch.attach"], "_is_compiling", lambda: True)
        with compiling, self.assertRaisesRegex(banyan.FailedPrecondition, "compile the model or the loss, and call backward.. outside"):
            backward()
        loss_of(model, batch(0, 0)).backward()
        sync.wait()

    def test_a_backward_on_another_thread(self):
        def train(attach, data):
            model = Small()
            sync = attach(model)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
            for step in range(3):
                optimizer.zero_grad()
                loss = loss_of(model, data(step))
                thread = threading.Thread(target=loss.backward)
                thread.start()
                thread.join()
                sync.wait()
                optimizer.step()
            return weights(model)

        self.expect_one_process(train)


class AccumulationTest(Cases):
    """Several backward passes a step."""

    PARTS = 3

    def train(self, attach, data, body, ddp=False):
        model = Small()
        model = DistributedDataParallel(model) if ddp else model
        sync = attach(model)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for step in range(3):
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            parts = [lambda i=i: (loss_of(model, data(10 * step + i)) / self.PARTS).backward() for i in range(self.PARTS)]
            body(model, sync, parts)
            optimizer.step()
        return weights(model)

    def test_all_under_no_sync(self):
        def body(model, sync, backwards):
            with sync.no_sync():
                for backward in backwards:
                    backward()
            sync.wait()

        self.expect_one_process(lambda attach, data: self.train(attach, data, body))

    def test_a_wait_after_each(self):
        def body(model, sync, backwards):
            for backward in backwards:
                backward()
                sync.wait()

        for weighted in False, True:
            self.expect_one_process(lambda attach, data: self.train(attach, data, body), weighted=weighted)

    def test_a_wait_after_each_in_a_job_that_sums(self):
        """What has come is summed again, at all sites: it is told."""
        def body(model, sync, backwards):
            for backward in backwards:
                backward()
                sync.wait()

        for said in on_sites(lambda session, number: self.train(
            lambda model: bt.attach(session, model), lambda step: batch(step, number), body
        ), more="aggregation: {op: sum}"):
            self.assertRegex(str(said), "sum.*no_sync")

    def test_the_same_switch_on_a_plain_module_is_told(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        model.require_backward_grad_sync = False
        loss_of(model, batch(0, 0)).backward()
        model.require_backward_grad_sync = True
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"accumulate: all but the last under no_sync\(\)"):
            loss_of(model, batch(1, 0)).backward()

    def test_sites_with_unequal_numbers_of_passes(self):
        def train(session, number):
            model = Small()
            sync = bt.attach(session, model)
            with sync.no_sync():
                for i in range(1 + 2 * number):
                    loss_of(model, batch(i, number)).backward()
            sync.wait()
            torch.optim.SGD(model.parameters(), lr=0.1).step()
            return weights(model)

        model = Small()
        (sum(loss_of(model, batch(i, number)) for number, i in ((0, 0), (1, 0), (1, 1), (1, 2))) / 2).backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        self.expect_like(on_sites(train), weights(model))


class Scaler:
    """torch's GradScaler on a CPU: of the same steps in the same order, and with a state."""

    def __init__(self, scale=8.0):
        self.scale_now, self.good = scale, 0

    def scale(self, loss):
        return loss * self.scale_now

    def unscale_(self, optimizer):
        self.found = False
        for group in optimizer.param_groups:
            for each in group["params"]:
                if each.grad is not None:
                    each.grad.div_(self.scale_now)
                    self.found = self.found or not bool(each.grad.isfinite().all())

    def step(self, optimizer):
        if not self.found:
            optimizer.step()

    def update(self):
        self.good = 0 if self.found else self.good + 1
        self.scale_now = self.scale_now / 2 if self.found else self.scale_now * (2 if self.good % 2 == 0 else 1)

    def state_dict(self):
        return {"scale": self.scale_now, "good": self.good}

    def load_state_dict(self, state):
        self.scale_now, self.good = state["scale"], state["good"]


class OptimizerTest(Cases):
    """What comes between wait() and the next backward, and in which order."""

    def test_a_scaler_with_one_sites_overflow(self):
        """What is infinite at one site is so at all, and all leave the step out."""
        def train(session, number, data):
            model = Small()
            sync = bt.attach(session, model) if session else Alone()
            optimizer, scaler = torch.optim.Adam(model.parameters(), lr=0.05), Scaler()
            for step in range(6):
                optimizer.zero_grad()
                loss = scaler.scale(loss_of(model, data(step)))
                if step == 2 and number in (1, None):
                    loss = loss * float("inf")
                loss.backward()
                sync.wait()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                scaler.step(optimizer)
                scaler.update()
            return torch.cat([weights(model), torch.tensor([scaler.scale_now])])

        outcomes = on_sites(lambda session, number: train(session, number, lambda step: batch(step, number)))
        self.expect_like(outcomes, train(None, None, lambda step: joint_batch(step, range(2))))

    def test_a_late_site_has_the_scale_of_the_others(self):
        begun = threading.Event()

        def train(session, number):
            model, scaler = Small(), Scaler(2.0 ** 16 if number else 8.0)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            sync = bt.attach(session, model)
            state = bt.State(session, model=model, optimizer=optimizer, scheduler=[scaler])
            state.sync(100)
            while state.step < 12:
                optimizer.zero_grad()
                scaler.scale(loss_of(model, batch(state.step, number))).backward()
                sync.wait(100)
                scaler.unscale_(optimizer)
                scaler.step(optimizer)
                scaler.update()
                state.advance(100)
                if state.step == 3:
                    begun.set()
                time.sleep(0.0 if number else 0.05)
            return torch.cat([weights(model), torch.tensor([scaler.scale_now])])

        outcomes = on_sites(train, more="membership: {start_with: 1}", late=begun)
        self.expect_like(outcomes, outcomes[0])

    def test_step_before_wait_is_refused(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss_of(model, batch(0, 0)).backward()
        optimizer.step()
        said = r"first.weight.*: this parameter was changed between backward\(\) and wait\(\)"
        with self.assertRaisesRegex(banyan.FailedPrecondition, said):
            sync.wait()

    def test_an_optimizer_that_steps_in_backward_is_refused(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        kept = []
        for each in model.parameters():
            accumulator = each.expand_as(each).grad_fn.next_functions[0][0]
            accumulator.register_hook(lambda *_, of=each: torch.optim.SGD([of], lr=0.1).step())
            kept.append(accumulator)
        loss_of(model, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"this parameter was changed between backward\(\) and wait\(\)"):
            sync.wait()

    def test_a_weight_that_comes_too_late_is_refused(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model, weighted=True)
        loss_of(model, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"weight: .* set it before the last backward\(\)"):
            sync.weight = 2
        sync.wait()
        sync.weight = 2

    def test_weight_zero_counts_for_nothing_whatever_the_gradients_are(self):
        """As those of a batch are whose targets are all left out: no numbers."""
        def gradients(session, number):
            model = Small()
            sync = bt.attach(session, model, weighted=True)
            sync.weight = 1 - number
            (loss_of(model, batch(0, 0)) * (float("nan") if number else 1)).backward()
            sync.wait(100)
            return model.last.weight.grad.flatten()

        def local(session, number):
            model = Small()
            inner = torch.optim.SGD(model.parameters(), lr=0.1)
            outer = bt.LocalSGD(session, model, inner, sync_every=1, weighted=True)
            outer.weight = 1 - number
            (loss_of(model, batch(0, 0)) * (float("nan") if number else 1)).backward()
            inner.step()
            return weights(model)

        for each in gradients, local:
            self.expect_like(on_sites(each), each(banyan.solo(), 0))

    def test_two_steps_a_backward_and_an_optimizer_for_each_part(self):
        def train(attach, data):
            model = Small()
            sync = attach(model)
            kinds = (torch.optim.Adam, model.first), (torch.optim.SGD, model.last)
            optimizers = [kind(part.parameters(), lr=0.05) for kind, part in kinds]
            for step in range(4):
                for each in optimizers:
                    each.zero_grad(set_to_none=step % 2 == 0)
                loss_of(model, data(step)).backward()
                sync.wait()
                for each in optimizers:
                    each.step()
                    each.step()
            return weights(model)

        self.expect_one_process(train)

    def test_groups_that_come_later(self):
        """Frozen at first, and given to the optimizer when they are trained."""
        def train(attach, data):
            model = Small()
            sync = attach(model)
            model.first.requires_grad_(False)
            optimizer = torch.optim.Adam(model.last.parameters(), lr=0.05)
            for step in range(6):
                if step == 3:
                    model.first.requires_grad_(True)
                    optimizer.add_param_group(dict(params=list(model.first.parameters()), lr=0.01))
                optimizer.zero_grad()
                loss_of(model, data(step)).backward()
                sync.wait()
                optimizer.step()
            return weights(model)

        self.expect_one_process(train)

    def test_a_group_that_a_state_does_not_know_is_refused(self):
        model = Small()
        job = banyan.solo()
        sync = bt.attach(job, model)
        optimizer = torch.optim.Adam(model.last.parameters(), lr=0.05)
        state = bt.State(job, model=model, optimizer=optimizer)
        state.sync()
        optimizer.add_param_group(dict(params=list(model.first.parameters())))
        loss_of(model, batch(0, 0)).backward()
        sync.wait()
        optimizer.step()
        with self.assertRaisesRegex(banyan.FailedPrecondition, "State: .*add_param_group"):
            state.advance()

    def test_what_is_frozen_for_some_steps(self):
        def train(attach, data):
            model = Small()
            sync = attach(model)
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)
            for step in range(6):
                model.first.requires_grad_(step not in (2, 3))
                optimizer.zero_grad(set_to_none=True)
                loss_of(model, data(step)).backward()
                sync.wait()
                optimizer.step()
            return weights(model)

        self.expect_one_process(train)


class ModelTest(Cases):
    """Models of all kinds, and what happens to them after attach()."""

    def test_layers_of_many_kinds(self):
        class Zoo(nn.Module):
            def __init__(self):
                super().__init__()
                generator = torch.Generator().manual_seed(1)
                self.embedding = nn.Embedding(5, 8, padding_idx=0)
                self.lstm = nn.LSTM(8, 8, batch_first=True, bidirectional=True, proj_size=4)
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
                self.norm = nn.LayerNorm(8)
                self.conv = nn.utils.weight_norm(nn.Conv1d(8, 8, 3, padding=1))
                self.bilinear = nn.Bilinear(8, 8, 4)
                self.scale = nn.Parameter(torch.tensor(1.0))  # without dimensions
                self.turned = nn.Parameter(torch.zeros(4, 8).t())  # whose numbers lie in another order
                self.empty = nn.Parameter(torch.zeros(0, 3))
                self.named = nn.ParameterDict({name: nn.Parameter(torch.zeros(4)) for name in ("a b/c(d)", "ä")})
                with torch.no_grad():
                    for each in self.parameters():
                        each.copy_(torch.randn(each.shape, generator=generator) / 4)

            def forward(self, x):
                rows = (x.abs() * 2).long().clamp(0, 4)
                x = self.norm(self.lstm(self.embedding(rows))[0])
                x = self.attention(x, x, x)[0]
                x = self.conv(x.transpose(1, 2)).mean(2)
                return (self.bilinear(x, x) + x @ self.turned) * self.scale + sum(self.named.values())

        def train(attach, data):
            model = Zoo()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            return plain_loop(model, attach(model, key_mb=0.001), data, optimizer=optimizer)

        self.expect_one_process(train)

        def ddp(attach, data):
            model = Zoo()
            del model.empty  # which torch's DDP itself does not take
            wrapped = DistributedDataParallel(model)
            return plain_loop(wrapped, attach(wrapped), data, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))

        self.local_group()
        self.expect_one_process(ddp)

    def test_a_name_that_is_long(self):
        def train(session, number):
            model = nn.ParameterDict({"n" * 400: nn.Parameter(torch.zeros(2))})
            bt.attach(session, model).wait(100)
            return weights(model)

        self.assertTrue(all(torch.equal(each, torch.zeros(2)) for each in on_sites(train)))

    def test_scripted_and_traced_at_one_site(self):
        class Normed(Small):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(4)
                self.register_buffer("table", torch.ones(4))

            def forward(self, x):
                return self.norm(self.last(torch.tanh(self.first(x)))) * self.table

        for wrap in torch.jit.script, lambda model: torch.jit.trace(model, torch.zeros(3, 8)):
            for scripted in 0, 1:
                def train(session, number):
                    plain = Normed()
                    model = wrap(plain) if number == scripted else plain
                    sync = bt.attach(session, model)
                    result = plain_loop(model, sync, lambda step: batch(step, number))
                    sync.sync_buffers(100)
                    return torch.cat([result, model.norm.running_mean])

                outcomes = on_sites(train)
                self.expect_like(outcomes, outcomes[0])

    def test_dropout_and_seeds_of_each_site(self):
        def train(session, number):
            model = Small()
            drop = nn.Sequential(nn.Dropout(0.5), model)
            sync = bt.attach(session, drop)
            torch.manual_seed(number)
            return plain_loop(drop, sync, lambda step: batch(step, number))

        outcomes = on_sites(train)
        self.expect_like(outcomes, outcomes[0])

    def test_rows_that_a_layer_scales_by_itself_are_told(self):
        """nn.Embedding(max_norm=) changes its weights in forward, at each site those that it uses."""
        def train(session, number):
            model = nn.Embedding(4, 2, max_norm=0.1)
            sync = bt.attach(session, model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(3):
                optimizer.zero_grad()
                model(torch.tensor([number])).sum().backward()
                sync.wait(100)
                optimizer.step()

        for said in on_sites(train):
            self.assertRegex(str(said), "max_norm|replicas have parted")

    def test_other_types_after_attach(self):
        def train(attach, data):
            model = Small()
            sync = attach(model)
            model.bfloat16()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            halves = plain_loop(model, sync, lambda step: [each.bfloat16() for each in data(step)], optimizer=optimizer)
            return halves.double()

        self.expect_one_process(train, tolerance=2e-2)
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        model.bfloat16()
        for step in range(2):  # in the first one torch's hooks may be gone
            model.zero_grad(set_to_none=True)
            model(torch.ones(1, 8).bfloat16()).sum().backward()
            if step:
                nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
                with self.assertRaisesRegex(banyan.FailedPrecondition, r"was changed .* Call wait\(\) first"):
                    sync.wait()
            else:
                sync.wait()
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        with self.assertRaisesRegex(banyan.InvalidArgument, r"of float32, .* got float64; .* before attach\(\)"):
            loss_of(model.double(), [each.double() for each in batch(0, 0)]).backward()
            sync.wait()

    def test_weights_that_are_changed_after_attach(self):
        path = io.BytesIO()
        other = Small()
        with torch.no_grad():
            for each in other.parameters():
                each.mul_(0.5)
        torch.save(other.state_dict(), path)
        for change in (
            lambda model: model.load_state_dict(torch.load(io.BytesIO(path.getvalue()))),
            lambda model: [each.data.mul_(0.5) for each in model.parameters()],
            lambda model: nn.utils.vector_to_parameters(weights(model) * 0.5, model.parameters()),
            lambda model: nn.init.ones_(model.last.weight),
        ):
            def train(attach, data):
                model = Small()
                sync = attach(model)
                change(model)
                return plain_loop(model, sync, data)

            self.expect_one_process(train)

    def test_weights_that_are_changed_after_local_updates_begin(self):
        """The outer parameters begin where the model is at the first step."""
        def train(session, number, change):
            model = Small()
            inner = torch.optim.SGD(model.parameters(), lr=0.05)
            if change == "before":
                nn.utils.vector_to_parameters(weights(model) * 0.5, model.parameters())
            outer = bt.DiLoCo(session, model, inner, sync_every=2)
            if change == "load":
                model.load_state_dict({name: each * 0.5 for name, each in model.state_dict().items()})
            if change == "in place":
                with torch.no_grad():
                    for each in model.parameters():
                        each.mul_(0.5)
            for step in range(4):
                inner.zero_grad()
                loss_of(model, batch(step, number)).backward()
                inner.step()
            outer.flush()
            return weights(model)

        expected = on_sites(lambda session, number: train(session, number, "before"))
        for change in "load", "in place":
            self.expect_like(on_sites(lambda session, number: train(session, number, change)), expected[0])

    def test_parts_that_are_replaced_or_pruned(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        model.last = nn.Linear(8, 4)
        loss_of(model, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, "last.weight: this parameter was added, replaced"):
            sync.wait()

        def pruned(attach, data):
            model = Small()
            sync = attach(model)
            prune.l1_unstructured(model.first, "weight", amount=0.5)
            return plain_loop(model, sync, data)

        self.expect_one_process(pruned)

    def test_what_an_optimizer_trains_beside_the_model_is_told(self):
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(3))

        def attached(model, optimizer):
            sync = bt.attach(banyan.solo(), model)
            sync.watch(optimizer)
            loss_of(model, batch(0, 0)).backward()
            sync.wait()

        def local(model, optimizer):
            bt.LocalSGD(banyan.solo(), model, optimizer)
            optimizer.step()

        for train in attached, local:
            model = Small()
            optimizer = torch.optim.SGD([*model.parameters(), *Scale().parameters()], lr=0.1)
            with self.assertLogs("banyan", "WARNING") as told:
                train(model, optimizer)
            self.assertRegex(told.output[0], r"1 parameters, such as one of shape \(3,\), that this site alone trains")

    def test_buffers_that_come_to_differ_are_told(self):
        """As codebooks do that follow the data of each site; once, and not those of a batch norm."""
        class Following(Small):
            def __init__(self):
                super().__init__()
                self.register_buffer("code", torch.zeros(8))
                self.norm = nn.BatchNorm1d(8)

            def forward(self, x):
                hidden = self.norm(self.first(x))
                self.code.data.lerp_(hidden.detach().abs().mean(0), self.rate)
                return self.last(hidden - self.code)

        def attached(session, model, data):
            plain_loop(model, bt.attach(session, model), data, steps=5)

        def local(session, model, data):
            inner = torch.optim.SGD(model.parameters(), lr=0.01)
            bt.LocalSGD(session, model, inner, sync_every=1)
            plain_loop(model, Alone(), data, steps=5, optimizer=inner)

        for train in attached, local:
            for rate in 0.0, 0.5:
                def on_site(session, number):
                    model = Following()
                    model.rate = rate
                    train(session, model, lambda step: batch(step, number))

                with self.assertLogs("banyan", "WARNING") as told:
                    logging.getLogger("banyan").warning("begin")
                    self.assertEqual(on_sites(on_site), [None] * 2)
                lines = [line for line in told.output if "buffers of this model, or frozen parameters, have come to differ" in line]
                self.assertEqual(len(lines), 2 if rate else 0)

    def test_layers_with_other_settings_are_told(self):
        def begin(session, number):
            model = nn.Sequential(Small(), nn.Dropout(0.1 + 0.1 * number))
            bt.attach(session, model)
            bt.attach(session, torch.jit.script(copy.deepcopy(model)), name="scripted")  # of which nothing is known

        with self.assertLogs("banyan", "WARNING") as told:
            on_sites(begin)
        self.assertRegex(" ".join(told.output), r"^[^\n]*grad: .* its layers other settings \(such as of 0.first.: in_features=8")
        self.assertNotIn("scripted", " ".join(told.output))

    def test_lazy_layers_are_refused_with_the_remedy(self):
        model = nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 1))
        for begin in (
            lambda: bt.attach(banyan.solo(), model),
            lambda: bt.LocalSGD(banyan.solo(), model, torch.optim.SGD(model[1].parameters(), lr=1)),
        ):
            with self.assertRaisesRegex(banyan.FailedPrecondition, "0.weight: .*run a batch through the model first"):
                begin()

    def test_sparse_gradients_of_local_updates(self):
        """Only their differences travel, which are dense."""
        def train(session, number):
            model = nn.Embedding(4, 2, sparse=True)
            with torch.no_grad():
                model.weight.fill_(1)
            inner = torch.optim.SparseAdam(model.parameters(), lr=0.1)
            outer = bt.LocalSGD(session, model, inner, sync_every=2)
            for step in range(4):
                inner.zero_grad()
                model(torch.tensor([number])).sum().backward()
                inner.step()
            outer.flush()
            return weights(model)

        outcomes = on_sites(train)
        self.expect_like(outcomes, outcomes[0])
        expected = torch.tensor([0.8] * 4 + [1.0] * 4)
        self.assertTrue(torch.allclose(outcomes[0], expected, atol=1e-3), outcomes[0])

    def test_ddp_in_its_other_ways(self):
        self.local_group()
        for options in (
            dict(gradient_as_bucket_view=True), dict(static_graph=True), dict(bucket_cap_mb=1e-4),
            dict(find_unused_parameters=True),
        ):
            for layout in torch.contiguous_format, torch.channels_last:
                def train(attach, data):
                    model = nn.Sequential(nn.Unflatten(1, (2, 2, 2)), nn.Conv2d(2, 4, 2), nn.Flatten())
                    with torch.no_grad():
                        for i, each in enumerate(model.parameters()):
                            each.copy_(torch.arange(each.numel()).view_as(each) / 40 - 0.3)
                    model = DistributedDataParallel(model.to(memory_format=layout), **options)
                    return plain_loop(model, attach(model), data)

                with self.subTest(**options, layout=layout):
                    self.expect_one_process(train)

    def test_a_layout_that_changes_after_ddp_was_made(self):
        """At one site, between that and the first step, or after some steps: DDP's buffers keep the order before."""
        self.local_group()

        def train(session, number, data, options, changes, steps=4):
            model = nn.Sequential(nn.Unflatten(1, (2, 2, 2)), nn.Conv2d(2, 4, 2), nn.Flatten())
            with torch.no_grad():
                for i, each in enumerate(model.parameters()):
                    each.copy_(torch.arange(each.numel()).view_as(each) / 40 - 0.3)
            layouts = [torch.contiguous_format, torch.channels_last]
            if changes == "back":
                layouts.reverse()
            ddp = DistributedDataParallel(model.to(memory_format=layouts[0] if number else torch.contiguous_format), **options)
            sync = Alone() if session is None else bt.attach(session, ddp, timeout=100, check_every=0)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
            for step in range(steps):
                if number and step == (2 if changes == "later" else 0):
                    model.to(memory_format=layouts[1])
                optimizer.zero_grad()
                loss_of(ddp, data(step)).backward()
                sync.wait()
                optimizer.step()
            return weights(model)

        for options in {}, dict(gradient_as_bucket_view=True), dict(static_graph=True), dict(find_unused_parameters=True):
            for changes in "first", "later", "back":
                with self.subTest(changes=changes, **options):
                    alone = train(None, 0, lambda step: joint_batch(step, range(2)), options, "never")
                    self.expect_like(on_sites(lambda session, number: train(
                        session, number, lambda step: batch(step, number), options, changes
                    )), alone)

    def test_gradients_in_one_buffer(self):
        """As those have them who clip or copy all at once."""
        def train(attach, data):
            model = Small()
            flat = in_one_buffer(model)
            sync = attach(model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(4):
                flat.zero_()
                loss_of(model, data(step)).backward()
                sync.wait()
                flat.mul_(min(1.0, 0.1 / float(flat.norm())))
                optimizer.step()
            return weights(model)

        self.expect_one_process(train)
        self.expect_one_process(train, weighted=True)

    def test_one_buffer_that_changes_before_wait_is_told(self):
        for is_view in True, False:
            for weighted in False, True:
                model = Small()
                flat = in_one_buffer(model, is_view)
                sync = bt.attach(banyan.solo(), model, weighted=weighted)
                for change in flat.mul_, model.first.weight.grad.mul_, flat[:3].mul_, lambda _: flat.zero_():
                    loss_of(model, batch(0, 0)).backward()
                    change(0.5)
                    with self.assertRaisesRegex(banyan.FailedPrecondition, r"was changed .* in one buffer count as one"):
                        sync.wait()
                    loss_of(model, batch(0, 0)).backward()
                    sync.wait()

    def test_parts_of_one_gradient(self):
        """As torch itself makes them of what was joined: they count each other's changes."""
        class Joined(nn.Module):
            def __init__(self):
                super().__init__()
                self.one, self.other = (nn.Parameter(torch.linspace(0, 1, 16).view(2, 8)) for _ in range(2))

            def forward(self, x):
                return nn.functional.linear(x, torch.cat([self.one, self.other]))

        def train(attach, data):
            model = Joined()
            return plain_loop(model, attach(model), data)

        self.expect_one_process(train)
        model = Joined()
        sync = bt.attach(banyan.solo(), model)
        loss_of(model, batch(0, 0)).backward()
        model.other.grad.mul_(2)
        with self.assertRaisesRegex(banyan.FailedPrecondition, "was changed"):
            sync.wait()

    def test_one_buffer_that_is_not_cleared_in_a_job_that_sums(self):
        def train(session, number):
            model = Small()
            in_one_buffer(model)
            sync = bt.attach(session, model)
            for _ in range(2):
                loss_of(model, batch(0, number)).backward()
                sync.wait(100)

        for each in on_sites(train, more="aggregation: {op: sum}"):
            self.assertRegex(str(each), "has added to the sum of all sites")


def in_one_buffer(model, is_view=True):
    """Makes the gradients of a model parts of a buffer, which it returns."""
    flat = torch.zeros(sum(each.numel() for each in model.parameters()))
    at = 0
    for each in model.parameters():
        part = flat[at:at + each.numel()].view_as(each)
        each.grad = part if is_view else part.detach()
        at += each.numel()
    return flat


class CopiesTest(Cases):
    """Copies of what is attached: they train for themselves, and disturb nothing."""

    def test_copies_on_the_way(self):
        def train(attach, data):
            model = Small()
            sync = attach(model)
            average = torch.optim.swa_utils.AveragedModel(model)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
            for step in range(4):
                twin = copy.deepcopy(model)
                loaded = pickle.loads(pickle.dumps(model))
                file = io.BytesIO()
                torch.save(model, file)
                file.seek(0)
                for other in twin, loaded, torch.load(file, weights_only=False):
                    for _ in range(2):
                        loss_of(other, batch(step, 7)).backward()
                    torch.optim.SGD(other.parameters(), lr=1.0).step()
                optimizer.zero_grad()
                loss_of(model, data(step)).backward()
                sync.wait()
                optimizer.step()
                average.update_parameters(model)
            return torch.cat([weights(model), weights(average)])

        self.expect_one_process(train)


class ManyTest(Cases):
    """Several attachments, jobs and threads in one process."""

    def test_one_model_is_of_one_job(self):
        model = Small()
        first = bt.attach(banyan.solo(), model)
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"attached already; detach\(\)"):
            bt.attach(banyan.solo(), model)
        first.detach()
        bt.attach(banyan.solo(), model)

    def test_one_model_has_local_updates_once(self):
        model = Small()
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        first = bt.DiLoCo(banyan.solo(), model, inner)
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"first.weight: .* local updates already; detach\(\)"):
            bt.LocalSGD(banyan.solo(), model, inner)
        first.detach()
        bt.LocalSGD(banyan.solo(), model, inner)

    def test_hfa_tells_of_a_worker_of_the_site_that_has_gone(self):
        self.local_group()
        model = Small()
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        bt.HFA(banyan.solo(), model, inner, k1=2, k2=2)
        gone = RuntimeError("Connection closed by peer [127.0.0.1]")  # as gloo says it
        with unittest.mock.patch.object(torch.distributed, "all_reduce", side_effect=gone):
            inner.step()
            with self.assertRaisesRegex(
                banyan.Unavailable, r"HFA: a worker of this site .* average of step 2 .*closed by peer.* end all processes .* State"
            ):
                inner.step()

    def test_an_attachment_that_nobody_keeps_is_heard_of(self):
        model = Small()
        job = banyan.solo()
        bt.attach(job, model)
        loss_of(model, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"before wait\(\)"):
            loss_of(model, batch(0, 0)).backward()

    def test_a_site_that_has_trained_alone_is_told(self):
        self.local_group()

        def around_ddp(session, model):
            ddp = DistributedDataParallel(model)
            bt.attach(session, ddp)
            return ddp.module, Alone()

        def without_wait(session, model):
            return model, unittest.mock.Mock(wait=lambda: None, backward=bt.attach(session, model).no_sync)

        def joint(session, model):
            return model, bt.attach(session, model)

        def with_an_optimizer_made_anew(session, model):
            bt.LocalSGD(session, model, torch.optim.SGD(model.parameters(), lr=0.1))
            return model, Alone()

        for begin in around_ddp, without_wait, joint, with_an_optimizer_made_anew:
            def train(session, number):
                model, sync = begin(session, Small())
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for step in range(2):
                    optimizer.zero_grad(set_to_none=True)
                    with getattr(sync, "backward", contextlib.nullcontext)():
                        loss_of(model, batch(step, number)).backward()
                    sync.wait()
                    optimizer.step()

            with self.subTest(begin.__name__), self.assertLogs("banyan", "WARNING") as told:
                logging.getLogger("banyan").warning("begin")
                self.assertEqual(on_sites(train), [None] * 2)
            lines = [line for line in told.output if "site has trained alone" in line or "Nothing was trained together" in line]
            self.assertEqual(len(lines), 0 if begin is joint else 2)

    def test_sites_that_read_the_same_examples_are_told(self):
        self.local_group()
        def plain(session, model):
            return model, bt.attach(session, model)

        def ddp(session, model):
            model = DistributedDataParallel(model)
            return model, bt.attach(session, model)

        def local(session, model):
            bt.LocalSGD(session, model, (optimizer := torch.optim.SGD(model.parameters(), lr=0.1)), sync_every=1)
            return model, unittest.mock.Mock(optimizer=optimizer)

        for begin in plain, ddp, local:
            for is_same in True, False:
                def train(session, number):
                    model, sync = begin(session, Small())
                    optimizer = vars(sync).get("optimizer")
                    plain_loop(model, sync, lambda step: batch(step, 0 if is_same else number), steps=5, optimizer=optimizer)

                with self.subTest(begin.__name__), self.assertLogs("banyan", "WARNING") as told:
                    logging.getLogger("banyan").warning("begin")
                    self.assertEqual(on_sites(train, 3), [None] * 3)
                lines = [line for line in told.output if "all sites have sent the same 3 times" in line]
                self.assertEqual(len(lines), 3 if is_same else 0)

    def test_an_inner_optimizer_of_a_part_of_the_model_is_told(self):
        model = Small()
        inner = torch.optim.SGD(model.first.parameters(), lr=0.1)
        bt.LocalSGD(banyan.solo(), model, inner)
        with self.assertLogs("banyan", "WARNING") as told:
            inner.step()
        self.assertIn("inner does not train 2 parameters of the model, such as last.weight", told.output[0])

    def test_two_networks_with_ddp(self):
        self.local_group()

        def train(attach, data):
            generator, critic = DistributedDataParallel(Small()), DistributedDataParallel(Small())
            with torch.no_grad():
                for each in critic.parameters():
                    each.mul_(0.5)
            attach(generator, name="g")
            attach(critic, name="d")
            steps = [torch.optim.Adam(each.parameters(), lr=0.05) for each in (generator, critic)]
            for step in range(4):
                x, y = data(step)
                steps[1].zero_grad()
                wide = torch.cat([generator(x).detach(), y], 1)
                critic(wide).mean().backward()
                steps[1].step()
                for each in critic.parameters():
                    each.requires_grad_(False)
                steps[0].zero_grad()
                critic.module(torch.cat([generator(x), y], 1)).square().mean().backward()
                steps[0].step()
                for each in critic.parameters():
                    each.requires_grad_(True)
            return torch.cat([weights(generator), weights(critic)])

        self.expect_one_process(train)

    def test_attach_where_gradients_are_off(self):
        def train(attach, data):
            model = Small()
            with torch.no_grad():
                sync = attach(model)
            return plain_loop(model, sync, data)

        self.expect_one_process(train)

    def test_detach_while_gradients_are_on_their_way_is_refused(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        loss_of(model, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"detach: .* wait\(\) first"):
            sync.detach()
        sync.wait()
        sync.detach()


@unittest.skipUnless(hasattr(torch, "compile"), "torch 2 alone has these")
class TorchTwoTest(Cases):
    def test_compiled_at_one_site(self):
        for whole in False, True:
            def train(session, number):
                model = Small()
                sync = bt.attach(session, model)
                if number:  # after attach(), also a part of it
                    run = torch.compile(model, backend="eager") if whole else model
                    if not whole:
                        model.last = torch.compile(model.last, backend="eager")
                else:
                    run = model
                return plain_loop(run, sync, lambda step: batch(step, number))

            alone = plain_loop(Small(), Alone(), lambda step: joint_batch(step, range(2)))
            self.expect_like(on_sites(train), alone)

    def test_an_optimizer_in_hooks_after_gradients_is_refused(self):
        model = Small()
        sync = bt.attach(banyan.solo(), model)
        for each in model.parameters():
            step = torch.optim.SGD([each], lr=0.1).step
            each.register_post_accumulate_grad_hook(lambda _, step=step: step())
        loss_of(model, batch(0, 0)).backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"this parameter was changed between backward\(\) and wait\(\)"):
            sync.wait()


class InterruptionTest(Cases):
    def test_ctrl_c_and_timeouts_in_wait(self):
        """The next wait() goes on with the same round."""
        def train(session, number):
            model = Small()
            sync = bt.attach(session, model)
            for step in range(2):
                model.zero_grad()
                if number:
                    time.sleep(0.5)
                loss_of(model, batch(step, number)).backward()
                if not number:
                    with self.assertRaises(banyan.Timeout):
                        sync.wait(0.05)
                    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
                    timer.start()
                    with self.assertRaises(KeyboardInterrupt):
                        sync.wait(100)
                        time.sleep(100)
                    timer.join()
                sync.wait(100)
                torch.optim.SGD(model.parameters(), lr=0.1).step()
            return weights(model)

        outcomes = [None, None]
        with LocalJob(nodes=2) as job:
            def run(number):
                with job.join(f"n{number + 1}") as session:
                    outcomes[number] = train(session, number)

            other = threading.Thread(target=run, args=(1,))
            other.start()
            run(0)  # on the main thread, which hears Ctrl-C
            other.join(300)
        model = Small()
        for step in range(2):
            model.zero_grad()
            loss_of(model, joint_batch(step, range(2))).backward()
            torch.optim.SGD(model.parameters(), lr=0.1).step()
        self.expect_like(outcomes, weights(model))


class TrainerTest(Cases):
    """The loops of other packages, in the order in which they call what users give them."""

    def hugging_face(self, attach, data, *, where, ddp=False):
        """transformers.Trainer: with clipping, accumulation, a scheduler, and callbacks."""
        model = Small()
        model = DistributedDataParallel(model) if ddp else model
        sync = attach(model)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
        told = {name: lambda: None for name in ("training_step", "on_substep_end", "on_pre_optimizer_step", "on_step_end")}
        told[where] = sync.wait
        model.zero_grad()
        for step in range(8):
            is_last = step % 2 == 1
            with contextlib.nullcontext() if is_last or not ddp else model.no_sync():  # as accelerator.accumulate
                (loss_of(model, data(step)) / 2).backward()
            told["training_step"]()
            if not is_last:
                told["on_substep_end"]()
                continue
            nn.utils.clip_grad_norm_(model.parameters(), 0.05)
            told["on_pre_optimizer_step"]()
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            told["on_step_end"]()
        return weights(model)

    def test_hugging_face(self):
        """In training_step of a subclass, or with DDP by nothing at all; callbacks come after clipping, which is told."""
        self.expect_one_process(lambda attach, data: self.hugging_face(attach, data, where="training_step"))
        for where in "on_pre_optimizer_step", "on_step_end":
            with self.assertRaisesRegex(banyan.FailedPrecondition, r"no_sync\(\)|Call wait\(\) first"):
                self.hugging_face(lambda model: bt.attach(banyan.solo(), model), lambda step: batch(step, 0), where=where)
        self.local_group()
        self.expect_one_process(lambda attach, data: self.hugging_face(attach, data, where="on_step_end", ddp=True))

    def lightning(self, attach, data, *, where, accumulate=1, ddp=False):
        """lightning.Trainer: the whole step is a closure of the optimizer's."""
        model = Small()
        model = DistributedDataParallel(model) if ddp else model
        sync = attach(model)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        told = {name: lambda: None for name in ("on_after_backward", "on_before_optimizer_step", "on_before_zero_grad")}
        told[where] = sync.wait

        def closure(number, is_first):
            loss = loss_of(model, data(number)) / accumulate
            if is_first:
                told["on_before_zero_grad"]()
                optimizer.zero_grad()
            loss.backward()
            told["on_after_backward"]()
            return loss

        def with_clipping(number, is_first):
            loss = closure(number, is_first)
            told["on_before_optimizer_step"]()
            nn.utils.clip_grad_norm_(model.parameters(), 0.05)
            return loss

        for number in range(8):
            is_first, is_last = number % accumulate == 0, (number + 1) % accumulate == 0
            if is_last:
                optimizer.step(lambda: with_clipping(number, is_first))
            else:
                with model.no_sync() if ddp else contextlib.nullcontext():  # as its DDPStrategy does
                    closure(number, is_first)
        return weights(model)

    def test_lightning(self):
        for accumulate in 1, 2:
            self.expect_one_process(
                lambda attach, data: self.lightning(attach, data, where="on_after_backward", accumulate=accumulate)
            )
        self.expect_one_process(lambda attach, data: self.lightning(attach, data, where="on_before_optimizer_step"))
        with self.assertRaisesRegex(banyan.FailedPrecondition, r"under no_sync\(\)"):
            self.lightning(
                lambda model: bt.attach(banyan.solo(), model), lambda step: batch(step, 0), where="on_before_optimizer_step",
                accumulate=2
            )
        self.local_group()
        for accumulate in 1, 2:
            self.expect_one_process(lambda attach, data: self.lightning(
                attach, data, where="on_before_zero_grad", accumulate=accumulate, ddp=True
            ))


if __name__ == "__main__":
    unittest.main()
