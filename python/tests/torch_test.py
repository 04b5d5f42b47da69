"""PyTorch over real nodes on loopback: each site is a process of its own, as in a real job."""

import multiprocessing
import tempfile
import traceback
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("python3-torch is not installed") from None

import doctest
import importlib

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from torch import nn
from torch.nn.parallel import DistributedDataParallel

_SECONDS = 300
_PROFILE = """
schema: 1
profile: test
provenance: {source: a test, made_by: hand}
mode: binary
guard: forced
admission: {warmup_steps: 2, most_loss_rise: 100}
detector: {slack: 10, threshold: 100}
"""


def site(body, scheduler, name, number, results, arguments):
    """Runs body(session, number) in a child process; what it returns or raises goes into `results`."""
    torch.set_num_threads(1)
    try:
        with banyan.join(scheduler=scheduler, name=name, timeout=300) as session:
            outcome = body(session, number, *arguments)
            session.barrier(300)
        results.put((number, outcome, None))
    except BaseException:
        results.put((number, None, traceback.format_exc()))


def run_sites(body, *arguments, nodes=3, more=""):
    """Returns what body(session, number, *arguments) returns in each site."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    with LocalJob(nodes=nodes, more=more) as job:
        # Not daemons, which may have no children, such as data loaders.
        processes = [
            context.Process(target=site, args=(body, job.scheduler, name, i, results, arguments))
            for i, name in enumerate(job.names)
        ]
        for process in processes:
            process.start()
        try:
            outcomes = {}
            while len(outcomes) < nodes:
                number, outcome, error = results.get(timeout=_SECONDS)
                if error is not None:
                    raise AssertionError(f"site {number}: {error}\n{job.log[-2000:]}")
                outcomes[number] = outcome
            for process in processes:
                process.join(_SECONDS)
        finally:
            for process in processes:
                process.kill()
    return [outcomes[number] for number in range(nodes)]


# --- models and data ---

class Net(nn.Module):
    """Layers of several kinds: a frozen one, shared weights, and one that some batches leave out."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first = nn.Linear(8, 16)
        self.frozen = nn.Linear(16, 16)
        self.frozen.requires_grad_(False)
        self.shared = nn.Linear(16, 16)
        self.sometimes = nn.Linear(16, 16)
        self.last = nn.Linear(16, 4)
        self.blocks = nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 16)])

    def forward(self, x, *, with_sometimes=True):
        x = torch.tanh(self.first(x))
        x = torch.tanh(self.shared(self.frozen(x)))
        if with_sometimes:
            x = x + self.sometimes(x)
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.last(torch.tanh(self.shared(x)))


def batch(step, number, size=6):
    """Returns site `number`'s part of the batch of a step."""
    generator = torch.Generator().manual_seed(1000 * step + number)
    return torch.randn(size, 8, generator=generator), torch.randn(size, 4, generator=generator)


def joint_batch(step, numbers):
    parts = [batch(step, number) for number in numbers]
    return torch.cat([x for x, _ in parts]), torch.cat([y for _, y in parts])


def loss_of(model, data, **options):
    x, y = data
    return ((model(x, **options) - y) ** 2).mean()  # torch 1.13 has no mse_loss of bfloat16


def values(model):
    return {name: each.detach().clone().numpy() for name, each in model.named_parameters()}


def distance(one, other):
    """Returns the relative L2 distance of two models' values."""
    square = sum(float(((one[name] - other[name]) ** 2).sum()) for name in one)
    return (square / sum(float((other[name] ** 2).sum()) for name in one)) ** 0.5


def optimizer_of(model, kind=torch.optim.SGD, **options):
    return kind([each for each in model.parameters() if each.requires_grad], **options)


# --- what sites do ---

def train_ddp(session, number, steps, unused, accumulate):
    bt.local_group()
    net = Net()
    with torch.no_grad():
        net.first.weight.add_(number)  # the lowest site's parameters count
    model = DistributedDataParallel(net, bucket_cap_mb=0.002, find_unused_parameters=unused)
    bt.attach(session, model, key_mb=0.001)
    optimizer = optimizer_of(model, lr=0.1, momentum=0.9)
    seen = []
    for step in range(steps):
        optimizer.zero_grad()
        options = {"with_sometimes": number == 0} if unused else {}
        if accumulate:
            with model.no_sync():
                loss_of(model, batch(step, number + 10)).backward()
        loss_of(model, batch(step, number), **options).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        seen.append(values(net))
    return seen


def train_plain(session, number, steps, kind):
    net = Net().to(kind)
    sync = bt.attach(session, net)
    optimizer = optimizer_of(net, lr=0.1)
    seen = []
    for step in range(steps):
        optimizer.zero_grad()
        with sync.no_sync():
            x, y = batch(step, number + 10)
            loss_of(net, (x.to(kind), y.to(kind))).backward()
        x, y = batch(step, number)
        loss_of(net, (x.to(kind), y.to(kind)), with_sometimes=False).backward()
        sync.wait(300)
        optimizer.step()
        seen.append(values(net.float()))
        net.to(kind)
    return seen


class Examples(torch.utils.data.Dataset):
    def __init__(self, number):
        self._x, self._y = batch(0, number, size=12)

    def __len__(self):
        return len(self._x)

    def __getitem__(self, i):
        return self._x[i], self._y[i]


def train_low_bit(session, number, steps):
    """Trains with matrices that go low-bit after a warm-up, until a round is: at all sites the same one."""
    net = Net()
    sync = bt.attach(session, net, low_bit=is_matrix, key_mb=0.001)  # not as when the binding was written
    optimizer = optimizer_of(net, lr=0.05)
    seen = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(net, batch(step % 2, number))
        sync.report(loss, progress=min(step / 8, 1), optimizer=optimizer)
        loss.backward()
        sync.wait(300)
        seen.append(net.first.weight.grad.abs().unique().numel())
        optimizer.step()
        if seen[-1] <= 2:
            break
    return values(net), seen


def is_matrix(name, parameter):
    return parameter.dim() > 1 and name != "last.weight"


def train_from_loader(session, number):
    """Has forked children that read data, which come and go in each epoch."""
    net = Net()
    sync = bt.attach(session, net)
    optimizer = optimizer_of(net, lr=0.1)
    for _ in range(2):
        for data in torch.utils.data.DataLoader(Examples(number), batch_size=4, num_workers=2):
            optimizer.zero_grad()
            loss_of(net, data).backward()
            sync.wait(300)
            optimizer.step()
    return values(net)


def join_two_models(session, number):
    try:
        bt.attach(session, nn.Linear(3, 2, bias=False) if number else nn.Linear(2, 3, bias=False))
    except banyan.Error as error:
        return str(error)
    return ""


def mean_of_buffers(session, number):
    model = nn.BatchNorm1d(2)
    sync = bt.attach(session, model)
    for _ in range(number + 1):
        model(torch.full((2, 2), float(number)))
    sync.sync_buffers(300)
    return model.running_mean.tolist(), int(model.num_batches_tracked)


def train_rank_by_ddp(session, number):
    net = Net()
    model = DistributedDataParallel(net)
    bt.attach(session, model)
    optimizer = optimizer_of(model, lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        loss_of(model, batch(step, number)).backward()
        optimizer.step()
    return values(net)


def train_rank_by_hfa(session, number):
    net = Net()
    optimizer = optimizer_of(net, lr=0.1)
    outer = bt.HFA(session, net, optimizer, k1=2, k2=3)
    for step in range(14):
        optimizer.zero_grad()
        loss_of(net, batch(step, number)).backward()
        optimizer.step()
    return values(net), outer.outer_step


def train_rank(body, scheduler, site, rank, folder, results):
    """Is one of two workers of a site, with a process group of the site alone."""
    torch.set_num_threads(1)
    try:
        socket = f"unix:{folder}/{site}"
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/group{site}", rank=rank, world_size=2)
        node = banyan.LocalNode(f"n{site + 1}", scheduler, worker_socket=socket) if rank == 0 else None
        session = node.open_session(0, timeout=300) if node else banyan.join(socket, worker=1, timeout=300)
        with session:
            results.put((2 * site + rank, body(session, 2 * site + rank), None))
            session.barrier(300)
        torch.distributed.barrier()  # the node serves both until they are done
        if node:
            node.stop()
    except BaseException:
        results.put((2 * site + rank, None, traceback.format_exc()))


class RanksTest(unittest.TestCase):
    """Two sites with two ranks each."""

    def run_ranks(self, body):
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        with LocalJob(nodes=2, workers=2) as job, tempfile.TemporaryDirectory(prefix="banyan-") as folder:
            processes = [
                context.Process(
                    target=train_rank, args=(body, job.scheduler, i // 2, i % 2, folder, results), daemon=True
                )
                for i in range(4)
            ]
            for process in processes:
                process.start()
            ranks = [results.get(timeout=_SECONDS) for _ in processes]
            for process in processes:
                process.join(_SECONDS)
        for number, _, error in ranks:
            self.assertIsNone(error, f"rank {number}: {error}")
        return {number: outcome for number, outcome, _ in ranks}

    def test_ddp(self):
        net = Net()
        optimizer = optimizer_of(net, lr=0.1)
        for step in range(4):
            optimizer.zero_grad()
            loss_of(net, joint_batch(step, range(4))).backward()
            optimizer.step()
        for trained in self.run_ranks(train_rank_by_ddp).values():
            self.assertLess(distance(trained, values(net)), 1e-6)

    def test_hfa(self):
        nets = [Net() for _ in range(4)]
        optimizers = [optimizer_of(net, lr=0.1) for net in nets]

        @torch.no_grad()
        def average(numbers):
            for parts in zip(*(nets[number].parameters() for number in numbers)):
                mean = sum(each.detach() for each in parts) / len(parts)
                for each in parts:
                    each.copy_(mean)

        for step in range(14):
            for number, net in enumerate(nets):
                optimizers[number].zero_grad()
                loss_of(net, batch(step, number)).backward()
                optimizers[number].step()
            if (step + 1) % 2 == 0:
                average([0, 1])
                average([2, 3])
            if (step + 1) % 6 == 0:
                average(range(4))
        for number, (trained, rounds) in self.run_ranks(train_rank_by_hfa).items():
            self.assertEqual(rounds, 2)
            self.assertLess(distance(trained, values(nets[number])), 1e-6)


class DocumentationTest(unittest.TestCase):
    def test_examples_run(self):
        for name in ("_groups", "_optimizers", "_parts", "_replicas", "_weight", "attach", "diloco", "state"):
            failed, _ = doctest.testmod(importlib.import_module("banyan.torch." + name))
            self.assertEqual(failed, 0, name)


class GradientTest(unittest.TestCase):
    """Several sites are one process on the joint batch."""

    def expect_equal(self, sites, steps, *, unused=False, accumulate=False):
        net = Net()
        optimizer = optimizer_of(net, lr=0.1, momentum=0.9)
        numbers = range(len(sites))
        for step in range(steps):
            optimizer.zero_grad()
            if accumulate:
                loss_of(net, joint_batch(step, [number + 10 for number in numbers])).backward()
            if unused:
                for number in numbers:
                    (loss_of(net, batch(step, number), with_sometimes=number == 0) / len(sites)).backward()
            else:
                loss_of(net, joint_batch(step, numbers)).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            for number in numbers:
                self.assertLess(distance(sites[number][step], values(net)), 1e-6, f"step {step}, site {number}")
                self.assertEqual(distance(sites[number][step], sites[0][step]), 0)

    def test_ddp(self):
        self.expect_equal(run_sites(train_ddp, 8, False, False), 8)

    def test_ddp_that_accumulates(self):
        self.expect_equal(run_sites(train_ddp, 4, False, True), 4, accumulate=True)

    def test_ddp_where_one_site_uses_what_others_do_not(self):
        self.expect_equal(run_sites(train_ddp, 4, True, False), 4, unused=True)

    def test_a_plain_module(self):
        sites = run_sites(train_plain, 4, torch.float32)
        net = Net()
        optimizer = optimizer_of(net, lr=0.1)
        for step in range(4):
            optimizer.zero_grad()
            loss_of(net, joint_batch(step, [10, 11, 12])).backward()
            loss_of(net, joint_batch(step, range(3)), with_sometimes=False).backward()
            optimizer.step()
            for each in sites:
                self.assertLess(distance(each[step], values(net)), 1e-6)

    def test_bfloat16_stays_within_its_rounding(self):
        sites = run_sites(train_plain, 2, torch.bfloat16)
        for each in sites[1:]:
            self.assertEqual(distance(each[-1], sites[0][-1]), 0)
        plain = run_sites(train_plain, 2, torch.float32)
        self.assertLess(distance(sites[0][-1], plain[0][-1]), 0.02)

    def test_models_that_differ_are_refused_with_both_shapes(self):
        said = run_sites_that_fail(join_two_models)
        for text in said:
            self.assertIn("3x2", text)
            self.assertIn("2x3", text)

    def test_forked_data_loaders(self):
        sites = run_sites(train_from_loader, nodes=2)
        net = Net()
        optimizer = optimizer_of(net, lr=0.1)
        for _ in range(2):
            for i in range(0, 12, 4):
                optimizer.zero_grad()
                for number in range(2):
                    x, y = batch(0, number, size=12)
                    (loss_of(net, (x[i : i + 4], y[i : i + 4])) / 2).backward()
                optimizer.step()
        for each in sites:
            self.assertLess(distance(each, values(net)), 1e-6)

    def test_low_bit_rounds(self):
        with tempfile.TemporaryDirectory(prefix="banyan-") as folder:
            with open(f"{folder}/binding.yaml", "w", encoding="utf-8") as file:
                file.write(bt.attach(banyan.solo(), Net(), low_bit=is_matrix).binding())
            with open(f"{folder}/profile.yaml", "w", encoding="utf-8") as file:
                file.write(_PROFILE)
            more = f"precision: {{profile: {folder}/profile.yaml, binding: {folder}/binding.yaml}}"
            sites = run_sites(train_low_bit, 100, more=more)
        for trained, kinds in sites:
            self.assertEqual(distance(trained, sites[0][0]), 0)
            self.assertGreater(kinds[0], 100, "in full precision at first")
            self.assertLessEqual(kinds[-1], 2, "a scale, and zero where votes tie")

    def test_buffers(self):
        sites = run_sites(mean_of_buffers)
        self.assertEqual(sites[0], sites[1])
        self.assertEqual(sites[0], sites[2])
        self.assertEqual(sites[0][1], 1)


def run_sites_that_fail(body):
    """Runs sites whose job fails, so that they cannot meet at a barrier."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    with LocalJob(nodes=2) as job:
        processes = [
            context.Process(target=failing_site, args=(body, job.scheduler, name, i, results), daemon=True)
            for i, name in enumerate(job.names)
        ]
        for process in processes:
            process.start()
        said = [results.get(timeout=_SECONDS) for _ in processes]
        for process in processes:
            process.join(_SECONDS)
    return said


def failing_site(body, scheduler, name, number, results):
    try:
        session = banyan.join(scheduler=scheduler, name=name, timeout=300)
        results.put(body(session, number))
        session.close()
    except BaseException:
        results.put(traceback.format_exc())


if __name__ == "__main__":
    unittest.main()
