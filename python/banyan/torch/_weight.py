"""Means in which workers count by their samples: what they send is multiplied, and what comes divided."""

from __future__ import annotations

import math
from typing import Iterable

import torch

from ..errors import InvalidArgument
from ..session import Session
from .._ticket import Ticket


class Weight:
    """One worker's weight in the job's means. All workers of the job have one, and it travels with each round.

    The mean of `weight * gradient` over the mean of `weight` is the weighted mean, with `aggregation.op` mean and sum.

    >>> import banyan
    >>> weight = Weight(banyan.solo(), "w")
    >>> gradients = [torch.tensor([1.0, 2.0])]
    >>> weight.value = 8
    >>> weight.multiply(gradients)
    >>> gradients
    [tensor([ 8., 16.])]
    >>> _ = weight.send().wait()
    >>> weight.divide(gradients)
    >>> gradients
    [tensor([1., 2.])]
    """

    def __init__(self, job: Session, key: str) -> None:
        self._job = job
        self._key = key
        self._value = 1.0
        self._mean = torch.ones(1)
        job.init(key, self._mean)

    @property
    def value(self) -> float:
        """How much this worker's next gradients count: its samples or tokens."""
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        if not (math.isfinite(value) and value >= 0):
            raise InvalidArgument(f"weight: expected a finite number of at least 0, got {value}")
        self._value = float(value)

    def multiply(self, gradients: Iterable[torch.Tensor]) -> None:
        """Makes gradients what this worker sends; of weight 0 zeros, also where no data made them not a number."""
        for each in gradients:
            each.mul_(self._value) if self._value > 0 else each.zero_()

    def send(self) -> Ticket:
        """Sends the weight of a round."""
        self._mean.fill_(self._value)
        return self._job.push_pull(self._key, self._mean, out=self._mean)

    @property
    def is_anybody(self) -> bool:
        """Tells, after the weight of a round has come, whether it is above 0 at any worker."""
        return self._mean.item() > 0

    def divide(self, results: Iterable[torch.Tensor]) -> None:
        """Makes results weighted means, after the weight of their round has come. All zeros where nobody has samples."""
        mean = self._mean.item()
        for each in results:
            each.mul_(1 / mean if mean > 0 else 0.0)
