"""FullyShardedDataParallel: a site's processes hold a part of the model each, and are one worker of the job together.

    banyan local --sites 2 -- torchrun --standalone --nproc-per-node 2 fsdp.py

Of a packaged torch see what it lacks: Debian 12's cannot import FSDP, Debian 13's torchrun cannot start.
"""

import os

import banyan
import banyan.torch as bt
import torch
from common import batches, loss_of, report
from torch.distributed.fsdp import FullyShardedDataParallel

os.environ.setdefault("USE_LIBUV", "0")  # which Debian 13's torch has not
torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
model = FullyShardedDataParallel(torch.nn.Linear(8, 1, bias=False), device_id=torch.device("cpu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
job = banyan.join() if rank == 0 else None  # the first process speaks for its site
sync = bt.attach(job, model, shard_group=torch.distributed.group.WORLD)  # FSDP2 says by itself whose parts these are
for batch in batches(f"{os.path.basename(os.environ['BANYAN_NODE'])}.{rank}", steps=100):
    optimizer.zero_grad()
    loss_of(model, batch).backward()
    sync.wait()
    optimizer.step()
with FullyShardedDataParallel.summon_full_params(model):
    report(model)
if job is not None:
    job.close()
torch.distributed.destroy_process_group()
