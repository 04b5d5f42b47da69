"""What people do to an attached model between its steps, and what sites are told of models that differ."""

import unittest
import unittest.mock

import torch_test  # first, as it skips where torch is not installed
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import banyan
import banyan.torch as bt
from torch_test import run_sites


def begin_frozen(session, number, is_local):
    """Returns what is said of a model whose frozen part and buffer are this site's own."""
    told = []
    for name, own in ("same", 0), ("frozen", number), ("buffer", number):
        net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))
        net[0].weight.requires_grad_(False)
        with torch.no_grad():
            net[0].weight.fill_(own if name == "frozen" else 0)
            net[1].running_mean.fill_(number)
        net.register_buffer("table", torch.full((3,), float(own if name == "buffer" else 0)))
        with unittest.mock.patch.object(bt._groups._log, "warning", lambda *text: told.append(text[1])):
            if is_local:
                inner = torch.optim.SGD(net.parameters(), lr=1)
                bt.LocalSGD(session, net, inner, name=name)
            else:
                bt.attach(session, net, name=name)
    return told


class Lookup(nn.Module):
    """A layer with sparse gradients that says so to nobody."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 2))

    def forward(self, rows):
        return nn.functional.embedding(rows, self.weight, sparse=True)


class AttachmentTest(unittest.TestCase):
    """What people do to a model between its steps."""

    def setUp(self):
        self.net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
        self.job = banyan.solo()

    def backward(self):
        self.net(torch.ones(1, 2)).sum().backward()

    def test_what_is_trained_later_is_refused_by_name(self):
        self.net[0].weight.requires_grad_(False)
        sync = bt.attach(self.job, self.net)
        self.backward()
        sync.wait()
        self.net[0].weight.requires_grad_(True)
        self.backward()
        with self.assertRaisesRegex(banyan.FailedPrecondition, "0.weight: .* unfrozen"):
            sync.wait()

    def test_what_is_added_to_a_model_of_local_updates_is_refused_by_name(self):
        inner = torch.optim.SGD(self.net.parameters(), lr=0.1)
        bt.LocalSGD(self.job, self.net, inner, sync_every=2)
        self.net.add_module("more", nn.Linear(1, 1))
        inner.step()
        with self.assertRaisesRegex(banyan.FailedPrecondition, "more.weight: .* added"):
            inner.step()

    def test_what_is_frozen_everywhere_later_keeps_no_gradient(self):
        sync = bt.attach(self.job, self.net)
        self.net[0].weight.requires_grad_(False)
        self.backward()
        sync.wait()
        self.assertIsNone(self.net[0].weight.grad)
        self.assertIsNotNone(self.net[0].bias.grad)

    def test_gradients_that_are_dropped_after_backward_are_the_jobs_and_others_are_refused(self):
        sync = bt.attach(self.job, self.net)
        self.backward()
        wanted = self.net[1].weight.grad
        expected = wanted.clone()
        self.net.zero_grad(set_to_none=True)
        sync.wait()
        self.assertTrue(torch.equal(self.net[1].weight.grad, expected))
        self.assertIsNotNone(self.net[1].bias.grad)
        self.backward()
        self.net[1].weight.grad = torch.full_like(wanted, 7)
        with self.assertRaisesRegex(banyan.FailedPrecondition, "1.weight.*: its gradient was changed"):
            sync.wait()

    def test_complex_buffers_keep_their_imaginary_part(self):
        turns = torch.polar(torch.ones(3), torch.tensor([0.1, 0.2, 0.3]))
        self.net.register_buffer("turns", turns.clone())
        bt.attach(self.job, self.net).sync_buffers()
        self.assertTrue(torch.equal(self.net.turns, turns))

    def test_a_parameter_is_attached_once(self):
        sync = bt.attach(self.job, self.net)
        with self.assertRaisesRegex(banyan.FailedPrecondition, "weight: .* attached already"):
            bt.attach(self.job, self.net[0], name="inner")
        sync.detach()
        bt.attach(self.job, self.net[0], name="inner")

    def test_layers_with_sparse_gradients_are_refused_by_name(self):
        net = nn.Sequential(nn.Embedding(3, 2, sparse=True), nn.Linear(2, 1))
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)
        for model in net, DistributedDataParallel(net):
            with self.assertRaisesRegex(banyan.InvalidArgument, "0: .* got a Embedding with sparse=True"):
                bt.attach(self.job, model)
        net[0].weight.requires_grad_(False)
        bt.attach(self.job, net)

    def test_a_gradient_that_is_not_dense_is_refused_by_name(self):
        net = Lookup()
        sync = bt.attach(self.job, net)
        with self.assertRaisesRegex(banyan.InvalidArgument, "grad/weight.* sparse=False"):
            net(torch.tensor([1])).sum().backward()
            sync.wait()

    def test_sites_are_told_of_frozen_parameters_and_buffers_that_differ(self):
        for is_local in False, True:
            self.assertEqual(run_sites(begin_frozen, is_local, nodes=2), [[], ["frozen", "buffer"]], is_local)


if __name__ == "__main__":
    unittest.main()
