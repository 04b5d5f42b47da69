"""The communication hook of a job, for those that register it themselves: DistributedDataParallel, Lightning, Fabric."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

import torch

from ..session import Session
from .attach import Attachment, Copy, ddp_hook


class HookState:
    """The state of a job's communication hook; made by `comm_hook`. Has an `attachment` once it knows the model."""

    def __init__(self, job: Session, model: Optional[torch.nn.Module], options: Any) -> None:
        self.attachment: Optional[Attachment] = None
        self._job = job
        self._options = options
        self._held: List[Tuple[Any, "torch.futures.Future[Any]", List[Any]]] = []  # buckets of the first step
        if model is not None:
            self.attachment = Attachment(job, model, is_hook=True, **options)

    _is_detached = False

    def _reduce_bucket(self, bucket: Any) -> "torch.futures.Future[torch.Tensor]":
        if self.attachment is not None:
            return self.attachment._reduce_bucket(bucket)
        begun: "torch.futures.Future[Any]" = torch.futures.Future()
        result: List[Any] = []
        self._held.append((bucket, begun, result))
        future = begun.then(lambda _: result[0].value())
        if bucket.is_last():
            self._begin()
        return future

    def _begin(self) -> None:
        """Makes the attachment, now that all buckets of a backward have shown the parameters, and sends what they have."""
        model = torch.nn.Module()
        for bucket, _, _ in self._held:
            for each in bucket.parameters():
                model.register_parameter(str(len(model._parameters)), each)
        self.attachment = Attachment(self._job, model, is_hook=True, gives_parameters=False, **self._options)
        for bucket, begun, result in self._held:
            sent = self.attachment._reduce_bucket(bucket)
            result.append(sent)
            sent.add_done_callback(lambda _, begun=begun: begun.set_result(None))
        self._held.clear()

    def __reduce__(self) -> Any:
        return Copy, ()


def comm_hook(
    job: Session, model: Optional[torch.nn.Module] = None, **options: Any
) -> Tuple[HookState, Callable[[Any, Any], Any]]:
    """Returns the state and the hook by which DistributedDataParallel makes each step's gradients those of the job.

        ddp.register_comm_hook(*bt.comm_hook(job, ddp))
        state, hook = bt.comm_hook(job)
        strategy = DDPStrategy(ddp_comm_state=state, ddp_comm_hook=hook)   # Lightning

    As `attach`, whose `options` it takes, does; every process of every node has one. Without `model` the first step shows
    the parameters, by their order. Sites then begin with the parameters that they have: where these differ, all raise
    FailedPrecondition in that step.
    """
    return HookState(job, model, options), ddp_hook
