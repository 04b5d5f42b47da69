"""What torch and its users know from torch.distributed: ranks, samplers, reductions, communication hooks, a process group."""

import datetime
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import torch_test  # first, as it skips where torch is not installed
import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from scripts_test import Case, Small, on_sites, weights
from torch_test import batch, joint_batch, loss_of


def in_processes(script, nodes=3, more=""):
    """Returns what a script prints at each site, a process each, whose session is `job`."""
    begin = "import sys, banyan, banyan.torch as bt, torch, torch.distributed as dist\njob = banyan.join(scheduler=sys.argv[1], name=sys.argv[2])\n"
    with LocalJob(nodes=nodes, more=more) as job:
        run = [
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", begin + script, job.scheduler, name], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True
            )
            for name in job.names
        ]
        return [each.communicate(timeout=200)[0] for each in run]


class MembersTest(Case):
    def test_ranks_are_by_node_and_worker_and_changes_are_told(self):
        left, told = threading.Event(), []

        def body(session, number):
            first = session.members
            self.assertEqual((session.rank, session.world_size), (number, 3))
            self.assertEqual(first.nodes, tuple(banyan.Node(f"n{i + 1}", 1) for i in range(3)))
            if number == 2:
                session.barrier(100)
                return None
            if number == 0:
                session.on_members_change(lambda members: (told.append(members), left.set()))
            session.barrier(100)
            if number == 0:
                self.assertTrue(left.wait(100))
                self.assertEqual(session.world_size, 2)
                self.assertGreater(session.members.epoch, first.epoch)
            session.init("w", torch.zeros(1), timeout=100)
            return None

        self.assertEqual(on_sites(body, nodes=3), [None] * 3)
        self.assertEqual([each.name for each in told[0].nodes], ["n1", "n2"])

    def test_a_closed_session_has_none(self):
        session = banyan.solo()
        self.assertEqual((session.rank, session.world_size), (0, 1))

        def body(session, number):
            session.close()
            with self.assertRaises(banyan.Cancelled):
                session.rank

        self.assertEqual(on_sites(body), [None] * 2)


class SamplerTest(Case):
    class Three:
        def __init__(self, rank):
            self.members = banyan.Members(1, rank, 3, ())

    def parts(self, size, epoch=0, **options):
        samplers = [bt.SiteSampler(range(size), self.Three(rank), **options) for rank in range(3)]
        for each in samplers:
            each.set_epoch(epoch)
        parts = [list(each) for each in samplers]
        self.assertEqual([len(each) for each in samplers], [len(each) for each in parts])
        return parts

    def test_parts_are_those_of_torch(self):
        for size, epoch, options in ((9, 0, {}), (10, 3, {}), (11, 1, {"drop_last": True}), (8, 2, {"shuffle": False}), (2, 0, {})):
            expected = []
            for rank in range(3):
                sampler = torch.utils.data.distributed.DistributedSampler(range(size), 3, rank, **options)
                sampler.set_epoch(epoch)
                expected.append(list(sampler))
            if options.get("drop_last"):  # torch leaves out as well; of the rest all come once
                self.assertEqual([len(each) for each in self.parts(size, epoch, **options)], [len(each) for each in expected])
            self.assertEqual(self.parts(size, epoch, **options), expected)

    def test_training_on_parts_is_that_of_one_process(self):
        x, y = torch.randn(24, 8, generator=torch.Generator().manual_seed(2)), torch.randn(24, 4)
        data = torch.utils.data.TensorDataset(x, y)

        def train(session, number):
            model = Small()
            sync = bt.attach(session, model)
            sampler = bt.SiteSampler(data, session)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                sampler.set_epoch(epoch)
                for inputs, targets in torch.utils.data.DataLoader(data, batch_size=4, sampler=sampler):
                    optimizer.zero_grad()
                    (model(inputs) - targets).square().mean().backward()
                    sync.wait(100)
                    optimizer.step()
            return weights(model)

        alone = Small()
        optimizer = torch.optim.SGD(alone.parameters(), lr=0.1)
        for epoch in range(3):
            order = torch.randperm(24, generator=torch.Generator().manual_seed(epoch)).view(12, 2).t()
            for i in range(0, 12, 4):
                chosen = order[:, i : i + 4].flatten()
                optimizer.zero_grad()
                (alone(x[chosen]) - y[chosen]).square().mean().backward()
                optimizer.step()
        self.expect_like(on_sites(train), weights(alone))


class ReductionsTest(Case):
    CASES = {  # type: values of n1 and n2, and what each reduction makes of them
        torch.float32: ([1.5, -4, 3], [2.5, -3, 3], {"sum": [4, -7, 6], "max": [2.5, -3, 3], "min": [1.5, -4, 3], "product": [3.75, 12, 9]}),
        torch.float16: ([1.5, -4, 3], [2.5, -3, 3], {"sum": [4, -7, 6], "max": [2.5, -3, 3]}),
        torch.float64: ([1e300, 0.1], [1.0, 0.2], {"sum": [1e300, 0.1 + 0.2], "min": [1.0, 0.1], "product": [1e300, 0.1 * 0.2]}),
        torch.int64: ([2**60, -5], [3, 4], {"sum": [2**60 + 3, -1], "max": [2**60, 4], "product": [3 * 2**60, -20]}),
        torch.int32: ([7, -5], [3, 4], {"sum": [10, -1], "min": [3, -5], "product": [21, -20]}),
        torch.int16: ([7, -5], [3, 4], {"sum": [10, -1], "max": [7, 4]}),
        torch.int8: ([100, -5], [100, 4], {"sum": [-56, -1], "max": [100, 4]}),
        torch.uint8: ([200, 5], [100, 4], {"sum": [44, 9], "min": [100, 4]}),
        torch.bool: ([True, False, False], [True, True, False], {"sum": [True, True, False], "max": [True, True, False], "min": [True, False, False]}),
    }

    def test_every_type_has_every_reduction_whatever_the_job_does(self):
        for op in ("mean", "sum"):

            def body(session, number):
                results = {}
                for type, (*values, wanted) in self.CASES.items():
                    for reduction in wanted:
                        key = f"{type}/{reduction}"
                        value = torch.tensor(values[number], dtype=type)
                        session.init(key, value, reduce=reduction)
                        in_numpy = value.numpy().copy()
                        results[key] = session.all_reduce(key, value, timeout=100).tolist()
                        self.assertEqual(session.all_reduce(key, in_numpy, timeout=100).tolist(), results[key])
                return results

            expected = {
                f"{type}/{reduction}": torch.tensor(result, dtype=type).tolist()
                for type, (_, _, wanted) in self.CASES.items() for reduction, result in wanted.items()
            }
            for outcome in on_sites(body, more=f"aggregation: {{op: {op}}}\ncompression: {{codec: int4}}"):
                self.assertEqual(outcome, expected)

    def test_sites_that_reduce_otherwise_are_told(self):
        def body(session, number):
            session.init("w", torch.zeros(2), reduce="min" if number else "max", timeout=100)

        for outcome in on_sites(body):
            self.assertRegex(str(outcome), "(float64 min.*float64 max|float64 max.*float64 min)")

    def test_what_is_no_reduction_is_refused(self):
        with self.assertRaisesRegex(banyan.InvalidArgument, "reduce: expected sum, max, min, product, or None, got 'mean'"):
            banyan.solo().init("w", torch.zeros(2), reduce="mean")
        with self.assertRaisesRegex(banyan.InvalidArgument, "float64 max.*got int64"):
            session = banyan.solo()
            session.init("w", torch.zeros(2), reduce="max")
            session.all_reduce("w", torch.zeros(2, dtype=torch.int64))


class HookTest(Case):
    def train(self, session, number, sites, hook, steps=5, unused=False, **options):
        bt.local_group()
        model = Small()
        ddp = DistributedDataParallel(model, bucket_cap_mb=0.0001, **options)
        if hook is not None:
            ddp.register_comm_hook(*hook(ddp))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for step in range(steps):
            optimizer.zero_grad()
            x, y = joint_batch(step, sites)
            if unused and number == 1:
                ddp.module.first.requires_grad_(True)
            (ddp(x) - y).square().mean().backward()
            optimizer.step()
        return weights(model)

    def test_a_registered_hook_gives_the_jobs_gradients(self):
        alone = self.train(None, 0, range(2), None)
        for make in (lambda job: lambda ddp: bt.comm_hook(job), lambda job: lambda ddp: bt.comm_hook(job, ddp)):
            self.expect_like(on_sites(lambda job, i: self.train(job, i, [i], make(job))), alone, 1e-4)

    def test_sites_that_begin_with_other_parameters_are_told_in_the_first_step(self):
        def body(session, number):
            bt.local_group()
            model = Small()
            with torch.no_grad():
                model.last.bias.add_(number)
            ddp = DistributedDataParallel(model)
            ddp.register_comm_hook(*bt.comm_hook(session))
            loss_of(ddp, batch(0, number)).backward()

        for outcome in on_sites(body):
            self.assertRegex(str(outcome), "replicas have parted by round 1: n2 differ from n1, first in grad/")

    def test_with_a_model_sites_begin_alike(self):
        def body(session, number):
            bt.local_group()
            model = Small()
            with torch.no_grad():
                model.last.bias.add_(number)
            ddp = DistributedDataParallel(model)
            state, hook = bt.comm_hook(session, ddp)
            ddp.register_comm_hook(state, hook)
            with self.assertLogs("banyan", "WARNING") if number else self.subTest():
                loss_of(ddp, batch(0, number)).backward()
            return torch.cat([weights(model), model.last.bias.grad])

        outcomes = on_sites(body)
        self.expect_like(outcomes, outcomes[0])

    def test_lightnings_order(self):
        """Its strategy is given state and hook before there is a model, and registers them when it wraps that."""

        class Strategy:
            def __init__(self, ddp_comm_state, ddp_comm_hook):
                self.state, self.hook = ddp_comm_state, ddp_comm_hook

            def setup(self, module):
                self.model = DistributedDataParallel(module)
                self.model.register_comm_hook(state=self.state, hook=self.hook)

        def fit(session, number, sites):
            bt.local_group()
            model = Small()
            strategy = Strategy(*(bt.comm_hook(session) if session else (None, None)))
            if session:
                strategy.setup(model)
            else:
                strategy.model = model
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(4):
                x, y = joint_batch(step, sites)

                def closure():  # zero_grad and backward inside of step, then clipping, as Lightning has it
                    optimizer.zero_grad()
                    loss = (strategy.model(x) - y).square().mean()
                    loss.backward()
                    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                    return loss

                optimizer.step(closure)
            return weights(model)

        self.expect_like(on_sites(lambda job, i: fit(job, i, [i])), fit(None, 0, range(2)), 1e-5)


class ProcessGroupTest(unittest.TestCase):
    def test_every_collective_call(self):
        outputs = in_processes("""
bt.init_process_group(job)
rank, size = dist.get_rank(), dist.get_world_size()
def done(what, value): print(what, value if not isinstance(value, torch.Tensor) else value.tolist())
for name, op in (("sum", dist.ReduceOp.SUM), ("max", dist.ReduceOp.MAX), ("min", dist.ReduceOp.MIN), ("product", dist.ReduceOp.PRODUCT)):
    for type in (torch.float32, torch.int64, torch.bfloat16, torch.uint8):
        t = torch.tensor([rank + 1, 7], dtype=type); dist.all_reduce(t, op=op); done(f"{name} {type}", t)
t = torch.tensor([1.0, rank]); dist.all_reduce(t, op=dist.ReduceOp.AVG); done("avg", t)
for op in ("BAND", "BOR"):
    t = torch.tensor([rank == 1, True, False]); dist.all_reduce(t, op=getattr(dist.ReduceOp, op)); done(op, t)
for type in (torch.float32, torch.complex64, torch.bool, torch.float16, torch.int64):
    t = torch.tensor([rank, 5, 1]).to(type); dist.broadcast(t, 2); done(f"broadcast {type}", t)
    parts = [torch.zeros(3).to(type) for _ in range(size)]; dist.all_gather(parts, torch.tensor([rank, 5, 1]).to(type)); done(f"all_gather {type}", torch.stack(parts))
work = dist.all_reduce(t, async_op=True); work.wait(); done("async", work.is_completed())
t = torch.ones(2) * rank; dist.reduce(t, 1); done("reduce", t)
parts = [torch.zeros(1) for _ in range(size)] if rank == 1 else None; dist.gather(torch.tensor([rank + 0.5]), parts, 1); done("gather", parts)
t = torch.zeros(2); dist.scatter(t, [torch.tensor([i, i + 10.0]) for i in range(size)] if rank == 0 else None, 0); done("scatter", t)
t = torch.zeros(1); dist.reduce_scatter(t, [torch.tensor([i + rank + 0.0]) for i in range(size)]); done("reduce_scatter", t)
objects = [{"lr": 0.1} if rank == 0 else None]; dist.broadcast_object_list(objects, 0); done("objects", objects)
objects = [None] * size; dist.all_gather_object(objects, f"n{rank}"); done("gathered", objects)
dist.barrier()
for call in (lambda: dist.send(t, (rank + 1) % size), lambda: dist.all_reduce(torch.ones(1, dtype=torch.int32), op=dist.ReduceOp.BXOR), lambda: dist.new_group([0, 1])):
    try: call(); done("refused", "nothing")
    except Exception as error: done("refused", str(error)[:60])
job.close()
""")
        lines = [dict(re.findall(r"^(.*?) ((?:\[|True|False|None).*)$", each, re.M)) for each in outputs]
        for line, output in zip(lines, outputs):
            self.assertNotIn("Traceback", output)
            self.assertEqual(line["sum torch.float32"], "[6.0, 21.0]")
            self.assertEqual(line["sum torch.uint8"], "[6, 21]")
            self.assertEqual(line["max torch.int64"], "[3, 7]")
            self.assertEqual(line["min torch.bfloat16"], "[1.0, 7.0]")
            self.assertEqual(line["product torch.float32"], "[6.0, 343.0]")
            self.assertEqual(line["product torch.uint8"], "[6, 87]")
            self.assertEqual(line["avg"], "[1.0, 1.0]")
            self.assertEqual((line["BAND"], line["BOR"]), ("[False, True, False]", "[True, True, False]"))
            self.assertEqual(line["broadcast torch.float32"], "[2.0, 5.0, 1.0]")
            self.assertEqual(line["broadcast torch.complex64"], "[(2+0j), (5+0j), (1+0j)]")
            self.assertEqual(line["broadcast torch.bool"], "[True, True, True]")
            self.assertEqual(line["all_gather torch.int64"], "[[0, 5, 1], [1, 5, 1], [2, 5, 1]]")
            self.assertEqual(line["all_gather torch.float16"], "[[0.0, 5.0, 1.0], [1.0, 5.0, 1.0], [2.0, 5.0, 1.0]]")
            self.assertEqual(line["async"], "True")
            self.assertEqual(line["objects"], "[{'lr': 0.1}]")
            self.assertEqual(line["gathered"], "['n0', 'n1', 'n2']")
            self.assertIn("send: expected a call in which all workers take part alike", output)
            self.assertIn("ReduceOp.BXOR: expected one of sum", output.replace("SUM", "sum"))
            if output is not outputs[2]:  # which is not of that group
                self.assertIn("banyan: expected bt.init_process_group(job)", output)
        self.assertEqual([each["reduce"] for each in lines], ["[0.0, 0.0]", "[3.0, 3.0]", "[2.0, 2.0]"])
        self.assertEqual(lines[1]["gather"], "[tensor([0.5000]), tensor([1.5000]), tensor([2.5000])]")
        self.assertEqual([each["scatter"] for each in lines], ["[0.0, 10.0]", "[1.0, 11.0]", "[2.0, 12.0]"])
        self.assertEqual([each["reduce_scatter"] for each in lines], ["[3.0]", "[6.0]", "[9.0]"])

    def test_ddp_and_changes_of_members(self):
        outputs = in_processes("""
import os, time
bt.init_process_group(job)
rank = dist.get_rank()
torch.manual_seed(rank)
net = torch.nn.Linear(4, 1)
ddp = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    x = torch.randn(8, 4, generator=torch.Generator().manual_seed(10 * step + rank))
    (ddp(x) - x.sum(1, keepdim=True)).square().mean().backward()
    optimizer.step()
print("weights", net.weight.tolist(), flush=True)
dist.barrier()
if rank == 2: os._exit(1)
try:
    for _ in range(400): dist.all_reduce(torch.ones(1)); time.sleep(0.05)
except Exception as error: print(error)
job.close()
""", more="membership: {lost_after_seconds: 3}")
        said = {re.search("weights .*", each)[0] for each in outputs}
        self.assertEqual(len(said), 1, outputs)
        for each in outputs[:2]:
            self.assertIn("the members of the job have changed", each)


if __name__ == "__main__":
    unittest.main()
