"""The Python interface over real nodes on loopback."""

import asyncio
import doctest
import importlib
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
from array import array

import banyan
from banyan._arrays import values_of
from banyan.joining import _log_lines, find_key
from banyan.session import _bytes_of
from banyan.testing import LocalJob, free_port

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
        for name in ("", ".errors", "._arrays", "._library", "._ticket", ".session", ".solo"):
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
            for step in (-1, 2**63):
                with self.assertRaisesRegex(banyan.InvalidArgument, "expected a step from 0"):
                    session.report_loss(step, 0.5)
            with self.assertRaisesRegex(banyan.InvalidArgument, "expected a priority"):
                session.push("w", array("f", [number, 0]), priority=2**31)
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

    def test_names_are_whole(self):
        def body(session, number):
            session.init("w", array("f", [0]))
            for name in ("w\0", "w\0x", "w\ud800"):  # a C string would end at the zero
                with self.assertRaisesRegex(banyan.InvalidArgument, "printable ASCII"):
                    session.push(name, array("f", [1]))
                with self.assertRaisesRegex(banyan.InvalidArgument, "printable ASCII"):
                    session.init_group("g", {name: array("f", [1])})
            return list(session.all_reduce("w", array("f", [number])))

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

    def test_state_that_cannot_be_written_is_refused_by_name(self):
        def body(session, number):
            for part in b"text", "text", None:
                with self.assertRaisesRegex(banyan.InvalidArgument, "part settings"):
                    session.share_state({"settings": part})

        together(self.job, body)


class TypesTest(unittest.TestCase):
    def test_sums_are_exact_in_their_own_type(self):
        job = LocalJob(nodes=2, more="aggregation: {op: sum}\ncompression: {codec: int8}")
        self.addCleanup(job.close)

        def body(session, number):
            rows = {"q": 2**53 + number, "i": 2**31 - 1, "d": 0.1 * number}
            for code, value in rows.items():
                session.init(code, array(code, [value, 0]))
            return {code: list(session.push_pull(code, array(code, [value, 1])).wait(300)) for code, value in rows.items()}

        for sums in together(job, body):
            self.assertEqual(sums, {"q": [2**54 + 3, 2], "i": [-2, 2], "d": [0.1 + 0.2, 2]})

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_halves_are_rounded_once(self):
        job = LocalJob(nodes=2)
        self.addCleanup(job.close)

        def body(session, number):
            values = numpy.array([2048 + 2 * number, 60000, 0.1], numpy.float16)
            session.init("w", values)
            session.init("none", values[:0])
            mean = session.push_pull("w", values).wait(300)
            self.assertEqual(session.push_pull("none", values[:0]).wait(300).size, 0)
            return mean.dtype.name, mean.tolist()

        # 2050 and 2052: their mean lies between two halves, and goes to the even one. The sum of 60000 is none of them.
        tenth = float(numpy.float16(0.1))
        self.assertEqual(together(job, body), [("float16", [2052, 60000, tenth])] * 2)

    def test_integers_have_no_mean(self):
        job = LocalJob(nodes=2)
        self.addCleanup(job.close)

        def body(session, number):
            session.init("q", array("q", [0]))
            with self.assertRaisesRegex(banyan.InvalidArgument, "is of int64, of which the job's aggregation makes no mean"):
                session.push_pull("q", array("q", [1])).wait(300)
            session.init("d", array("d", [0]))
            mean = list(session.push_pull("d", array("d", [0.1 * number])).wait(300))
            return list(session.broadcast("q", array("q", [2**60 + number])).wait(300)), mean

        self.assertEqual(together(job, body), [([2**60 + 1], [(0.1 + 0.2) / 2])] * 2)

    def test_other_types_are_refused_at_all_sites(self):
        job = LocalJob(nodes=2)
        self.addCleanup(job.close)

        def body(session, number):
            with self.assertRaisesRegex(banyan.InvalidArgument, "(?s)(float32.*float64|float64.*float32)"):
                session.init("w", array("f" if number == 1 else "d", [0]), timeout=300)

        together(job, body)


class SoloTest(unittest.TestCase):
    def setUp(self):
        self.session = banyan.solo()
        self.session.init("w", array("f", [1, 2]))
        self.session.init_group("g", {"a": array("f", [3]), "b": array("f", [4, 5])})

    def test_tensors_of_another_size_are_refused(self):
        for size in 1, 3:
            other = array("f", [0] * size)
            for call in self.session.pull, self.session.push, self.session.all_reduce, self.session.broadcast:
                with self.assertRaisesRegex(banyan.InvalidArgument, f"key w: expected 2 elements as in its init, got {size}"):
                    call("w", other)
            with self.assertRaisesRegex(banyan.InvalidArgument, "key v: expected 2 elements"):
                self.session.init("v", array("f", [1, 2]), out=other)
            self.assertEqual(list(other), [0] * size)
        self.assertEqual(list(self.session.pull("w", array("f", [0, 0])).wait()), [1, 2])

    def test_groups_are_whole_or_refused_before_anything_is_changed(self):
        for parts in ([array("f", [7])], [array("f", [7]), array("f", [8])]):
            with self.assertRaisesRegex(banyan.InvalidArgument, "expected 2"):
                self.session.push_pull_group("g", parts)
        self.assertEqual(list(self.session.pull("a", array("f", [0])).wait()), [3])

    def test_weights_that_are_registered_are_no_result(self):
        self.session.register_weights("w", array("f", [8, 9])).wait()
        self.assertEqual(list(self.session.pull("w", array("f", [0, 0])).wait()), [1, 2])


class JoiningTest(unittest.TestCase):
    def test_a_nodes_log_keeps_its_levels(self):
        read, write = os.pipe()
        os.write(write, b"<7>one\n<6>two\n<4>three\n<3>four\n")
        os.close(write)
        with self.assertLogs("banyan.node", "DEBUG") as told:
            _log_lines(read)
        self.assertEqual([record.levelname for record in told.records], ["DEBUG", "INFO", "WARNING", "ERROR"])
        self.assertEqual([record.getMessage() for record in told.records], ["one", "two", "three", "four"])

    def test_what_a_node_warns_of_is_a_warning(self):
        with self.assertLogs("banyan.node", "WARNING") as told, self.assertRaises(banyan.Timeout) as late:
            with banyan.LocalNode("n1", f"tcp://127.0.0.1:{free_port()}") as node:
                node.open_session(timeout=5)
        self.assertIn("Connection refused", told.output[0])
        self.assertIn("which cannot be reached: Connection refused", late.exception.awaited)

    def test_a_wrong_option_leaves_no_descriptor_open(self):
        before = os.listdir("/proc/self/fd")
        for wrong in {"worker_socket": 7}, {"compute_threads": "many"}:
            with self.assertRaises(banyan.InvalidArgument):
                banyan.LocalNode("n1", "tcp://127.0.0.1:1", **wrong)
        self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_keys_are_found_where_the_command_finds_them(self):
        with tempfile.TemporaryDirectory() as home, unittest.mock.patch.dict(os.environ, HOME=home):
            self.assertIsNone(find_key("n1"))
            path = os.path.join(home, ".config", "banyan", "n1.key")
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write("no key\n")
            self.assertEqual(find_key("n1"), path)
            with self.assertRaisesRegex(banyan.Error, "n1.key"):
                banyan.LocalNode("n1", "tcp://127.0.0.1:1")
            with banyan.LocalNode("n1", "tcp://127.0.0.1:1", insecure=True):
                pass

    def test_a_node_that_others_reach_needs_a_key(self):
        with self.assertRaisesRegex(banyan.FailedPrecondition, "BANYAN_KEY.*insecure=True"):
            banyan.LocalNode("n0", "tcp://127.0.0.1:1", listen="tcp://0.0.0.0:0", advertise="tcp://10.0.0.1:1")


class ArraysTest(unittest.TestCase):
    def setUp(self):
        self.session = banyan.solo()

    def test_what_cannot_travel_is_refused_by_name(self):
        for value, part in ((array("H", [1]), "'H'"), (array("b", [1]), "'b'"), (b"text", "'B'"), (3, "int")):
            with self.assertRaises(banyan.InvalidArgument) as refused:
                self.session.init("w", value)
            self.assertIn(part, str(refused.exception))
            self.assertEqual(refused.exception.key, "w")

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_a_single_number_of_numpy_can_be_sent_and_is_no_room_for_a_result(self):
        self.session.init("n", numpy.float32(1))
        self.assertEqual(self.session.push_pull("n", numpy.float32(3)).wait().item(), 3)
        with self.assertRaisesRegex(banyan.InvalidArgument, "key n: .*numpy.array"):
            self.session.all_reduce("n", numpy.float32(3))

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
    def test_arrays_stay_where_they_are_while_they_take_a_result(self):
        whole = numpy.zeros(4, numpy.float32)
        for array_of_it in whole, whole[:2]:
            held = values_of(array_of_it, is_result=True)
            with self.assertRaisesRegex(ValueError, "cannot resize"):
                whole.resize(1 << 20, refcheck=False)
            del held
        part = _bytes_of("w", whole)
        with self.assertRaisesRegex(ValueError, "cannot resize"):
            whole.resize(1 << 20, refcheck=False)
        del part, array_of_it
        whole.resize(1 << 20, refcheck=False)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_arrays_that_are_more_than_their_numbers_are_refused(self):
        single = numpy.float32
        self.session.init("w", numpy.zeros(2, single))
        made = {
            "masked array.*filled": numpy.ma.array([1, 2], mask=[False, True], dtype=single),
            "got >f4": numpy.array([1, 2], ">f4"),
            "got object": numpy.array([1, 2], object),
            "'a', '<f4'": numpy.zeros(2, [("a", single)]),
        }
        for text, value in made.items():
            for call in (self.session.push, self.session.pull, self.session.all_reduce):
                with self.subTest(text), self.assertRaisesRegex(banyan.InvalidArgument, f"key w: .*({text})"):
                    call("w", value)
        with self.assertRaisesRegex(banyan.InvalidArgument, "part w of the state: .* masked array"):
            _bytes_of("w", made["masked array.*filled"])

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_arrays_that_lie_oddly_travel_rightly(self):
        single = numpy.float32
        self.session.init("w", numpy.zeros((2, 2), single))
        odd = numpy.frombuffer(bytearray(17), numpy.uint8)[1:].view(single).reshape(2, 2)
        for out in numpy.matrix([[0, 0], [0, 0]], single), numpy.zeros((2, 2), single)[::-1, ::-1], odd:
            wanted = numpy.array([[1, 2], [3, 4]], single)
            self.assertEqual(self.session.push_pull("w", wanted, out=out).wait().tolist(), wanted.tolist())
            self.assertEqual(self.session.push_pull("w", out).wait().tolist(), wanted.tolist())
        self.assertNotEqual(values_of(odd).address, odd.ctypes.data, "no sum is made of numbers that are not aligned")
        lying = numpy.lib.stride_tricks.as_strided(numpy.zeros(3, single), (2, 2), (4, 4))
        with self.assertRaisesRegex(banyan.InvalidArgument, "key w: expected room for each number"):
            self.session.pull("w", lying)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_objects_that_numpy_can_convert_are_refused_with_that_advice(self):
        class Frame:  # as pandas has them
            def __array__(self, *_):
                return numpy.zeros(2, numpy.float32)

        for value in Frame(), [1.0, 2.0]:
            with self.assertRaisesRegex(banyan.InvalidArgument, "key w: .*numpy.asarray"):
                self.session.init("w", value)

    def test_every_type_keeps_its_numbers(self):
        for code, value in (("d", 0.1), ("i", -(2**31)), ("q", 2**53 + 1)):
            agreed = self.session.init(code, array(code, [value, 0]))
            self.assertEqual((agreed.typecode, list(agreed)), (code, [value, 0]))
            result = array(code, [0, 0])
            self.session.push_pull(code, array(code, [value, 1]), out=result).wait()
            self.assertEqual(list(result), [value, 1])
            with self.assertRaisesRegex(banyan.InvalidArgument, "as the key's init had, got float32"):
                self.session.push(code, array("f", [1, 2]))

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy_types_are_used_where_they_lie(self):
        for kind in (numpy.float16, numpy.float32, numpy.float64, numpy.int32, numpy.int64):
            values = numpy.array([[1, 2], [3, 4]], kind)
            self.assertEqual(values_of(values).address, values.ctypes.data)
            name = numpy.dtype(kind).name
            self.session.init(name, values, out=values)
            self.assertEqual(self.session.push_pull(name, values.T).wait().tolist(), [[1, 3], [2, 4]])

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_scalars_and_nothing(self):
        scalar = numpy.array(2.5, numpy.float64)
        self.assertEqual(self.session.init("scalar", scalar).shape, ())
        nothing = numpy.zeros((0, 3), numpy.float32)
        self.assertEqual(self.session.init("nothing", nothing).shape, (0, 3))
        self.assertEqual(self.session.push_pull("nothing", nothing).wait().shape, (0, 3))

    def test_a_group_is_of_one_type(self):
        with self.assertRaisesRegex(banyan.InvalidArgument, "one type, got float32, float64"):
            self.session.init_group("g", {"a": array("f", [1]), "b": array("d", [1])})

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

    def test_a_local_job_takes_no_flags_from_the_environment(self):
        with unittest.mock.patch.dict(os.environ, {"BANYAN_LISTEN": "tcp://nowhere:1", "BANYAN_STATE_DIR": "/none"}):
            with LocalJob() as job:
                self.assertIn(f"listening on {job.scheduler}", job.log)

    def test_a_library_that_is_another_one_is_refused(self):
        script = "import banyan; banyan.join('unix:/nonexistent/node', timeout=0.2)"
        ran = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "BANYAN_LIBRARY": "libc.so.6"}, capture_output=True, text=True
        )
        self.assertIn("ImportError: expected libbanyan.so at libc.so.6, got another library", ran.stderr)

    def test_join_says_what_it_needs(self):
        for name in ("BANYAN_NODE", "BANYAN_SCHEDULER", "BANYAN_NAME"):
            os.environ.pop(name, None)
        with self.assertRaisesRegex(banyan.InvalidArgument, "BANYAN_SCHEDULER"):
            banyan.join()
        with self.assertRaisesRegex(banyan.Error, "/nonexistent/node"):
            banyan.join("unix:/nonexistent/node", timeout=0.2)

    def test_join_refuses_what_c_would_misread(self):
        for node in (7, b"unix:/x", "unix:/x\0y"):
            with self.assertRaisesRegex(banyan.InvalidArgument, "node: expected a text"):
                banyan.join(node, timeout=0.2)
        for worker in (-1, 2**32, 1.5, "first"):
            with self.assertRaisesRegex(banyan.InvalidArgument, "LOCAL_RANK.: expected a number from 0 to 255"):
                banyan.join("unix:/nonexistent/node", worker=worker, timeout=0.2)
        with self.assertRaisesRegex(banyan.Error, "/nonexistent/node"):
            banyan.join("unix:/nonexistent/node", timeout=0)  # and not the default of C


if __name__ == "__main__":
    unittest.main()
