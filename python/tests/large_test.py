"""A tensor of many bytes over two nodes; with BANYAN_LONG of more than 2**31, where a number of 32 bits would not do."""

import os
import threading
import unittest

import banyan
from banyan.testing import LocalJob

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("python3-numpy is not installed") from None

_IS_LONG = "BANYAN_LONG" in os.environ
_ELEMENTS = (2**29 if _IS_LONG else 2**20) + 3  # of 4 bytes
_NEEDED_BYTES = 10 * 4 * _ELEMENTS  # by both sites, in this process
_SECONDS = 1800


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))


class LargeTest(unittest.TestCase):
    def setUp(self):
        if available_bytes() < _NEEDED_BYTES:
            self.skipTest(f"expected {_NEEDED_BYTES >> 20} MiB of memory, got {available_bytes() >> 20}")

    def train(self, job, number, means):
        places = [0, 1, _ELEMENTS // 2 - 1, _ELEMENTS // 2, _ELEMENTS - 2, _ELEMENTS - 1]
        with job.join(job.names[number]) as session:
            values = numpy.zeros(_ELEMENTS, numpy.float32)
            session.init("w", values, out=values, timeout=_SECONDS)
            for i, place in enumerate(places):
                values[place] = (number + 1) * (i + 1)
            session.push_pull("w", values, out=values).wait(_SECONDS)
            means[number] = [values[place] for place in places], numpy.count_nonzero(values)
            session.barrier(_SECONDS)

    def test_a_tensor_of_many_bytes(self):
        means = {}
        with LocalJob(nodes=2) as job:
            threads = [threading.Thread(target=self.train, args=(job, number, means)) for number in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        expected = [1.5 * (i + 1) for i in range(6)], 6
        self.assertEqual(means, {0: expected, 1: expected})


if __name__ == "__main__":
    unittest.main()
