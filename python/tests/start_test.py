"""With what sites begin: the newest state that any of them has, whoever that is, or an error that says who has what."""

import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn

import banyan
import banyan.torch as bt
from scripts_test import Case, Small, on_sites, weights
from torch_test import batch, joint_batch, loss_of

STEPS = 4  # after the start


def checkpoint(step, variant=0):
    """Returns a model and an optimizer with momentum, as they are after `step` steps; of step 0 another one at each site."""
    model = Small()
    with torch.no_grad():
        model.last.bias.add_(variant + step / 1000)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01 if step == 0 else 0.02)
    for _ in range(min(step, 3)):
        optimizer.zero_grad()
        loss_of(model, batch(100 + step, 0)).backward()
        optimizer.step()
    return model, optimizer


def train(sync, model, optimizer, batches, state=None):
    for step in range(STEPS):
        optimizer.zero_grad()
        x, y = batches(step)
        (model(x) - y).square().mean().backward()
        sync(step)
        optimizer.step()
        if state is not None:
            state.advance(100)


class NewestTest(Case):
    def outcomes(self, held, order="attach"):
        """Trains at sites that hold these (step, variant), and returns what they have come to."""

        def body(session, number):
            step, variant = held[number]
            model, optimizer = checkpoint(step, variant)
            make = lambda: bt.State(session, model=model, optimizer=optimizer, step=step)
            state = make() if order == "state" else None
            sync = bt.attach(session, model)
            state = state or make()
            taken = state.sync(100)
            self.begun.append((number, taken, state.step))
            train(lambda _: sync.wait(100), model, optimizer, lambda i: batch(i, number), state)
            return weights(model)

        self.begun = []
        return on_sites(body, nodes=len(held))

    def expected(self, step, variant, sites):
        model, optimizer = checkpoint(step, variant)
        train(lambda _: None, model, optimizer, lambda i: joint_batch(i, range(sites)))
        return weights(model)

    def test_the_newest_wins_whoever_has_it(self):
        for held, newest in (
            ([(0, 1), (500, 0), (500, 0)], 500), ([(450, 0), (500, 0), (500, 0)], 500), ([(500, 0), (0, 1), (0, 2)], 500),
            ([(0, 1), (0, 2), (7, 0)], 7),
        ):
            for order in ("attach", "state"):
                with self.subTest(held=held, order=order), self.assertLogs("banyan", "WARNING") as logs:
                    outcomes = self.outcomes(held, order)
                    self.expect_like(outcomes, self.expected(newest, 0, 3), 1e-5)
                    for number, taken, step in self.begun:
                        self.assertEqual((taken, step), (held[number][0] < newest, newest))
                self.assertIn(f"all take the state of step {newest}, of n", "\n".join(logs.output))

    def test_equal_checkpoints_go_on(self):
        self.expect_like(self.outcomes([(500, 0), (500, 0)]), self.expected(500, 0, 2), 1e-5)

    def test_sites_without_checkpoints_take_the_lowest_ones_parameters_and_say_so(self):
        with self.assertLogs("banyan", "WARNING") as logs:
            self.expect_like(self.outcomes([(0, 1), (0, 2)]), self.expected(0, 1, 2), 1e-5)
        self.assertIn("parameters had other values here than at the lowest worker", "\n".join(logs.output))

    def test_different_states_of_one_step_stop_all(self):
        for outcome in self.outcomes([(500, 0), (500, 1), (3, 0)]):
            self.assertRegex(str(outcome), "State: n[12] and n[12] have different states of step 500, and others have older ones, of step 3")

    def test_running_means_may_differ(self):
        def body(session, number):
            model = nn.Sequential(Small(), nn.BatchNorm1d(4))
            with torch.no_grad():
                model[1].running_mean.fill_(number)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            bt.attach(session, model)
            state = bt.State(session, model=model, optimizer=optimizer, step=9)
            return state.sync(100), model[1].running_mean[0].item()

        self.assertEqual(on_sites(body), [(False, 0.0), (False, 1.0)])

    def test_local_updates(self):
        def body(session, number):
            step = 0 if number == 0 else 40
            model, inner = checkpoint(step, 5 * (1 - number))
            outer = bt.DiLoCo(session, model, inner, sync_every=2)
            state = bt.State(session, model=model, outer=outer, step=step)
            self.assertEqual(state.sync(100), number == 0)
            begun = weights(model).clone()
            train(lambda _: None, model, inner, lambda i: batch(i, number), state)
            return torch.cat([begun, weights(model)])

        outcomes = on_sites(body)
        self.expect_like(outcomes, outcomes[0])
        self.assertTrue(torch.equal(outcomes[0][: len(outcomes[0]) // 2], weights(checkpoint(40)[0])))


if __name__ == "__main__":
    unittest.main()
