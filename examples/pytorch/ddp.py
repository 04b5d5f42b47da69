"""DistributedDataParallel: what a site's processes send goes through Banyan, on to the other sites.

    banyan local --sites 2 --workers 2 -- python3 ddp.py
"""

import banyan
import banyan.torch as bt
import torch
from common import batches, loss_of, report
from torch.nn.parallel import DistributedDataParallel

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
