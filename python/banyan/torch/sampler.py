"""Which examples of a data set each worker of a job trains on."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Sized

import torch
import torch.distributed as dist

from ..session import Session
from ._parts import required


class SiteSampler(torch.utils.data.Sampler):  # type: ignore[type-arg]
    """Gives each worker of each site a part of its own, as torch's DistributedSampler gives it to ranks.

        sampler = bt.SiteSampler(dataset, job)
        loader = torch.utils.data.DataLoader(dataset, batch_size=32, sampler=sampler)
        for epoch in range(epochs):
            sampler.set_epoch(epoch)  # at all sites
            for batch in loader: ...

    All parts are of one length: some examples come twice, or with `drop_last` some not at all. With `shuffle` the order is
    by `seed` and epoch, the same at all sites.

    Parts are those of the members that the job has at `set_epoch()`. Where a site leaves or comes later, the others keep
    theirs until the next one: what the site that has left would have read is left out in that epoch, and one that comes
    reads what others read as well. A site that comes late calls `set_epoch()` with the epoch of the others.

    Of a model in parts, as FSDP cuts it, only the first process has `job`: all give `shard_group`, and call all of it alike.

    >>> import banyan
    >>> list(SiteSampler(range(4), banyan.solo(), shuffle=False))
    [0, 1, 2, 3]
    """

    def __init__(
        self, dataset: Sized, job: Optional[Session], *, shuffle: bool = True, seed: int = 0, drop_last: bool = False,
        shard_group: Any = None,
    ) -> None:
        self._size = len(dataset)
        self._job = job if shard_group is not None else required(job)
        self._group = shard_group
        self._shuffle = shuffle
        self._seed = seed
        self._drop_last = drop_last
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Begins an epoch: of another order, and with the members of now."""
        self._epoch = epoch
        place: List[Any] = [self._job.members[1:3] if self._job is not None else None]
        if self._group is not None:
            dist.broadcast_object_list(place, src=dist.get_global_rank(self._group, 0), group=self._group)
        self.rank, self.count = place[0]
        if self._group is not None:
            size = dist.get_world_size(self._group)
            self.rank, self.count = self.rank * size + dist.get_rank(self._group), self.count * size

    def __len__(self) -> int:
        return self._size // self.count if self._drop_last else -(-self._size // self.count)

    def __iter__(self) -> Iterator[int]:
        order = list(range(self._size))
        if self._shuffle:
            order = torch.randperm(self._size, generator=torch.Generator().manual_seed(self._seed + self._epoch)).tolist()
        for i in range(len(self)):
            yield order[(i * self.count + self.rank) % self._size]
