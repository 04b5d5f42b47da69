"""Sites whose models are in parts take the state from sites with other numbers of parts, and give theirs to them."""

import importlib.util
import multiprocessing
import tempfile
import traceback
import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
import torch.distributed as dist

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from sharded_test import Parts, Whole, in_rows
from torch_test import batch, distance, loss_of

_SECONDS = 300
_STEPS = 120
_PARTS = [3, 2, 1]  # at each site; the first begins alone, and the last has its model in one piece
_MORE = "membership: {start_with: 1, heartbeat_seconds: 1, lost_after_seconds: 30}"


def with_buffers(model, number):
    """Adds what is not trained, of types that not all process groups take."""
    model.register_buffer("flags", torch.tensor([number == 0, False]))
    model.register_buffer("halves", torch.full((3,), 1.5 + number, dtype=torch.bfloat16))
    model.register_buffer("nothing", torch.zeros(0))
    return model


def make(session, number, rank, count):
    """Returns a model with its attachment, optimizer, schedule and state."""
    if count == 1:
        model, options = with_buffers(Whole(), number), {}
    else:
        model = with_buffers(Parts(number, rank, count), number)
        shapes = {name: each.shape for name, each in model.whole[0].named_parameters()}
        options = {"shard_group": dist.group.WORLD, "shapes": shapes}
    sync = bt.attach(session, model, **options)
    optimizer = torch.optim.AdamW([each for _, each in model.named_parameters()], lr=0.01, amsgrad=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.9)
    return model, sync, optimizer, schedule, bt.State(session, model=model, optimizer=optimizer, scheduler=schedule, **options)


def train(session, number, rank, count, come, tell):
    model, sync, optimizer, schedule, state = make(session, number, rank, count)
    was_there = state.sync(_SECONDS)
    tell("begins", (was_there, state.step, model.flags.tolist(), model.halves.tolist()))
    come[number].set()
    while state.step < _STEPS:
        if state.step > 4 and not all(each.is_set() for each in come):
            come[min(number + 1, len(come) - 1)].wait(0.25)  # who comes late imports torch for seconds
        optimizer.zero_grad()
        data = batch(state.step, 10 * number + rank)
        if count == 1:
            loss_of(model, data).backward()
        else:
            model.backward(data)
        sync.wait(_SECONDS)
        optimizer.step()
        schedule.step()
        state.advance(_SECONDS)
    if count > 1:
        model.gather()
        model = model.whole[0]
    tell("ends", ({name: each.detach().numpy() for name, each in model.named_parameters()}, optimizer.param_groups[0]["lr"]))


def process_of(scheduler, name, number, rank, count, store, come, results):
    torch.set_num_threads(1)
    try:
        if count > 1:
            dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=count)
        session = banyan.join(scheduler=scheduler, name=name, timeout=_SECONDS) if rank == 0 else None
        train(session, number, rank, count, come, lambda what, value: results.put((number, rank, what, value)))
        if session is not None:
            session.barrier(_SECONDS)
            session.close()
    except BaseException:
        results.put((number, rank, "fails", traceback.format_exc()))


class ShardedStateTest(unittest.TestCase):
    def run_sites(self):
        """Starts each site when the one before it has begun; returns what each process told."""
        context = multiprocessing.get_context("spawn")
        results, come = context.Queue(), [context.Event() for _ in _PARTS]
        told = {}
        with LocalJob(nodes=len(_PARTS), more=_MORE) as job, tempfile.TemporaryDirectory() as folder:
            processes = []

            def start(number):
                for rank in range(_PARTS[number]):
                    arguments = (job.scheduler, job.names[number], number, rank, _PARTS[number], f"{folder}/{number}", come, results)
                    processes.append(context.Process(target=process_of, args=arguments, daemon=True))
                    processes[-1].start()

            start(0)
            while len([each for each in told if each[2] == "ends"]) < sum(_PARTS):
                number, rank, what, value = results.get(timeout=_SECONDS)
                self.assertNotEqual(what, "fails", f"site {number}, process {rank}: {value}\n{job.log[-2000:]}")
                told[number, rank, what] = value
                if what == "begins" and rank == 0 and number + 1 < len(_PARTS):
                    start(number + 1)
            for process in processes:
                process.join(_SECONDS)
        return told

    def test_late_sites_have_the_others_state_whatever_the_number_of_parts(self):
        told = self.run_sites()
        ended, rate = told[0, 0, "ends"]
        for number, count in enumerate(_PARTS):
            for rank in range(count):
                was_there, step, flags, halves = told[number, rank, "begins"]
                self.assertEqual((was_there, step > 0), (number > 0, number > 0))
                self.assertEqual((flags, halves), ([True, False], [1.5] * 3))
                trained, own_rate = told[number, rank, "ends"]
                self.assertEqual((distance(trained, ended), own_rate), (0, rate), f"site {number}, process {rank}")


def dtensor_process(rank, store, results):
    """Spoils a model and its optimizer, and takes back what the first process has of them; tells whether all is there."""
    model, cut = in_rows(rank, store)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    state = bt.State(banyan.solo() if rank == 0 else None, model=model, optimizer=optimizer)
    for step in range(2):
        for each in model.parameters():
            each.grad = cut(torch.arange(each.numel(), dtype=torch.float32).view(each.shape) + step)
        optimizer.step()
    state._encode()  # as `advance` does where somebody waits
    tensors = [*model.parameters(), *(optimizer.state[each]["exp_avg"] for each in model.parameters())]
    before = [each.full_tensor().clone() for each in tensors]
    with torch.no_grad():
        for each in tensors:
            each.zero_()
    optimizer.state.clear()
    state._decode()
    after = [*model.parameters(), *(optimizer.state[each]["exp_avg"] for each in model.parameters())]
    same = [torch.equal(each.full_tensor(), other) for each, other in zip(after, before)]
    steps = {int(optimizer.state[each]["step"]) for each in model.parameters()}
    results.put((rank, set(same), steps, sorted(state._parts)))


@unittest.skipUnless(importlib.util.find_spec("torch.distributed.tensor"), "this torch has no DTensor")
class DTensorTest(unittest.TestCase):
    def test_rows_of_dtensors(self):
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        whole = Whole()
        names = bt.State(banyan.solo(), model=whole, optimizer=torch.optim.Adam(whole.parameters()))._parts
        with tempfile.TemporaryDirectory() as folder:
            processes = [
                context.Process(target=dtensor_process, args=(rank, f"{folder}/store", results)) for rank in range(2)
            ]
            for process in processes:
                process.start()
            for _ in processes:
                rank, same, steps, parts = results.get(timeout=_SECONDS)
                self.assertEqual((same, steps), ({True}, {2}))
                self.assertEqual(parts, sorted(names) if rank == 0 else ["facts"])
            for process in processes:
                process.join(_SECONDS)


class RefusedTest(unittest.TestCase):
    def setUp(self):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)
        self.model = Parts(0, 0, 1)
        self.optimizer = torch.optim.Adam([each for _, each in self.model.named_parameters()])

    def begin(self, job, **options):
        options = {"model": self.model, "optimizer": self.optimizer, "shard_group": dist.group.WORLD, **options}
        return bt.State(job, **options)

    def test_nothing_is_gathered_where_nobody_waits(self):
        job = banyan.solo()
        state = self.begin(job)
        gathered = []
        state._encode = lambda: gathered.append(state.step)
        for awaited in (False, True, False):
            job.boundary_is_held = lambda: awaited
            state.advance()
        self.assertEqual((gathered, state.step), ([2], 3))

    def test_what_a_site_in_parts_could_not_be_given(self):
        with self.assertRaisesRegex(banyan.InvalidArgument, "a session in the first process"):
            self.begin(None)
        with self.assertRaisesRegex(banyan.InvalidArgument, "only models in parts"):
            bt.State(None, model=Whole())
        with self.assertRaisesRegex(banyan.InvalidArgument, "with another parameter"):
            self.begin(banyan.solo(), optimizer=torch.optim.SGD(Whole().parameters(), lr=1, momentum=0.5))

        class InRows(torch.optim.SGD):
            def step(self):
                for each in self.param_groups[0]["params"]:
                    self.state[each]["rows"] = torch.zeros(2)

        rows = InRows([each for _, each in self.model.named_parameters()], lr=1)
        with self.assertRaisesRegex(banyan.InvalidArgument, r"got rows of Tensor of shape \(2,\)"):
            self.begin(banyan.solo(), optimizer=rows)
        outer = bt.LocalSGD(banyan.solo(), self.model, self.optimizer)
        with self.assertRaisesRegex(banyan.InvalidArgument, "outer: .* in one piece"):
            self.begin(banyan.solo(), outer=outer)

    def test_parts_are_named_and_large_as_those_of_a_model_in_one_piece(self):
        whole = Whole()
        ours = self.begin(banyan.solo())._parts
        theirs = bt.State(banyan.solo(), model=whole, optimizer=torch.optim.Adam(whole.parameters()))._parts
        size = lambda part: len(part) if isinstance(part, bytearray) else part.numel() * part.element_size()  # noqa: E731
        self.assertEqual([(name, size(part)) for name, part in ours.items()], [(name, size(part)) for name, part in theirs.items()])


if __name__ == "__main__":
    unittest.main()
