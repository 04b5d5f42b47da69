"""libbanyan.so, by ctypes: the functions of banyan.h with their types."""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p, sizeof
)
from typing import Any, Callable, Optional

from .errors import InvalidArgument

_ABI_VERSION = 8


class SessionOptions(Structure):
    """banyan_session_options"""

    _fields_ = [
        ("size", c_size_t),
        ("node", c_char_p),
        ("worker", c_uint32),
        ("open_seconds", c_double),
        ("answer_seconds", c_double),
        ("room_seconds", c_double),
    ]


class NodeOptions(Structure):
    """banyan_node_options"""

    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("scheduler", c_char_p),
        ("job", c_char_p),
        ("listen", c_char_p),
        ("advertise", c_char_p),
        ("worker_socket", c_char_p),
        ("compute_threads", c_int32),
        ("log_descriptor", c_int),
        ("key_file", c_char_p),
        ("scheduler_key", c_char_p),
        ("insecure", c_int),
        ("log_levels", c_int),
    ]


class Members(Structure):
    """banyan_members"""

    _fields_ = [
        ("size", c_size_t),
        ("epoch", c_uint64),
        ("rank", c_uint32),
        ("world_size", c_uint32),
        ("count", c_size_t),
        ("names", POINTER(c_char_p)),
        ("workers", POINTER(c_uint32)),
    ]


class Health(Structure):
    """banyan_health"""

    _fields_ = [
        ("size", c_size_t),
        ("step", c_uint64),
        ("loss", c_double),
        ("progress", c_double),
        ("learning_rate_fraction", c_double),
        ("metric", c_double),
        ("has_metric", c_int32),
    ]


class CallOptions(Structure):
    """banyan_call_options"""

    _fields_ = [
        ("size", c_size_t),
        ("priority", c_int32),
        ("done", CFUNCTYPE(None, c_void_p, c_int, c_char_p)),
        ("context", c_void_p),
        ("tag", c_uint64),
        ("type", c_int32),
    ]


_CALL = [POINTER(CallOptions), POINTER(c_void_p)]  # ends the arguments of each function that starts an operation
_NAMES = POINTER(c_char_p)
_ADDRESSES = POINTER(c_void_p)
_SIZES = POINTER(c_size_t)

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "banyan_abi_version": (c_uint32, []),
    "banyan_version": (c_char_p, []),
    "banyan_last_error": (c_char_p, []),
    "banyan_session_open": (c_int, [POINTER(SessionOptions), POINTER(c_void_p)]),
    "banyan_session_close": (c_int, [c_void_p, c_double]),
    "banyan_session_abandon": (c_int, [c_void_p, c_double]),
    "banyan_session_free": (None, [c_void_p]),
    "banyan_session_node_name": (c_char_p, [c_void_p]),
    "banyan_session_aggregation_op": (c_char_p, [c_void_p]),
    "banyan_session_may_leave_out": (c_int, [c_void_p]),
    "banyan_session_members": (c_int, [c_void_p, c_uint64, c_double, POINTER(Members)]),
    "banyan_session_next": (
        c_int, [c_void_p, c_double, POINTER(c_uint64), POINTER(c_int), c_size_t, POINTER(c_size_t)]
    ),
    "banyan_session_fd": (c_int, [c_void_p]),
    "banyan_node_start": (c_int, [POINTER(NodeOptions), POINTER(c_void_p)]),
    "banyan_node_open_session": (c_int, [c_void_p, POINTER(SessionOptions), POINTER(c_void_p)]),
    "banyan_node_address": (c_char_p, [c_void_p]),
    "banyan_node_stop": (c_int, [c_void_p]),
    "banyan_node_free": (None, [c_void_p]),
    "banyan_init": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_size_t] + _CALL),
    "banyan_init_group": (
        c_int, [c_void_p, c_char_p, c_size_t, _NAMES, _ADDRESSES, _ADDRESSES, _SIZES] + _CALL
    ),
    "banyan_push": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t] + _CALL),
    "banyan_pull": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t] + _CALL),
    "banyan_push_pull": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_size_t] + _CALL),
    "banyan_push_group": (c_int, [c_void_p, c_char_p, c_size_t, _ADDRESSES, _SIZES] + _CALL),
    "banyan_pull_group": (c_int, [c_void_p, c_char_p, c_size_t, _ADDRESSES, _SIZES] + _CALL),
    "banyan_push_pull_group": (c_int, [c_void_p, c_char_p, c_size_t, _ADDRESSES, _ADDRESSES, _SIZES] + _CALL),
    "banyan_flush": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_size_t] + _CALL),
    "banyan_broadcast": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_size_t] + _CALL),
    "banyan_register_weights": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t] + _CALL),
    "banyan_barrier": (c_int, [c_void_p] + _CALL),
    "banyan_report_loss": (c_int, [c_void_p, c_uint64, c_double] + _CALL),
    "banyan_report_health": (c_int, [c_void_p, POINTER(Health)] + _CALL),
    "banyan_ticket_wait": (c_int, [c_void_p, c_double]),
    "banyan_ticket_poll": (c_int, [c_void_p, c_double]),
    "banyan_ticket_round": (c_uint64, [c_void_p]),
    "banyan_ticket_release": (None, [c_void_p]),
    "banyan_share_state": (c_int, [c_void_p, c_size_t, _NAMES, _ADDRESSES, _SIZES]),
    "banyan_pass_boundary": (c_int, [c_void_p, c_uint64, c_double]),
    "banyan_boundary_is_held": (c_int, [c_void_p, POINTER(c_int)]),
    "banyan_fetch_state": (c_int, [c_void_p, c_double, POINTER(c_uint64)]),
}

_loaded: Optional[ctypes.CDLL] = None


def find_library() -> str:
    """Returns where libbanyan.so is: BANYAN_LIBRARY, else beside this file, else where the loader finds it."""
    chosen = os.environ.get("BANYAN_LIBRARY")
    if chosen:
        return chosen
    folder = os.path.dirname(os.path.abspath(__file__))
    for beside in (os.path.join(folder, "libbanyan.so"), os.path.join(folder, "..", "..", "..", "libbanyan.so.1")):
        if os.path.exists(beside):
            return beside
    return "libbanyan.so.1"


def library() -> ctypes.CDLL:
    """Returns the library, loaded at the first call: who only uses `banyan.solo()` needs none."""
    global _loaded
    if _loaded is None:
        path = find_library()
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            raise ImportError(f"cannot load {path}: {error}; set BANYAN_LIBRARY to libbanyan.so") from error
        if not hasattr(loaded, "banyan_abi_version"):
            raise ImportError(f"expected libbanyan.so at {path}, got another library; set BANYAN_LIBRARY to it")
        version = loaded.banyan_abi_version()
        if version < _ABI_VERSION:
            raise ImportError(f"{path} has interface {version}, and this package needs {_ABI_VERSION} or later")
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
        _loaded = loaded
    return _loaded


class Handle:
    """A handle of the library. It ends with the last that has it: while a call uses it, no other thread ends it."""

    def __init__(self, value: c_void_p, free: Callable[[c_void_p], None]) -> None:
        self.value = value
        self._free = free

    def __del__(self) -> None:
        self._free(self.value)


def version() -> str:
    """Returns the release that the library is of."""
    return library().banyan_version().decode()


def last_error() -> str:
    """Returns the text of this thread's last error."""
    return library().banyan_last_error().decode("utf-8", "replace")


def sized(struct: type, **fields: Any) -> Any:
    """Makes a struct of banyan.h with its size and these fields; None is left out.

    Raises InvalidArgument for a value of another type than the field's: C would take a number for the address of a text.

    >>> sized(SessionOptions, node="unix:/run/n1", worker=1).node
    b'unix:/run/n1'
    >>> sized(SessionOptions, node=7)
    Traceback (most recent call last):
    banyan.errors.InvalidArgument: node: expected a text without zero bytes, got 7
    """
    made = struct(size=sizeof(struct))
    types = dict(struct._fields_)
    for name, value in fields.items():
        if value is None:
            continue
        if types[name] is c_char_p:
            if not isinstance(value, str) or "\0" in value:
                raise InvalidArgument(f"{name}: expected a text without zero bytes, got {value!r}")
            value = os.fsencode(value)
        try:
            setattr(made, name, value)
        except TypeError:
            raise InvalidArgument(f"{name}: expected a number, got {value!r}") from None
    return made
