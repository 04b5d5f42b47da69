"""The Python interface over real nodes on loopback."""

import asyncio
import doctest
import importlib
import os
import threading
import unittest
from array import array

import banyan
from banyan.testing import LocalJob

try:
    import numpy
except ImportError:
    numpy = None


def together(job, body, *, workers=1):
    """Runs body(session, number) for each node on a thread of its own, and returns what the bodies return."""
    results, errors = {}, []

    def run(number, name):
        try:
            with job.join(name) as session:
                results[number] = body(session, number)
                session.barrier(300)
        except BaseException as error:  # told by the caller
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i + 1, name)) for i, name in enumerate(job.names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    if errors:
        raise errors[0]
    return [results[number] for number in sorted(results)]


class DocumentationTest(unittest.TestCase):
    def test_examples_run(self):
        for name in ("", ".errors", "._arrays", "._ticket", ".session", ".solo"):
            failed, _ = doctest.testmod(importlib.import_module("banyan" + name))
            self.assertEqual(failed, 0, name)


class RoundsTest(unittest.TestCase):
    def setUp(self):
        self.job = LocalJob(nodes=2)
        self.addCleanup(self.job.close)

    def test_every_call(self):
        def body(session, number):
            start = session.init("w", array("f", [number, number]))
            self.assertEqual(list(start), [1, 1])
            session.init_group("g", {"a": array("f", [number]), "b": array("f", [number] * 3)})
            ticket = session.push_pull("w", array("f", [number, 2 * number]), priority=2)
            mean = list(ticket.wait(300))
            self.assertEqual(ticket.round, 1)
            self.assertTrue(ticket.done())
            session.push("w", array("f", [number, 0])).wait(300)
            pulled = list(session.pull("w", array("f", [0, 0])).wait(300))
            parts = [array("f", [number]), array("f", [number] * 3)]
            session.push_pull_group("g", parts).wait(300)
            flushed = list(session.flush("w", array("f", [number, 1])).wait(300))
            sent = list(session.broadcast("w", array("f", [number, number])).wait(300))
            session.report_loss(1, 0.5)
            session.report_health(2, 0.5, progress=0.25, learning_rate_fraction=0, metric=1).wait(300)
            with self.assertRaises(banyan.InvalidArgument):
                session.report_health(3, 0.5, progress=2)
            session.check()
            return mean, pulled, [list(part) for part in parts], flushed, sent

        for mean, pulled, parts, flushed, sent in together(self.job, body):
            self.assertEqual(mean, [1.5, 3])
            self.assertEqual(pulled, [1.5, 0])
            self.assertEqual(parts, [[1.5], [1.5, 1.5, 1.5]])
            self.assertEqual(flushed, [1.5, 1])
            self.assertEqual(sent, [1, 1])

    def test_futures(self):
        def body(session, number):
            session.init("w", array("f", [0]))
            seen = threading.Event()
            ticket = session.push_pull("w", array("f", [number]))
            ticket.add_done_callback(lambda done: seen.set())
            self.assertTrue(seen.wait(300))

            async def wait():
                return list(await session.push_pull("w", array("f", [number])))

            return asyncio.run(wait())

        self.assertEqual(together(self.job, body), [[1.5], [1.5]])

    def test_errors_tell_what_and_whom(self):
        gate = threading.Barrier(2)

        def body(session, number):
            session.init("w", array("f", [0]))
            gate.wait(300)
            if number == 1:
                with self.assertRaises(banyan.InvalidArgument) as wrong:
                    session.push("w", array("f", [1, 2]))
                self.assertEqual((wrong.exception.node, wrong.exception.key), ("n1", "w"))
                self.assertIs(session.error, wrong.exception)
                with self.assertRaises(banyan.FailedPrecondition):
                    session.push("v", array("f", [1]))
                ticket = session.push_pull("w", array("f", [1]))
                with self.assertRaises(banyan.Timeout) as late:
                    ticket.wait(1.5)
                gate.wait(300)
                ticket.wait(300)
                return late.exception
            gate.wait(300)
            session.push_pull("w", array("f", [1])).wait(300)
            return None

        late = together(self.job, body)[0]
        self.assertEqual((late.node, late.key, late.round), ("n1", "w", 1))
        self.assertIn("n2", late.awaited)
        self.assertIn("not done after 1.5 s", str(late))

    def test_training_state_reaches_who_comes_late(self):
        def body(session, number):
            state = bytearray(b"state of n%d" % number)
            session.share_state({"text": state})
            with self.assertRaises(banyan.NotFound):
                session.fetch_state(300)
            session.pass_boundary(1, 300)
            return bytes(state)

        together(self.job, body)


class ArraysTest(unittest.TestCase):
    def setUp(self):
        self.session = banyan.solo()

    def test_what_cannot_travel_is_refused_by_name(self):
        for value, part in ((array("d", [1]), "'d'"), (array("i", [1]), "'i'"), (b"text", "'B'"), (3, "int")):
            with self.assertRaises(banyan.InvalidArgument) as refused:
                self.session.init("w", value)
            self.assertIn(part, str(refused.exception))

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy(self):
        values = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        self.session.init("w", values, out=values)
        transposed = numpy.zeros((3, 2), numpy.float32).T
        self.session.pull("w", transposed).wait()
        self.assertTrue((transposed == values).all())
        half = numpy.zeros((2, 3), numpy.float16)
        self.session.push_pull("w", values, out=half).wait()
        self.assertTrue((half == values).all())
        with self.assertRaisesRegex(banyan.InvalidArgument, "float64"):
            self.session.push("w", numpy.zeros((2, 3)))
        values.flags.writeable = False
        self.session.push("w", values)
        with self.assertRaisesRegex(banyan.InvalidArgument, "read-only"):
            self.session.pull("w", values)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_dlpack(self):
        class Foreign:  # as an array of JAX: DLPack alone
            def __init__(self, values):
                self._values = values

            def __dlpack__(self):
                return self._values.__dlpack__()

        self.session.init("w", Foreign(numpy.array([1, 2], numpy.float32)))
        self.assertEqual(list(self.session.pull("w", array("f", [0, 0])).wait()), [1, 2])
        with self.assertRaisesRegex(banyan.InvalidArgument, "contiguous"):
            self.session.push("w", Foreign(numpy.zeros((4,), numpy.float32)[::2]))


class EnvironmentTest(unittest.TestCase):
    def test_a_job_whose_overlay_is_wrong_is_refused_at_once(self):
        with self.assertRaisesRegex(banyan.InvalidArgument, "aggregation.op"):
            LocalJob(more="aggregation: {op: median}")

    def test_join_says_what_it_needs(self):
        for name in ("BANYAN_NODE", "BANYAN_SCHEDULER", "BANYAN_NAME"):
            os.environ.pop(name, None)
        with self.assertRaisesRegex(banyan.InvalidArgument, "BANYAN_SCHEDULER"):
            banyan.join()
        with self.assertRaisesRegex(banyan.Error, "/nonexistent/node"):
            banyan.join("unix:/nonexistent/node", timeout=0.2)


if __name__ == "__main__":
    unittest.main()
