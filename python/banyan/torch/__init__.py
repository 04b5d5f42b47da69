"""PyTorch over Banyan: gradients of every step (`attach`), or of hundreds of steps (`DiLoCo` and its kin).

    import banyan, banyan.torch as bt
    job = banyan.join()
    sync = bt.attach(job, model)                        # a DistributedDataParallel, or any other module
    for x, y in loader:
        optimizer.zero_grad(); loss_fn(model(x), y).backward()
        sync.wait()                                     # nothing to wait for with DistributedDataParallel
        optimizer.step()

Needs torch 1.13 or later. Models may be on CUDA devices.
"""

from .attach import Attachment, attach, local_group
from .diloco import HFA, DiLoCo, LocalSGD, Nesterov, StreamingDiLoCo
from .hook import comm_hook
from .process_group import init_process_group
from .sampler import SiteSampler
from .state import State

__all__ = [
    "Attachment", "DiLoCo", "HFA", "LocalSGD", "Nesterov", "SiteSampler", "State", "StreamingDiLoCo", "attach", "comm_hook",
    "init_process_group", "local_group",
]
