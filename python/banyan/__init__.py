"""Banyan: training together between data centres that are far apart.

    import banyan
    job = banyan.join()                       # a node's socket, or a node in this process, from the environment
    weights = job.init("w", weights)          # one worker's values reach all
    gradient = job.all_reduce("w", gradient)  # the mean over all workers of all nodes

`banyan.torch` does this for PyTorch models, `banyan.solo()` gives a job of one. See docs/pytorch.md and
docs/python.md.
"""

from ._library import version as _version
from ._ticket import Ticket
from .errors import (
    AlreadyExists, AlreadyExistsError, Cancelled, CancelledError, DataLoss, DataLossError, Error, FailedPrecondition,
    FailedPreconditionError, InvalidArgument, InvalidArgumentError, NotFound, NotFoundError, Timeout, TimeoutError,
    Unavailable, UnavailableError
)
from .joining import LocalNode, join
from .session import Members, Node, Session
from .solo import solo

__all__ = [
    "AlreadyExists", "AlreadyExistsError", "Cancelled", "CancelledError", "DataLoss", "DataLossError", "Error",
    "FailedPrecondition", "FailedPreconditionError", "InvalidArgument", "InvalidArgumentError", "LocalNode",
    "Members", "Node", "NotFound", "NotFoundError", "Session", "Ticket", "Timeout", "TimeoutError", "Unavailable",
    "UnavailableError", "join", "solo",
]


def __getattr__(name):
    """`__version__`, which is the library's."""
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'banyan' has no attribute '{name}'")
