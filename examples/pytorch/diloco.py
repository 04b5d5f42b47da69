"""Local updates: each site trains by itself, and all move together every 20 steps.

    banyan local --sites 3 -- python3 diloco.py
"""

import banyan
import banyan.torch as bt
import torch
from common import batches, loss_of, report

model = torch.nn.Linear(8, 1, bias=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
job = banyan.join()
outer = bt.DiLoCo(job, model, optimizer, bt.Nesterov(lr=0.7, momentum=0.9), sync_every=20)
for batch in batches(job.node, steps=400):
    optimizer.zero_grad()
    loss_of(model, batch).backward()
    optimizer.step()
outer.flush()
report(model)
job.close()
