"""A site that comes late, or again, takes the others' state; where no site has one, all begin with their checkpoints.

    banyan local --sites 2 -- python3 resume.py
"""

import os

import banyan
import banyan.torch as bt
import torch
from common import batches, folder, loss_of, report

STEPS = int(os.environ.get("STEPS", 100))

model = torch.nn.Linear(8, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
job = banyan.join()
path = os.path.join(folder(), f"{job.node}.pt")
step = 0
if os.path.exists(path):
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]
sync = bt.attach(job, model)
state = bt.State(job, model=model, optimizer=optimizer, step=step)
state.sync()
print("begins at step", state.step)
data = list(batches(job.node, steps=STEPS))
while state.step < STEPS:
    optimizer.zero_grad()
    loss_of(model, data[state.step]).backward()
    sync.wait()
    optimizer.step()
    state.advance()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": state.step}, path)
print("ends at step", state.step)
if STEPS >= 100:
    report(model)
job.close()
