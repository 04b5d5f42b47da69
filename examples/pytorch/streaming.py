"""Streaming local updates: parts of the model take turns, and training goes on while one is on its way.

    banyan local --sites 3 -- python3 streaming.py
"""

import banyan
import banyan.torch as bt
import torch
from common import batches, loss_of, report


class Halves(torch.nn.Module):
    """A regression in two parts, so that there is something to take turns."""

    def __init__(self):
        super().__init__()
        self.low = torch.nn.Linear(4, 1, bias=False)
        self.high = torch.nn.Linear(4, 1, bias=False)

    def forward(self, x):
        return self.low(x[:, :4]) + self.high(x[:, 4:])


model = Halves()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
job = banyan.join()
# Each half every 20 steps, ten steps apart, and what it gets is taken in five steps after it was sent. So at any step sites
# differ a little, by what they have learned since.
outer = bt.DiLoCo(
    job, model, optimizer, bt.Nesterov(lr=0.7, momentum=0.9), sync_every=20, fragments=[model.low, model.high],
    fragment_sync_delay=5
)
for batch in batches(job.node, steps=400):
    optimizer.zero_grad()
    loss_of(model, batch).backward()
    optimizer.step()
outer.flush()
report(model)
job.close()
