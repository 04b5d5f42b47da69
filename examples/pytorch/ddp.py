"""DistributedDataParallel: what a site's processes send goes through Banyan, on to the other sites.

    banyan local --sites 2 --workers 2 -- python3 ddp.py

Or by torchrun: banyan run overlay.yaml --name n1 -- torchrun --nproc-per-node 2 ddp.py
"""

import os

import banyan
import banyan.torch as bt
import torch
from common import batches, loss_of, report
from torch.nn.parallel import DistributedDataParallel

os.environ.setdefault("USE_LIBUV", "0")  # which Debian 13's torch has not
torch.distributed.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(8, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
job = banyan.join()  # LOCAL_RANK, which --workers and torchrun set, says which worker of the site this is
bt.attach(job, model)
for batch in batches(f"{job.node}.{job.worker}", steps=100):
    optimizer.zero_grad()
    loss_of(model, batch).backward()
    optimizer.step()
report(model)
job.close()
torch.distributed.destroy_process_group()
