"""A site with fit.cc and one with banyan.torch train together, and have the same parameters in the end."""

import math
import os
import subprocess
import tempfile
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("python3-torch is not installed") from None

import banyan.torch as bt
from banyan.joining import LocalNode
from banyan.testing import LocalJob
from torch import nn


class Model(nn.Module):
    """The model of fit.cc."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Module(), nn.Module()
        self.first.w, self.second.w = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(4))

    @torch.no_grad()
    def set_gradients(self, site, step):
        inputs = torch.tensor([math.sin(1.7 * step * (i + 1) + site) for i in range(8)])
        weights = torch.cat([self.first.w, self.second.w])
        error = (inputs * (weights - 0.1 * torch.arange(1, 9))).sum()
        self.first.w.grad, self.second.w.grad = error * inputs[:4], error * inputs[4:]


def fit(session, way):
    model = Model()
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    if way == "local-sgd":
        outer = bt.LocalSGD(session, model, inner, sync_every=10, check=False)
    elif way == "diloco":
        outer = bt.DiLoCo(session, model, inner, sync_every=10, check=False)
    else:
        parts = [model.first, model.second]
        is_weighted = way == "weighted"
        outer = bt.StreamingDiLoCo(
            session, model, inner, sync_every=10, fragments=parts, fragment_sync_delay=2, weighted=is_weighted,
            check=False,
        )
    for step in range(1, 201):
        model.set_gradients(sum(session.node.encode()), step)
        inner.step()
    outer.flush()
    return torch.cat([each for fragment in outer.fragments for each in fragment.begin]).detach()


class FitTest(unittest.TestCase):
    def test_sites_of_both_languages_train_together(self):
        for way in ("diloco", "streaming", "local-sgd", "weighted"):
            with LocalJob(nodes=2) as job, tempfile.TemporaryDirectory(dir="/tmp") as folder:
                socket = f"unix:{folder}/n2"
                with LocalNode("n2", job.scheduler, worker_socket=socket):
                    process = subprocess.Popen([os.environ["FIT"], socket, way], stdout=subprocess.PIPE, text=True)
                    with job.join("n1") as session:
                        ours = fit(session, way)
                        said, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, way)
            theirs = torch.tensor([float(each) for each in said.split()])
            self.assertLess(((ours - theirs).norm() / ours.norm()).item(), 1e-6, way)


if __name__ == "__main__":
    unittest.main()
