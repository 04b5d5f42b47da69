"""Where the numbers of a tensor are: torch, numpy, DLPack and buffer-protocol objects alike, without copies.

float32 in the CPU's memory, one after another, is used where it lies. What is float16 or bfloat16, or lies otherwise or in
a device's memory, is copied; results are then copied back. Other types are refused.
"""

from __future__ import annotations

import ctypes
import math
import sys
from array import array
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_ssize_t, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Callable, Optional

from .errors import InvalidArgument


class Values:
    """float32 numbers in memory. Keeps what they belong to alive."""

    __slots__ = ("address", "count", "owner", "finish")

    def __init__(
        self, address: int, count: int, owner: Any, finish: Optional[Callable[[], None]] = None
    ) -> None:
        self.address = address
        self.count = count
        self.owner = owner
        self.finish = finish  # copies a result to where the caller wants it


_ADVICE = "convert it to float32 first; only float32, and float16 and bfloat16 by way of float32, travel"


def _refuse(what: str, advice: str) -> InvalidArgument:
    return InvalidArgument(f"expected a float32 tensor, got {what}; {advice}")


def is_torch(value: Any) -> bool:
    """Tells whether a value is a torch tensor, without importing torch."""
    return hasattr(value, "data_ptr") and hasattr(value, "requires_grad")


def _of_torch(value: Any, is_result: bool) -> Values:
    kind = str(value.dtype)
    if value.device.type == "meta":
        raise _refuse("one without memory, on device meta", "give one that has numbers")
    if value.is_sparse or str(value.layout) != "torch.strided":
        raise _refuse(f"one with layout {value.layout}", "give its .to_dense()")
    if kind not in ("torch.float32", "torch.float16", "torch.bfloat16"):
        raise _refuse(kind, _ADVICE)
    flat = value.detach()
    if flat.device.type != "cpu":
        return _of_device(flat, is_result)
    if kind == "torch.float32" and flat.is_contiguous():
        return Values(flat.data_ptr(), flat.numel(), flat)
    copy = flat.float().contiguous()
    if copy.data_ptr() == flat.data_ptr():
        copy = copy.clone()
    return Values(copy.data_ptr(), copy.numel(), (copy, flat), (lambda: flat.copy_(copy)) if is_result else None)


def _of_device(flat: Any, is_result: bool) -> Values:
    """Copies a torch tensor of a device, such as a GPU, to the host, by pinned memory where the device is a CUDA one."""
    torch = sys.modules["torch"]
    is_cuda = flat.device.type == "cuda"
    copy = torch.empty(flat.shape, dtype=torch.float32, pin_memory=is_cuda)
    if not is_result:
        copy.copy_(flat)  # waits for what computes it
        return Values(copy.data_ptr(), copy.numel(), copy)
    # What the caller still does with the old values, on a stream that the copying thread does not know.
    used = torch.cuda.current_stream(flat.device).record_event() if is_cuda else None

    def finish() -> None:
        if used is not None:
            used.synchronize()
        flat.copy_(copy)

    return Values(copy.data_ptr(), copy.numel(), (copy, flat), finish)


def _of_interface(value: Any, is_result: bool) -> Values:
    facts = value.__array_interface__
    kind, (address, is_read_only) = facts["typestr"], facts["data"]
    if is_result and is_read_only:
        raise InvalidArgument("expected an array that can be written for the result, got one that is read-only")
    if kind not in ("<f4", "<f2"):
        raise _refuse(f"{getattr(value, 'dtype', kind)}", _ADVICE)
    if kind == "<f4" and facts.get("strides") is None:
        return Values(address, math.prod(facts["shape"]), value)
    copy = value.astype("<f4", order="C", copy=True)

    def finish() -> None:
        value[...] = copy

    return Values(copy.__array_interface__["data"][0], copy.size, (copy, value), finish if is_result else None)


class _Buffer(Structure):
    """Py_buffer"""

    _fields_ = [
        ("buf", c_void_p), ("obj", ctypes.py_object), ("len", c_ssize_t), ("itemsize", c_ssize_t), ("readonly", c_int),
        ("ndim", c_int), ("format", c_char_p), ("shape", c_void_p), ("strides", c_void_p), ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


class _HeldBuffer:
    """Holds an object's memory in place."""

    def __init__(self, value: Any, is_result: bool) -> None:
        self.view = _Buffer()
        flags = 0x4 | 0x8 | (0x1 if is_result else 0)  # PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE
        self._has = False
        get = ctypes.pythonapi.PyObject_GetBuffer
        get.argtypes = [ctypes.py_object, POINTER(_Buffer), c_int]
        get(value, ctypes.byref(self.view), flags)
        self._has = True

    def __del__(self) -> None:
        if self._has:
            ctypes.pythonapi.PyBuffer_Release(ctypes.byref(self.view))


def _of_buffer(value: Any, is_result: bool) -> Values:
    try:
        held = _HeldBuffer(value, is_result)
    except (BufferError, TypeError) as error:
        raise InvalidArgument(f"expected a tensor whose memory can be used, got {type(value).__name__}: {error}") from None
    form = (held.view.format or b"B").decode()
    if form.lstrip("@=<") != "f":
        raise _refuse(f"a buffer of format {form!r}", _ADVICE)
    return Values(held.view.buf or 0, held.view.len // 4, held)


class _Tensor(Structure):
    """DLTensor"""

    _fields_ = [
        ("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
        ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


def _is_dense(tensor: _Tensor) -> bool:
    if not tensor.strides:
        return True
    expected = 1
    for i in reversed(range(tensor.ndim)):
        if tensor.shape[i] != 1 and tensor.strides[i] != expected:
            return False
        expected *= tensor.shape[i]
    return True


def _of_dlpack(value: Any, is_result: bool) -> Values:
    if is_result:
        raise InvalidArgument(
            f"expected a torch tensor, a numpy array or a writable buffer for the result, got {type(value).__name__}"
        )
    capsule = value.__dlpack__()  # as nobody consumes it, its end gives the memory back
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    if tensor.device_type != 1:
        raise _refuse(f"a tensor of DLPack's device type {tensor.device_type}", "copy it to the CPU")
    if (tensor.code, tensor.bits, tensor.lanes) != (2, 32, 1):
        raise _refuse(f"DLPack's type {tensor.code} with {tensor.bits} bits", _ADVICE)
    if not _is_dense(tensor):
        raise _refuse("one whose numbers do not lie one after another", "make it contiguous")
    count = math.prod(tensor.shape[i] for i in range(tensor.ndim))
    return Values((tensor.data or 0) + tensor.byte_offset, count, (capsule, value))


def values_of(value: Any, *, is_result: bool = False) -> Values:
    """Returns where the numbers of `value` are; of a result, where it goes. InvalidArgument for what cannot travel.

    >>> values_of(array("f", [1, 2, 3])).count
    3
    """
    if is_torch(value):
        return _of_torch(value, is_result)
    if hasattr(value, "__array_interface__"):
        return _of_interface(value, is_result)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value, is_result)
    return _of_buffer(value, is_result)


def empty_like(value: Any) -> Any:
    """Makes a tensor for a result: of the same kind and shape where `value` is of torch or numpy, else an array."""
    if is_torch(value):
        made = value.detach().clone()
        return made
    if hasattr(value, "__array_interface__"):
        return value.copy()
    return array("f", bytes(4 * values_of(value).count))


def sizes_of(values: list[Values]) -> Any:
    """Returns how many numbers each has, as C takes it."""
    return (c_size_t * len(values))(*(each.count for each in values))


def addresses_of(values: list[Values]) -> Any:
    """Returns where each begins, as C takes it."""
    return (c_void_p * len(values))(*(each.address or None for each in values))
