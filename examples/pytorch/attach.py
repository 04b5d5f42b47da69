"""A plain module: the gradients of every step are the mean over all sites.

    banyan local --sites 3 -- python3 attach.py
"""

import banyan
import banyan.torch as bt
import torch
from common import batches, loss_of, report

model = torch.nn.Linear(8, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
job = banyan.join()
sync = bt.attach(job, model)
for batch in batches(job.node, steps=100):
    optimizer.zero_grad()
    loss_of(model, batch).backward()
    sync.wait()
    optimizer.step()
report(model)
job.close()
