"""Who comes late, or again, begins where the others are."""

import multiprocessing
import os
import signal
import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn

import banyan
import banyan.torch as bt
from banyan.testing import LocalJob
from diloco_test import Blocks
from torch_test import Net, batch, distance, loss_of, optimizer_of, values

_STEPS = 400
_SECONDS = 300
_MORE = "membership: {start_with: 2, heartbeat_seconds: 1, lost_after_seconds: 30}"


def train(scheduler, name, number, results, is_back, with_outer, die_at):
    torch.set_num_threads(1)
    with banyan.join(scheduler=scheduler, name=name, timeout=300) as session:
        if with_outer:
            net = Blocks()
            inner = optimizer_of(net, torch.optim.AdamW, lr=0.01)
            sync, outer = None, bt.DiLoCo(session, net, inner, sync_every=4)
            state = bt.State(session, model=net, outer=outer)
        else:
            net = Net()
            sync, outer = bt.attach(session, net), None
            inner = optimizer_of(net, torch.optim.AdamW, lr=0.01)
            scheduler_of_rates = torch.optim.lr_scheduler.StepLR(inner, 5, gamma=0.8)
            state = bt.State(session, model=net, optimizer=inner, scheduler=scheduler_of_rates)
        was_there = state.sync(300)
        results.put((name, "begins", (was_there, state.step)))
        if was_there:
            is_back.set()
        while state.step < _STEPS:
            if state.step == die_at:
                results.put((name, "dies", state.step))
                results.close()
                results.join_thread()
                os.kill(os.getpid(), signal.SIGKILL)
            if state.step > 12:
                is_back.wait(0.25)  # a site that starts again imports torch for seconds
            inner.zero_grad()
            loss_of(net, batch(state.step, number)).backward()
            if sync is not None:
                sync.wait(300)
            inner.step()
            if sync is not None:
                scheduler_of_rates.step()
            state.advance(300)
        rate = inner.param_groups[0]["lr"]
        results.put((name, "ends", (values(net), rate, loss_of(net, batch(0, 0)).item())))


class StateTest(unittest.TestCase):
    def run_with_a_death(self, with_outer):
        """Trains at two sites; the second dies and comes again. Returns all that they told."""
        context = multiprocessing.get_context("spawn")
        results, is_back = context.Queue(), context.Event()
        told = {}
        with LocalJob(nodes=2, more=_MORE) as job:

            def start(name, number, die_at=None):
                process = context.Process(
                    target=train, args=(job.scheduler, name, number, results, is_back, with_outer, die_at), daemon=True
                )
                process.start()
                return process

            processes = [start("n1", 0), start("n2", 1, die_at=9)]
            while (("n1", "ends") not in told) or (("n2", "ends") not in told):
                try:
                    name, what, value = results.get(timeout=_SECONDS)
                except Exception:
                    self.fail(f"nothing more was told; so far {list(told)}\n{job.log[-3000:]}")
                told.setdefault((name, what), []).append(value)
                if what == "dies":
                    processes.append(start("n2", 1))
            for process in processes:
                process.join(_SECONDS)
        return told

    def test_gradients_of_every_step(self):
        told = self.run_with_a_death(with_outer=False)
        self.assertEqual(told["n2", "begins"][0], (False, 0))
        was_there, step = told["n2", "begins"][1]
        self.assertTrue(was_there)
        self.assertGreaterEqual(step, 9)
        (first, rate, _), (second, other_rate, _) = told["n1", "ends"][0], told["n2", "ends"][0]
        self.assertEqual(distance(first, second), 0)
        self.assertEqual(rate, other_rate)

    def test_diloco(self):
        told = self.run_with_a_death(with_outer=True)
        was_there, step = told["n2", "begins"][1]
        self.assertTrue(was_there)
        (first, _, _), (second, _, _) = told["n1", "ends"][0], told["n2", "ends"][0]
        self.assertEqual(distance(first, second), 0)


if __name__ == "__main__":
    unittest.main()
