"""Gradients of GPUs and of workers that count by their samples, over real nodes on loopback.

Where there is no GPU, a device whose copies are late stands for one: what is sent too early is not a number.
"""

import threading
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("python3-torch is not installed") from None

import math

import banyan
import banyan.torch as bt
from banyan.torch._copies import Copies, Stager
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch_test import Net, batch, distance, loss_of, optimizer_of, run_sites, values

_SIZES = [2, 6, 4]  # samples of each site


class LateCopies(Copies):
    """Copies out when they are waited for, from what the tensor was then; nothing is taken outside of `returning()`."""

    def __init__(self, device):
        self.inside = threading.local()
        self.backs = 0

    def out(self, tensor, slot):
        slot.fill_(math.nan)
        then = tensor.clone()
        return lambda: slot.copy_(then)

    def back(self, slot, tensor):
        self.backs += 1
        super().back(slot, tensor)


class LateStager(Stager):
    """Takes tensors of the host for those of a device."""

    def __init__(self, job):
        super().__init__(job, LateCopies)

    def takes(self, tensor):
        return True


def train(session, number, steps, device, is_ddp, stager):
    """Trains on batches of the site's size, and returns the model after each step."""
    net = Net().to(device)
    model = net
    if is_ddp:
        bt.local_group()
        model = DistributedDataParallel(net, bucket_cap_mb=0.002)
    made = stager(session) if stager else None
    sync = bt.Attachment(
        session, model, key_mb=0.001, name=f"grad-{is_ddp}", weighted=True, stager=made
    )
    optimizer = optimizer_of(net, lr=0.1)
    seen = []
    for step in range(steps):
        optimizer.zero_grad()
        sync.weight = _SIZES[number]
        x, y = batch(step, number, size=_SIZES[number])
        loss_of(model, (x.to(device), y.to(device))).backward()
        sync.wait(300)
        optimizer.step()
        seen.append({name: each.detach().cpu().numpy().copy() for name, each in net.named_parameters()})
    sync.detach()
    backs = made.copies(torch.device("cpu")).backs if made else None
    return seen, backs


def train_both(session, number, device, stager):
    """Trains an ordinary module and one in DistributedDataParallel."""
    return [train(session, number, 4, device, is_ddp, stager) for is_ddp in (False, True)]


def joint(steps):
    """Trains one process on the batches of all sites."""
    net = Net()
    optimizer = optimizer_of(net, lr=0.1)
    seen = []
    for step in range(steps):
        optimizer.zero_grad()
        parts = [batch(step, number, size=size) for number, size in enumerate(_SIZES)]
        loss_of(net, (torch.cat([x for x, _ in parts]), torch.cat([y for _, y in parts]))).backward()
        optimizer.step()
        seen.append(values(net))
    return seen


def train_locally(session, number, device):
    """Trains by DiLoCo, keeps a state, and hands single tensors of the device to the job."""
    torch.manual_seed(3)
    model = nn.Linear(4, 2).to(device)
    inner = torch.optim.AdamW(model.parameters(), lr=0.01)
    outer = bt.DiLoCo(session, model, inner, sync_every=2, weighted=True)
    outer.weight = number + 1
    state = bt.State(session, model=model, outer=outer)
    state.sync(300)
    for step in range(4):
        inner.zero_grad()
        model(torch.full((1, 4), float(number + step), device=device)).sum().backward()
        inner.step()
        state.advance(300)
    ones = torch.full((5,), float(number), device=device)
    mean = session.all_reduce("mean", session.init("mean", ones) * 0 + ones)
    halves = session.all_reduce("half", session.init("half", ones.half()) * 0 + ones.half())
    return [each.detach().cpu().tolist() for each in model.parameters()], mean.tolist(), halves.tolist()


class SamplesTest(unittest.TestCase):
    def expect_joint(self, sites):
        wanted = joint(4)
        for plain, ddp in sites:
            for seen, _ in (plain, ddp):
                for step, each in enumerate(seen):
                    self.assertLess(distance(each, wanted[step]), 2e-6, f"step {step}")

    def test_late_copies(self):
        sites = run_sites(train_both, "cpu", LateStager)
        self.expect_joint(sites)
        for plain, ddp in sites:
            self.assertGreater(plain[1], 0)
            self.assertGreater(ddp[1], 0)

    @unittest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda(self):
        torch.backends.cuda.matmul.allow_tf32 = False
        self.expect_joint(run_sites(train_both, "cuda", None))

    def expect_alike(self, device):
        sites = run_sites(train_locally, device)
        for parameters, mean, halves in sites:
            self.assertEqual(parameters, sites[0][0])
            self.assertEqual(mean, [1.0] * 5)
            self.assertEqual(halves, [1.0] * 5)
        return sites[0][0]

    def test_local_updates(self):
        here = self.expect_alike("cpu")
        if torch.cuda.is_available():
            there = self.expect_alike("cuda")
            flat = [torch.tensor(each).flatten() for pair in zip(here, there) for each in pair]
            for one, other in zip(flat[::2], flat[1::2]):
                torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)

    def test_a_weight_needs_all_to_have_one(self):
        sync = bt.attach(banyan.solo(), nn.Linear(1, 1))
        with self.assertRaisesRegex(banyan.Error, "weighted=True"):
            sync.weight = 2
        sync = bt.attach(banyan.solo(), nn.Linear(1, 1), name="other", weighted=True)
        for wrong in (-1, math.nan, math.inf):
            with self.assertRaisesRegex(banyan.Error, "finite number"):
                sync.weight = wrong

    def test_a_start_that_fails_is_told(self):
        """A name that the job does not know."""
        stager = LateStager(banyan.solo())
        with self.assertRaises(banyan.Error):
            stager.send("unknown", torch.ones(1), 0).wait(60)
        stager.close()


if __name__ == "__main__":
    unittest.main()
