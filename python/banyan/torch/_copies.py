"""Tensors of a device (a GPU) on their way through the host's memory: gradients while the device goes on computing."""

from __future__ import annotations

import contextlib
import queue
import threading
from concurrent.futures import Future
from typing import Any, Callable, ContextManager, Dict, List, Optional

import torch

from ..session import Session
from .._ticket import Ticket

Step = Callable[[], Ticket]


class Copies:
    """What a device does in copying: this one is the host itself, where a copy is done when it has been asked for.

    What `out` has begun is over when the function that it returned has returned. Copies back and what is computed in
    `returning()` are over before later work of the device.
    """

    def slot(self, tensor: torch.Tensor) -> torch.Tensor:
        """Makes room for a tensor's numbers in the host's memory."""
        return torch.empty(tensor.shape, dtype=tensor.dtype)

    def out(self, tensor: torch.Tensor, slot: torch.Tensor) -> Callable[[], None]:
        """Begins to copy a tensor into its slot, after the work that the device has been given."""
        slot.copy_(tensor)
        return lambda: None

    def back(self, slot: torch.Tensor, tensor: torch.Tensor) -> None:
        """Copies a slot into a tensor of the device, before later work of the current stream."""
        tensor.copy_(slot)

    def returning(self) -> ContextManager[Any]:
        """Makes what is done inside, on whatever thread, come before what waits for the future that is set inside."""
        return contextlib.nullcontext()

    def future(self) -> "torch.futures.Future[Any]":
        """Makes a future for tensors of the device."""
        return torch.futures.Future()


class CudaCopies(Copies):
    """Copies of one CUDA device, on a stream of their own and by pinned memory."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)

    def slot(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)

    def out(self, tensor: torch.Tensor, slot: torch.Tensor) -> Callable[[], None]:
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        copied = torch.cuda.Event()
        with torch.cuda.stream(self._stream):
            slot.copy_(tensor, non_blocking=True)
            copied.record(self._stream)
        tensor.record_stream(self._stream)  # its memory is not given away before that
        return copied.synchronize

    def back(self, slot: torch.Tensor, tensor: torch.Tensor) -> None:
        tensor.copy_(slot, non_blocking=True)

    def returning(self) -> ContextManager[Any]:
        return torch.cuda.stream(self._stream)

    def future(self) -> "torch.futures.Future[Any]":
        return torch.futures.Future(devices=[self._device])


class Staged:
    """An operation on a tensor in a slot, which starts when the tensor has been copied there. Used like a ticket."""

    def __init__(self) -> None:
        self._started: "Future[Ticket]" = Future()

    def run(self, copied: Callable[[], None], start: Step) -> None:
        """Waits until the copy is done, and starts the operation; on the starter's thread."""
        try:
            copied()
            self._started.set_result(start())
        except BaseException as error:  # whoever waits for it hears of it
            self._started.set_exception(error)

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Waits until the operation is done; as Ticket.wait does."""
        # A copy takes no longer than the device's work before it, and the operation has its own time-out.
        return self._started.result().wait(timeout)

    @property
    def round(self) -> int:
        """The round of its key, once it is done."""
        return self._started.result().round

    def result(self) -> Any:
        """Returns the result of an operation that is done."""
        return self._started.result().result()

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Runs `callback` with this object when the operation is done, or could not be started."""

        def on_start(started: "Future[Ticket]") -> None:
            if started.exception() is not None:
                callback(self)
            else:
                started.result().add_done_callback(lambda _: callback(self))

        self._started.add_done_callback(on_start)


class Stager:
    """Sends tensors of devices by way of slots in the host's memory: one for each name, used round after round.

    Operations start in the order of `send`, on a thread of this object. For use by one thread at a time.
    """

    def __init__(self, job: Session, make: Callable[[torch.device], Copies] = CudaCopies) -> None:
        self._job = job
        self._make = make
        self._copies: Dict[torch.device, Copies] = {}
        self._slots: Dict[str, torch.Tensor] = {}
        self._waiting: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def takes(self, tensor: torch.Tensor) -> bool:
        """Tells whether a tensor needs a slot."""
        return tensor.device.type == "cuda"

    def copies(self, device: torch.device) -> Copies:
        """Returns what copies for a device."""
        if device not in self._copies:
            self._copies[device] = self._make(device)
        return self._copies[device]

    def send(self, name: str, tensor: torch.Tensor, priority: int) -> Staged:
        """Starts a push_pull of a tensor when its device has computed it; the result is in the slot then."""
        copies = self.copies(tensor.device)
        if name not in self._slots:
            self._slots[name] = copies.slot(tensor)
        slot = self._slots[name]
        staged = Staged()
        copied = copies.out(tensor, slot)
        self._waiting.put((staged, copied, lambda: self._job.push_pull(name, slot, out=slot, priority=priority)))
        if self._thread is None:
            self._thread = threading.Thread(target=_start_all, args=(self._waiting,), name="banyan stager", daemon=True)
            self._thread.start()
        return staged

    def back(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """Copies a result from its slot, which it returns, into a tensor."""
        self.copies(tensor.device).back(self._slots[name], tensor)
        return self._slots[name]

    def close(self) -> None:
        """Ends the thread when it has started what waits."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread = None


def _start_all(waiting: "queue.SimpleQueue[Any]") -> None:
    while True:
        taken: Optional[List[Any]] = waiting.get()
        if taken is None:
            return
        staged, copied, start = taken
        staged.run(copied, start)
        del taken, staged, copied, start


def mirror_of(tensor: torch.Tensor) -> torch.Tensor:
    """Makes room for a tensor in the host's memory."""
    return torch.zeros(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.device.type == "cuda")


def copy_where_it_differs(source: torch.Tensor, target: torch.Tensor) -> torch.device:
    """Copies a tensor, unless both are the same memory. Returns the source's device, which may still be at it."""
    if source.data_ptr() != target.data_ptr():
        target.copy_(source.detach(), non_blocking=target.device.type == "cpu")
    return source.device
