"""Where the numbers of a tensor are: torch, numpy, DLPack and buffer-protocol objects alike, without copies.

Numbers in the CPU's memory, one after another, are used where they lie. What lies otherwise or in a device's memory is
copied; results are then copied back. So is what is of another floating-point type of up to 32 bits than its key. Types
that the library does not have are refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import weakref
from array import array
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_ssize_t, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Callable, Optional, Sequence

from .errors import InvalidArgument


# The types of elements, in the order of their numbers in banyan.h: as the job's aggregation has it, or reduced so.
NUMBERS = ("float32", "float16", "bfloat16", "float64", "int32", "int64")
REDUCTIONS = ("sum", "max", "min", "product")
TYPES = NUMBERS + tuple(f"{each} {reduction}" for each in NUMBERS[3:] for reduction in REDUCTIONS)
SIZES = (4, 2, 2, 8, 4, 8) + (8,) * 4 + (4,) * 4 + (8,) * 4  # bytes
_SMALL = ("bool", "int8", "uint8", "int16")  # travel as int32
_TYPESTR = {"<f4": 0, "<f2": 1, "<f8": 3, "<i4": 4, "<i8": 5}
_DLPACK = {(2, 32): 0, (2, 16): 1, (4, 16): 2, (2, 64): 3, (0, 32): 4, (0, 64): 5}
_SMALL_TYPESTR = ("|b1", "|i1", "|u1", "<i2")
_FORMATS = {("f", 4): 0, ("e", 2): 1, ("d", 8): 3, ("i", 4): 4, ("l", 8): 5, ("q", 8): 5}
_CODES = {0: "f", 3: "d", 4: "i", 5: "q"}  # of array


class Values:
    """Numbers of one type in memory. Keeps what they belong to alive."""

    __slots__ = ("address", "count", "type", "owner", "finish")

    def __init__(
        self, address: int, count: int, type: int, owner: Any, finish: Optional[Callable[[], None]] = None
    ) -> None:
        self.address = address
        self.count = count
        self.type = type  # its number in TYPES
        self.owner = owner
        self.finish = finish  # copies a result to where the caller wants it


_ADVICE = f"convert it first; {', '.join(NUMBERS + _SMALL)} travel"


def _refuse(what: str, advice: str) -> InvalidArgument:
    return InvalidArgument(f"expected a tensor of a type that travels, got {what}; {advice}")


def _wanted(type: int, want: Optional[int]) -> int:
    """Returns the type in which numbers of `type` travel for a key of type `want`; None: in their own."""
    if want is None or type == want:
        return type
    number = number_of(want)
    if number == type or (number < want and type < number == 3):  # a reduction of floating-point numbers
        return want
    if max(type, want) > 2:
        raise InvalidArgument(f"expected a tensor of {TYPES[want]}, as the key's init had, got {TYPES[type]}")
    return want


def number_of(type: int) -> int:
    """Returns the type of the numbers, without their reduction.

    >>> TYPES[9], TYPES[number_of(9)], TYPES[number_of(10)], TYPES[number_of(2)]
    ('float64 product', 'float64', 'int32', 'bfloat16')
    """
    return type if type < len(NUMBERS) else 3 + (type - len(NUMBERS)) // len(REDUCTIONS)


def reduced(type: int, reduction: Optional[str]) -> int:
    """Returns the type in which numbers of `type` are reduced so; None: as the job's aggregation has it.

    >>> TYPES[reduced(0, "max")], TYPES[reduced(5, "sum")], TYPES[reduced(0, None)]
    ('float64 max', 'int64 sum', 'float32')
    """
    if reduction is None:
        return type
    if reduction not in REDUCTIONS:
        raise InvalidArgument(f"reduce: expected {', '.join(REDUCTIONS)}, or None, got {reduction!r}")
    return len(NUMBERS) + (max(number_of(type), 3) - 3) * len(REDUCTIONS) + REDUCTIONS.index(reduction)


def is_torch(value: Any) -> bool:
    """Tells whether a value is a torch tensor, without importing torch."""
    return hasattr(value, "data_ptr") and hasattr(value, "requires_grad")


def refuse_formless(value: Any) -> None:
    """Raises InvalidArgument for a torch tensor that is not one block of numbers in memory of its own."""
    torch = sys.modules["torch"]
    if getattr(value, "is_nested", False):
        raise _refuse("a nested tensor", "give each of its .unbind()")
    if type(value).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        parts = "its .to_local() or .full_tensor()" if hasattr(value, "to_local") else "a plain tensor of its numbers"
        raise _refuse(f"one of {type(value).__name__}, which computes by other tensors", f"give {parts}")
    if value.device.type == "meta":
        raise _refuse("one without memory, on device meta", "give one that has numbers")
    if value.is_sparse or str(value.layout) != "torch.strided":
        raise _refuse(f"one with layout {value.layout}", "give its .to_dense()")
    if value.is_quantized:
        raise _refuse(f"{value.dtype}, whose numbers are quantized", "give its .dequantize()")
    try:
        has_memory = value.numel() == 0 or value.data_ptr() != 0
    except (RuntimeError, ValueError) as error:  # such as the parameter of a lazy layer
        raise _refuse("one without memory", str(error)) from None
    if not has_memory:
        raise _refuse("one without memory", "give one that has numbers")


def _overlaps(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tells whether two numbers of a tensor may be at one place. `strides` are in any unit.

    >>> _overlaps((2, 3), (3, 1)), _overlaps((2, 3), (1, 2)), _overlaps((2, 3), (1, 1)), _overlaps((3,), (0,))
    (False, False, True, True)
    """
    reach = 0
    for stride, size in sorted((abs(stride), size) for stride, size in zip(strides, shape) if size > 1):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _refuse_overlapping(shape: Sequence[int], strides: Sequence[int], kind: str) -> None:
    if 0 not in shape and _overlaps(shape, strides):
        raise InvalidArgument(
            f"expected room for each number of the result, got {kind} whose numbers lie on one another, such as an expanded "
            "one; give a copy"
        )


def _of_torch(value: Any, is_result: bool, want: Optional[int]) -> Values:
    refuse_formless(value)
    own = str(value.dtype).partition(".")[2]
    if own not in NUMBERS + _SMALL:
        raise _refuse(f"torch.{own}", "give torch.view_as_real() of it" if value.is_complex() else _ADVICE)
    type = _wanted(NUMBERS.index("int32" if own in _SMALL else own), want)
    number = NUMBERS[number_of(type)]
    flat = value.detach()
    if is_result:
        _refuse_overlapping(flat.shape, flat.stride(), "a tensor")
    if flat.device.type != "cpu":
        return _of_device(flat, is_result, type)
    if number == own and flat.is_contiguous() and not flat.is_neg() and flat.data_ptr() % SIZES[type] == 0:
        if is_result:
            fix_storage(flat)
        return Values(flat.data_ptr(), flat.numel(), type, flat, (lambda: tell_autograd(flat)) if is_result else None)
    copy = flat.to(getattr(sys.modules["torch"], number)).contiguous().resolve_neg()
    if copy.data_ptr() == flat.data_ptr():
        copy = copy.clone()
    return Values(copy.data_ptr(), copy.numel(), type, (copy, flat), (lambda: _copy_into(flat, copy)) if is_result else None)


def fix_storage(flat: Any) -> None:
    """Lets torch refuse to resize what a tensor lies in, as it does for all that numpy has seen: it may be written to."""
    if sys.modules.get("numpy") is not None:  # torch imports it where it is installed
        with contextlib.suppress(RuntimeError, TypeError):  # of a torch without numpy
            flat.view(-1).view(sys.modules["torch"].uint8).numpy()


def tell_autograd(flat: Any) -> None:
    """Lets a backward pass that needs what the tensor had before raise, as after any change in place."""
    torch = sys.modules["torch"]
    increment = getattr(torch.autograd.graph, "increment_version", None)
    if flat.is_inference():
        return
    if increment is not None:
        increment(flat)
    else:
        flat.as_strided((0,), (1,)).zero_()


def _copy_into(flat: Any, copy: Any) -> None:
    with sys.modules["torch"].inference_mode(flat.is_inference()):
        flat.copy_(copy)


def _of_device(flat: Any, is_result: bool, type: int) -> Values:
    """Copies a torch tensor of a device, such as a GPU, to the host, by pinned memory where the device is a CUDA one."""
    torch = sys.modules["torch"]
    is_cuda = flat.device.type == "cuda"
    copy = torch.empty(flat.shape, dtype=getattr(torch, NUMBERS[number_of(type)]), pin_memory=is_cuda)
    if not is_result:
        copy.copy_(flat)  # waits for what computes it
        return Values(copy.data_ptr(), copy.numel(), type, copy)
    # What the caller still does with the old values, on a stream that the copying thread does not know.
    used = torch.cuda.current_stream(flat.device).record_event() if is_cuda else None

    def finish() -> None:
        if used is not None:
            used.synchronize()
        _copy_into(flat, copy)

    return Values(copy.data_ptr(), copy.numel(), type, (copy, flat), finish)


def _is_number(value: Any) -> bool:
    """Tells whether a value is a single number of numpy, such as numpy.float32(1): nobody can write it."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def refuse_masked(value: Any) -> None:
    """Raises InvalidArgument for an array of numpy with a mask: what it hides would travel as well."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ma.MaskedArray):
        raise _refuse("a masked array, whose mask does not travel", "give its .filled(0), say, or its .data")


def pinned(value: Any) -> Any:
    """Returns an owner of what an array of numpy lies in, while which numpy refuses to resize it."""
    arrays = [value, getattr(value, "base", None)]
    try:
        return value, [weakref.ref(each) for each in arrays if hasattr(each, "__array_interface__")]
    except TypeError:  # of a class without weak references, which cannot be resized either
        return value


def _of_interface(value: Any, is_result: bool, want: Optional[int]) -> Values:
    refuse_masked(value)
    if _is_number(value):
        if is_result:
            raise InvalidArgument(f"expected an array for the result, got a number, {value!r}; give numpy.array() of it")
        value = sys.modules["numpy"].array(value)
    facts = value.__array_interface__
    kind, place = facts["typestr"], facts.get("data")
    if not isinstance(place, tuple) or facts.get("mask") is not None:
        raise _refuse(f"{value.__class__.__name__}, which is no plain array", "give numpy.array() of it")
    address, is_read_only = place
    if is_result and is_read_only:
        raise InvalidArgument("expected an array that can be written for the result, got one that is read-only")
    # numpy itself has no bfloat16; ml_dtypes, as JAX uses it, has.
    is_brain = getattr(getattr(value, "dtype", None), "name", "") == "bfloat16"
    is_small = kind in _SMALL_TYPESTR
    if not is_brain and not is_small and kind not in _TYPESTR:
        raise _refuse(f"{getattr(value, 'dtype', kind)}", _ADVICE)
    own = 2 if is_brain else 4 if is_small else _TYPESTR[kind]
    type = _wanted(own, want)
    number = number_of(type)
    strides = facts.get("strides")
    if is_result and strides is not None:
        _refuse_overlapping(facts["shape"], strides, "an array")
    if number == own and not is_small and strides is None and address % SIZES[type] == 0:
        return Values(address, math.prod(facts["shape"]), type, pinned(value) if is_result else value)
    if number == 2 and not is_brain:
        raise _refuse(f"{value.dtype} for a key of bfloat16", "numpy has no such type: give torch's tensors")
    travels = value.dtype if number == own and not is_small else f"<{'i' if number > 3 else 'f'}{SIZES[type]}"
    copy = value.astype(travels, order="C", copy=True)

    def finish() -> None:
        value[...] = copy

    return Values(copy.__array_interface__["data"][0], copy.size, type, (copy, value), finish if is_result else None)


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
        self._has = False
        self.view = _Buffer()
        flags = 0x4 | 0x8 | (0x1 if is_result else 0)  # PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE
        get = ctypes.pythonapi.PyObject_GetBuffer
        get.argtypes = [ctypes.py_object, POINTER(_Buffer), c_int]
        get(value, ctypes.byref(self.view), flags)
        self._has = True

    def __del__(self) -> None:
        if self._has:
            ctypes.pythonapi.PyBuffer_Release(ctypes.byref(self.view))


def _of_buffer(value: Any, is_result: bool, want: Optional[int]) -> Values:
    try:
        held = _HeldBuffer(value, is_result)
    except (BufferError, TypeError) as error:
        advice = "; give numpy.asarray() of it" if hasattr(value, "__array__") or isinstance(value, (list, tuple)) else ""
        raise InvalidArgument(f"expected a tensor whose memory can be used, got {type(value).__name__}: {error}{advice}") from None
    form = (held.view.format or b"B").decode()
    number = _FORMATS.get((form.lstrip("@=<"), held.view.itemsize))
    if number is None:
        raise _refuse(f"a buffer of format {form!r}", _ADVICE)
    travels = _same(number, want)
    _refuse_unaligned(held.view.buf or 0, number)
    return Values(held.view.buf or 0, held.view.len // SIZES[number], travels, held)


def _same(type: int, want: Optional[int]) -> int:
    """Returns the type in which numbers travel, as `_wanted`. Refuses what would need a copy: there is nobody who makes it."""
    chosen = _wanted(type, want)
    if number_of(chosen) != type:
        raise _refuse(f"{TYPES[type]} for a key of {TYPES[want or 0]}", "give a numpy array or a torch tensor")
    return chosen


def _refuse_unaligned(address: int, type: int) -> None:
    if address % SIZES[type] != 0:
        raise _refuse(f"{TYPES[type]} that does not begin at a multiple of {SIZES[type]} bytes", "give a copy")


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


def _of_dlpack(value: Any, is_result: bool, want: Optional[int]) -> Values:
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
    number = _DLPACK.get((tensor.code, tensor.bits))
    if number is None or tensor.lanes != 1:
        raise _refuse(f"DLPack's type {tensor.code} with {tensor.bits} bits", _ADVICE)
    travels = _same(number, want)
    if not _is_dense(tensor):
        raise _refuse("one whose numbers do not lie one after another", "make it contiguous")
    _refuse_unaligned((tensor.data or 0) + tensor.byte_offset, number)
    count = math.prod(tensor.shape[i] for i in range(tensor.ndim))
    return Values((tensor.data or 0) + tensor.byte_offset, count, travels, (capsule, value))


def values_of(value: Any, *, is_result: bool = False, want: Optional[int] = None) -> Values:
    """Returns where the numbers of `value` are; of a result, where it goes. `want` is the type of their key, once known.

    Raises InvalidArgument for what cannot travel.

    >>> values_of(array("f", [1, 2, 3])).count
    3
    >>> TYPES[values_of(array("q", [7])).type]
    'int64'
    """
    if is_torch(value):
        return _of_torch(value, is_result, want)
    if hasattr(value, "__array_interface__"):
        return _of_interface(value, is_result, want)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value, is_result, want)
    return _of_buffer(value, is_result, want)


def empty_like(value: Any) -> Any:
    """Makes a tensor for a result: of the same kind and shape where `value` is of torch or numpy, else an array."""
    if is_torch(value):
        return value.detach().clone()
    if hasattr(value, "__array_interface__"):
        return sys.modules["numpy"].array(value) if _is_number(value) else value.copy()
    values = values_of(value)
    if values.type not in _CODES:
        raise InvalidArgument(f"expected memory for a result of {TYPES[values.type]}; give it as out=")
    return array(_CODES[values.type], bytes(SIZES[values.type] * values.count))


def sizes_of(values: list[Values]) -> Any:
    """Returns how many numbers each has, as C takes it."""
    return (c_size_t * len(values))(*(each.count for each in values))


def addresses_of(values: list[Values]) -> Any:
    """Returns where each begins, as C takes it."""
    return (c_void_p * len(values))(*(each.address or None for each in values))
