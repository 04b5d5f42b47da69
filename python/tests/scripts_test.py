"""What ordinary training scripts do around the sums: each gives what one process with all batches does, or is refused."""

import threading
import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from torch_test import batch, joint_batch, loss_of


def on_sites(body, nodes=2, more=""):
    """Returns what body(session, number) returns or raises in each site, which are threads of this process."""
    outcomes = [None] * nodes

    def run(job, number):
        try:
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
