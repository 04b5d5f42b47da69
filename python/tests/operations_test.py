"""What trains rightly with which operation of the job, and what is refused."""

import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn

import banyan
import banyan.torch as bt
from torch_test import run_sites

_LOCAL = ("LocalSGD", "DiLoCo", "StreamingDiLoCo", "HFA")


def one_weight(value=0.0):
    model = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(value)
    return model, torch.optim.SGD(model.parameters(), lr=1.0)


def begin(kind, session, **options):
    model, inner = one_weight()
    if kind == "attach":
        return bt.attach(session, model, name=kind, **options)
    options.setdefault("fragments", 1)
    return getattr(bt, kind)(session, model, inner, name=kind, **options)


def refusals(session, kinds):
    told = {}
    for kind in kinds:
        try:
            begin(kind, session)
        except banyan.FailedPrecondition as error:
            told[kind] = str(error)
    return session.aggregation_op, told


def with_an_optimizer(session, number):
    return refusals(session, ("attach", *_LOCAL))


def gradient_of(session, gradient, **options):
    model, _ = one_weight()
    sync = bt.attach(session, model, name=f"grad{len(options)}", **options)
    if options:
        sync.weight = 3.0 if gradient > 2 else 1.0
    (model(torch.ones(1, 1)).sum() * gradient).backward()
    sync.wait(300)
    return model.weight.grad.item()


def with_sums(session, number):
    model, inner = one_weight()
    outer = bt.LocalSGD(session, model, inner, sync_every=1, weighted=True, name="weighted")
    outer.weight = 3.0 if number else 1.0
    model.weight.grad = torch.full_like(model.weight, -4.0 * number)
    inner.step()
    norm = nn.BatchNorm1d(1)
    sync = bt.attach(session, norm, name="norm")
    norm.running_mean.fill_(number)
    norm.num_batches_tracked.fill_(5 + number)
    sync.sync_buffers(300)
    sync.sync_buffers(300)
    buffers = norm.running_mean.item(), norm.num_batches_tracked.item()
    gradients = gradient_of(session, 2.0 + 4 * number), gradient_of(session, 2.0 + 4 * number, weighted=True)
    return refusals(session, _LOCAL), model.weight.item(), buffers, gradients


def with_some_left_out(session, number):
    told = []
    for kind in ("attach", *_LOCAL):
        try:
            begin(kind, session, weighted=True)
        except banyan.FailedPrecondition as error:
            told.append(str(error))
    norm = nn.BatchNorm1d(1)
    sync = bt.attach(session, norm, name="norm")
    norm.running_mean.fill_(number)
    try:
        sync.sync_buffers(300)
    except banyan.FailedPrecondition as error:
        told.append(str(error))
    return session.may_leave_out, told, norm.running_mean.item(), gradient_of(session, 2.0 + 4 * number)


class OperationsTest(unittest.TestCase):
    def expect_refusals(self, told, kinds, op):
        found, texts = told
        self.assertEqual((found, set(texts)), (op, set(kinds)))
        for kind, text in texts.items():
            self.assertRegex(text, f"{kind}: expected a job whose aggregation.op is mean.*, got {op}, .*op: mean")

    def test_jobs_that_sum_have_gradients_and_weighted_means(self):
        for told, outer, buffers, gradients in run_sites(with_sums, nodes=2, more="aggregation: {op: sum}"):
            self.expect_refusals(told, _LOCAL, "sum")
            self.assertAlmostEqual(outer, 3.0, delta=1e-6)
            self.assertEqual(buffers, (0.5, 5))
            self.assertEqual(gradients, (8.0, 5.0))

    def test_results_that_are_parameters_are_no_gradients(self):
        for told in run_sites(with_an_optimizer, nodes=2, more="aggregation: {op: adam}"):
            self.expect_refusals(told, ("attach", *_LOCAL), "adam")

    def test_weights_are_refused_where_rounds_may_leave_workers_out(self):
        for more, refusals, mean, gradient in (
            ("{not_finite: skip}", 5, 0.5, 4.0), ("{quorum: 0.5, grace_seconds: 300}", 5, 0.5, 4.0),
            ("{op: sum, quorum: 0.5, grace_seconds: 300}", 6, None, 8.0),
        ):
            outcomes = run_sites(with_some_left_out, nodes=2, more=f"aggregation: {more}")
            for number, (may_leave_out, told, norm, found) in enumerate(outcomes):
                self.assertTrue(may_leave_out)
                self.assertEqual((len(told), norm, found), (refusals, number if mean is None else mean, gradient))
                for text in told:
                    self.assertRegex(text, "expected a job that counts all workers in each round.*; leave aggregation.quorum")


if __name__ == "__main__":
    unittest.main()
