"""Models in parts over real nodes: sites that cut them into different numbers of parts train as one process does."""

import importlib.util
import multiprocessing
import tempfile
import types
import unittest
import unittest.mock

import torch_test  # first, as it skips where torch is not installed
import torch
import torch.distributed as dist
from torch import nn

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from banyan.torch._parts import shard_group_of
from torch_test import batch, distance, loss_of

_SECONDS = 300
_STEPS = 3
_PARTS = [3, 2, 1]  # at each site; the last one has its model in one piece


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.net = nn.Sequential(nn.Linear(8, 7), nn.Tanh(), nn.Linear(7, 4))

    def forward(self, x):
        return self.net(x)


class Parts(nn.Module):
    """A model of which this process holds the next numbers of each parameter, as FSDP would; gathered to compute."""

    def __init__(self, number, rank, count):
        super().__init__()
        self.rank, self.count = rank, count
        self.whole = [Whole()]  # no submodule
        self.names = [name for name, _ in self.whole[0].named_parameters()]
        self.parts = nn.ParameterList()
        for each in self.whole[0].parameters():
            with torch.no_grad():
                each.add_(number)  # the lowest site's parameters count
            self.parts.append(nn.Parameter(self.part_of(each.detach()).clone()))

    def part_of(self, whole):
        return torch.tensor_split(whole.reshape(-1), self.count)[self.rank]

    def named_parameters(self, *_, **__):
        yield from zip(self.names, self.parts)

    def gather(self):
        for each, part in zip(self.whole[0].parameters(), self.parts):
            row = torch.zeros(each.numel())
            self.part_of(row).copy_(part.detach())
            dist.all_reduce(row)
            each.data.copy_(row.view(each.shape))

    def backward(self, data):
        """Leaves the mean gradient of the site's processes in the parts."""
        self.gather()
        self.whole[0].zero_grad()
        loss_of(self.whole[0], data).backward()
        for each, part in zip(self.whole[0].parameters(), self.parts):
            dist.all_reduce(each.grad.div_(self.count))
            part.grad = self.part_of(each.grad).clone()


def train(session, number, rank, count, change):
    """Trains one process of a site; returns the whole model. The last process of the second site may change something."""
    is_changing = number == 1 and rank == count - 1
    if count == 1:
        model = Whole()
        sync = bt.attach(session, model, weighted=True)
    else:
        model = Parts(number, rank, count)
        shapes = {name: each.shape for name, each in model.whole[0].named_parameters()}
        sync = bt.attach(session, model, shard_group=dist.group.WORLD, shapes=shapes, weighted=True)
    parameters = [each for _, each in model.named_parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.2 if change == "rate" and number == 1 else 0.1, momentum=0.9)
    sync.watch(optimizer)
    sync.weight = count
    for step in range(_STEPS):
        optimizer.zero_grad()
        data = batch(step, 10 * number + rank)
        if count == 1:
            loss_of(model, data).backward()
        else:
            model.backward(data)
        sync.wait(_SECONDS)
        optimizer.step()
        if is_changing and change == "weights":
            parameters[2].data[0] += 1e-6
        if is_changing and change == "state":
            optimizer.state[parameters[2]]["momentum_buffer"].zero_()
    if count > 1:
        model.gather()
        model = model.whole[0]
    return {name: each.detach().numpy() for name, each in model.named_parameters()}


def site_process(scheduler, name, number, rank, count, store, change, results):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=count)
    session = banyan.join(scheduler=scheduler, name=name, timeout=_SECONDS) if rank == 0 else None
    try:
        results.put((number, rank, train(session, number, rank, count, change)))
    except banyan.Error as error:
        results.put((number, rank, str(error)))
    if session is not None:
        session.barrier(_SECONDS)
        session.close()


def one_process():
    """Trains on the batches of all in this process."""
    model = Whole()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(_STEPS):
        optimizer.zero_grad()
        for number, count in enumerate(_PARTS):
            for rank in range(count):
                (loss_of(model, batch(step, 10 * number + rank)) / sum(_PARTS)).backward()
        optimizer.step()
    return {name: each.detach().numpy() for name, each in model.named_parameters()}


def in_rows(rank, store):
    """Returns a model whose parameters are rows of DTensors, as FSDP2 has them, and what cuts a tensor so."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    model = Whole()
    for module in (model.net[0], model.net[2]):
        for name, each in list(module.named_parameters()):
            setattr(module, name, nn.Parameter(distribute_tensor(each.detach(), mesh, [Shard(0)])))
    return model, lambda tensor: distribute_tensor(tensor, mesh, [Shard(0)])


def dtensor_process(rank, store, results):
    model, cut = in_rows(rank, store)
    sync = bt.attach(banyan.solo() if rank == 0 else None, model)
    sent = {}
    for i, (name, each) in enumerate(model.named_parameters()):
        gradient = torch.arange(each.numel(), dtype=torch.float32).view(each.shape) + i
        if i > 0:  # the first has none
            each.grad = cut(gradient)
        sent[name] = gradient if i > 0 else torch.zeros(each.shape)
    sync.wait()
    same = {name: torch.equal(each.grad.full_tensor(), sent[name]) for name, each in model.named_parameters()}
    results.put((rank, same, sync.groups))


def failing_process(rank, store, results):
    """Has a session that ends before the gradients are sent."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    model, job = Parts(0, rank, 2), banyan.solo()
    sync = bt.attach(job if rank == 0 else None, model, shard_group=dist.group.WORLD)
    model.backward(batch(0, 0))
    model.register_buffer("mean", torch.zeros(2))
    told = []
    for call, wait in ("push_pull_group", sync.wait), ("init", sync.sync_buffers):
        with unittest.mock.patch.object(job, call, side_effect=banyan.Cancelled("the session is closed")):
            try:
                wait()
            except banyan.Error as error:
                told.append(type(error).__name__)
    results.put((rank, told))


class ShardedTest(unittest.TestCase):
    def test_an_error_in_the_first_process_ends_the_wait_of_the_others(self):
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        with tempfile.TemporaryDirectory() as folder:
            processes = [
                context.Process(target=failing_process, args=(rank, f"{folder}/store", results), daemon=True)
                for rank in range(2)
            ]
            for process in processes:
                process.start()
            told = dict(results.get(timeout=_SECONDS) for _ in processes)
            for process in processes:
                process.join(_SECONDS)
        self.assertEqual(told, {0: ["Cancelled"] * 2, 1: ["Unavailable"] * 2})

    @unittest.skipUnless(importlib.util.find_spec("torch.distributed.tensor"), "this torch has no DTensor")
    def test_rows_of_dtensors(self):
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        with tempfile.TemporaryDirectory() as folder:
            processes = [
                context.Process(target=dtensor_process, args=(rank, f"{folder}/store", results)) for rank in range(2)
            ]
            for process in processes:
                process.start()
            for _ in processes:
                _, same, groups = results.get(timeout=_SECONDS)
                self.assertEqual(set(same.values()), {True})
                self.assertEqual(groups, {"grad/0": ["net.2.bias", "net.2.weight", "net.0.bias", "net.0.weight"]})
            for process in processes:
                process.join(_SECONDS)

    def run_sites(self, change=""):
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        with LocalJob(nodes=len(_PARTS)) as job, tempfile.TemporaryDirectory() as folder:
            processes = [
                context.Process(
                    target=site_process, daemon=True,
                    args=(job.scheduler, name, number, rank, _PARTS[number], f"{folder}/{name}", change, results),
                )
                for number, name in enumerate(job.names) for rank in range(_PARTS[number])
            ]
            for process in processes:
                process.start()
            trained = [results.get(timeout=_SECONDS) for _ in processes]
            for process in processes:
                process.join(_SECONDS)
        return trained

    def test_sites_with_other_numbers_of_parts_equal_one_process(self):
        trained = self.run_sites()
        expected = one_process()
        for number, rank, model in trained:
            self.assertLess(distance(model, expected), 1e-6 * _STEPS, f"site {number}, process {rank}")
            self.assertEqual(distance(model, trained[0][2]), 0)

    def test_a_part_that_differs_is_told_at_all_sites(self):
        for change, told in (
            ("weights", r"by round 2: n2 differ from n1, first in grad/net\.2\.weight\(4x7\)\. Look at what one site"),
            ("state", r"by round 2: n2 differ from n1, first in the optimizer's state of grad/net\.2\.weight\(4x7\)"),
            ("rate", r"by round 1: n2 \(0\.2\) differ from n1 \(0\.1\), first in the learning rate"),
        ):
            for number, rank, said in self.run_sites(change):
                pattern = told if rank == 0 else "the first process of this site has had an error"
                self.assertRegex(str(said), pattern, f"{change}: site {number}, process {rank}")

    def expect_refusals_of_fsdp(self):
        """Says it of a stand-in, as FSDP1 needs a GPU."""

        class FullyShardedDataParallel(nn.Linear):
            process_group = types.SimpleNamespace(size=lambda: 2)

        model = nn.Sequential(FullyShardedDataParallel(1, 1))
        inner = torch.optim.SGD(model.parameters(), lr=1)
        with self.assertRaisesRegex(banyan.InvalidArgument, "expected shard_group="):
            bt.attach(banyan.solo(), model)
        with self.assertRaisesRegex(banyan.InvalidArgument, "expected shard_group="):
            bt.State(banyan.solo(), model=model, optimizer=inner)
        with self.assertRaisesRegex(banyan.InvalidArgument, "LocalSGD: expected a model in one piece"):
            bt.LocalSGD(banyan.solo(), model, inner)
        model[0].process_group = types.SimpleNamespace(size=lambda: 1)
        bt.attach(banyan.solo(), model)

    def test_what_does_not_fit_is_refused(self):
        store = dist.HashStore()
        dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        try:
            model = Parts(0, 0, 1)
            self.assertIsNone(shard_group_of(model))
            with self.assertRaisesRegex(banyan.InvalidArgument, "0.weight: expected parts of 99 numbers in all, got 56"):
                bt.attach(banyan.solo(), model, shard_group=dist.group.WORLD, shapes={"net.0.weight": (99,)})
            with self.assertRaisesRegex(banyan.InvalidArgument, "a session in the first process"):
                bt.attach(None, model, shard_group=dist.group.WORLD)
            with self.assertRaisesRegex(banyan.InvalidArgument, "only models in parts"):
                bt.attach(None, model)
            sync = bt.attach(banyan.solo(), model, shard_group=dist.group.WORLD)  # without shapes, rows
            self.expect_refusals_of_fsdp()
            model.backward(batch(0, 0))
            before = [each.grad.clone() for each in model.parts]
            sync.wait()
            for each, gradient in zip(model.parts, before):
                self.assertTrue(torch.equal(each.grad, gradient))
            with self.assertRaisesRegex(banyan.InvalidArgument, "accumulate"):
                sync.no_sync()
        finally:
            dist.destroy_process_group()


if __name__ == "__main__":
    unittest.main()
