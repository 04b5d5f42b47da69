"""What Python programs do that a library in C++ does not expect."""

import ast
import gc
import graphlib
import importlib.util
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from array import array

import banyan
from banyan._arrays import values_of
from banyan.testing import LocalJob


class TwoSites(unittest.TestCase):
    """Two nodes in this process; the second one's worker does what `self.second` is given to do."""

    more = ""

    def setUp(self):
        self.job = LocalJob(nodes=2, more=self.more)
        self.addCleanup(self.job.close)
        opened = []
        thread = threading.Thread(target=lambda: opened.append(self.job.join("n2")))
        thread.start()
        self.first = self.job.join("n1")
        thread.join(300)
        self.second = opened[0]
        self.addCleanup(self.second.close)
        self.addCleanup(self.first.close)
        self.in_second(lambda session: session.init("w", array("f", [1])), self.first.init, "w", array("f", [1]))

    def in_second(self, body, function, *arguments):
        """Returns function(*arguments) while the second site does body(session)."""
        thread = threading.Thread(target=body, args=(self.second,))
        thread.start()
        try:
            return function(*arguments)
        finally:
            thread.join(300)

    def expect_round(self):
        """Does a round that both take part in."""
        mine = self.first.push_pull("w", array("f", [1]))
        theirs = self.second.push_pull("w", array("f", [3]))
        self.assertEqual((list(mine.wait(300)), list(theirs.wait(300))), ([2], [2]))


class TicketTest(TwoSites):
    def test_a_ticket_may_be_dropped_before_it_is_done(self):
        result = array("f", [0])
        ticket = self.first.push_pull("w", array("f", [1]), out=result)
        del ticket  # if that waited for the other site, it would do so for ever
        gc.collect()
        self.second.push_pull("w", array("f", [3])).wait(300)
        self.expect_round()
        self.assertEqual(list(result), [2])

    def test_a_callback_that_raises_is_told_and_ends_nothing(self):
        def fail(ticket):
            raise ValueError("as a test")

        with self.assertLogs("banyan", "ERROR") as told:
            ticket = self.first.push_pull("w", array("f", [1]))
            seen = threading.Event()
            ticket.add_done_callback(fail)
            ticket.add_done_callback(lambda done: seen.set())
            self.second.push("w", array("f", [1])).wait(300)
            self.assertTrue(seen.wait(300))
        self.assertIn("as a test", told.output[0])
        self.assertEqual(list(ticket.wait(300)), [1])
        self.second.pull("w", array("f", [0])).wait(300)
        self.expect_round()

    def test_ctrl_c_ends_the_wait_and_not_the_operation(self):
        ticket = self.first.push_pull("w", array("f", [1]))
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            ticket.wait(300)
        timer.join()
        self.assertFalse(ticket.done())
        theirs = self.second.push_pull("w", array("f", [3]))
        self.assertEqual(list(ticket.wait(300)), [2])
        theirs.wait(300)

    def test_ctrl_c_ends_a_call_that_waits_for_room(self):
        first = self.first.push_pull("w", array("f", [1]))
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while True:  # a round or more may be open at once
                self.first.push("w", array("f", [1]))
        timer.join()
        self.second.push_pull("w", array("f", [3]))
        self.assertEqual(list(first.wait(300)), [2])

    def test_a_call_after_the_end_says_so(self):
        ticket = self.first.push_pull("w", array("f", [1]))
        self.first.close()
        with self.assertRaises(banyan.Cancelled):
            ticket.wait(300)
        with self.assertRaises(banyan.Cancelled):
            self.first.push("w", array("f", [1]))
        with self.assertRaises(banyan.Cancelled):
            self.first.share_state({"settings": bytearray(1)})
        with self.assertRaises(banyan.Cancelled):
            self.first.pass_boundary(1)
        self.first.close()

    def test_a_close_that_ended_nothing_is_told_and_called_again(self):
        real, answers = self.first._library, [banyan.Timeout.code]

        class Late:
            def __getattr__(self, name):
                return getattr(real, name)

            def banyan_session_close(self, *arguments):
                return answers.pop() if answers else real.banyan_session_close(*arguments)

        self.first._library = Late()
        with self.assertRaises(banyan.Timeout):
            self.first.close()
        self.first.close()
        # It has left: the other one goes on by itself.
        while list(self.second.push_pull("w", array("f", [3])).wait(300)) != [3]:
            pass

    def test_a_session_stays_while_a_call_may_use_it(self):
        freed = []
        handle = self.first._handle
        free = handle._free

        def note(value):
            freed.append(value)
            free(value)

        handle._free = note
        self.first.close()
        self.assertEqual(freed, [])
        self.assertGreaterEqual(self.first.fileno(), 0)

    def test_check_raises_what_nobody_waited_for(self):
        done = threading.Event()
        self.in_second(lambda session: session.init("q", array("q", [1])), self.first.init, "q", array("q", [1]))
        # Of integers nobody makes a mean, which the node says later than at once.
        ticket = self.first._try("push", "q", [values_of(array("q", [1]))], [], None, 0, (), ())
        ticket.add_done_callback(lambda _: done.set())
        self.assertTrue(done.wait(300))
        with self.assertRaisesRegex(banyan.InvalidArgument, "int64"):
            self.first.check()

    def test_check_raises_nothing_of_a_call_that_found_room_later(self):
        tried, real = [], self.first._try
        waited = threading.Event()

        def count(*arguments):
            tried.append(arguments)
            if len(tried) > pushed[0] + 1:
                waited.set()  # one was tried again
            return real(*arguments)

        pushed, self.first._try = [0], count

        def push_all():
            while not waited.is_set():
                self.first.push("w", array("f", [1]))
                pushed[0] += 1

        thread = threading.Thread(target=push_all)
        thread.start()
        self.assertTrue(waited.wait(300))
        self.second.push("w", array("f", [3]))
        thread.join(300)
        self.first.check()

    def test_a_callback_may_close_the_session(self):
        raised = []

        def close(ticket):
            try:
                self.first.close()
            except BaseException as error:
                raised.append(error)

        self.first.push_pull("w", array("f", [1])).add_done_callback(close)
        self.second.push_pull("w", array("f", [3])).wait(300)
        with self.assertRaises(banyan.Cancelled):
            while True:  # until the callback has run
                self.first.report_loss(1, 1.0)
        self.assertEqual(raised, [])

    def test_no_number_is_no_time(self):
        ticket = self.first.push_pull("w", array("f", [1]))
        with self.assertRaisesRegex(banyan.InvalidArgument, "timeout: .* nan"):
            ticket.wait(float("nan"))
        self.second.push_pull("w", array("f", [3])).wait(300)
        self.assertEqual(list(ticket.wait(300)), [2])


class ForgottenSessionTest(unittest.TestCase):
    def test_a_session_that_nobody_keeps_is_closed(self):
        with LocalJob(nodes=2) as job:
            others = []
            thread = threading.Thread(target=lambda: others.append(job.join("n2")))
            thread.start()
            session = job.join("n1")
            thread.join(300)
            others[0].close()
            with self.assertWarns(ResourceWarning):
                del session
                gc.collect()


class ForkTest(TwoSites):
    def test_a_forked_child_neither_uses_nor_harms_the_session(self):
        ticket = self.first.push_pull("w", array("f", [1]))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with self.assertRaises(banyan.FailedPrecondition):
                    self.first.push("w", array("f", [1]))
                with self.assertRaises(banyan.FailedPrecondition):
                    ticket.wait(300)
                self.first.close()
                del ticket
                gc.collect()
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.WEXITSTATUS(status), 0)
        theirs = self.second.push_pull("w", array("f", [3]))
        self.assertEqual(list(ticket.wait(300)), [2])
        theirs.wait(300)
        self.expect_round()


class ManyKeysTest(TwoSites):
    def test_ten_thousand_tensors(self):
        names = [f"layer{i}.weight" for i in range(10_000)]

        def train(session, value):
            session.init_group("model", {name: array("f", [0, 0]) for name in names})
            gradients = [array("f", [value, i]) for i in range(len(names))]
            tickets = [
                session.push_pull(name, gradient, out=gradient) for name, gradient in zip(names, gradients)
            ]
            for ticket in tickets:
                ticket.wait(300)
            session.push_pull_group("model", gradients).wait(300)
            return gradients

        gradients = self.in_second(lambda session: train(session, 3.0), train, self.first, 1.0)
        self.assertEqual([list(gradients[i]) for i in (0, 5000, 9999)], [[2, 0], [2, 5000], [2, 9999]])


class TwoWorkersTest(unittest.TestCase):
    def test_two_workers_of_one_node_in_one_process(self):
        with LocalJob(nodes=2, workers=2) as job:
            sums, errors = [], []

            def work(node, worker, value):
                try:
                    with node.open_session(worker) as session:
                        session.init("w", array("f", [0]))
                        sums.append(list(session.all_reduce("w", array("f", [value]), timeout=300)))
                        session.barrier(300)
                except banyan.Error as error:
                    errors.append(error)

            nodes = [banyan.LocalNode(name, job.scheduler) for name in job.names]
            threads = [
                threading.Thread(target=work, args=(node, worker, 2 * i + worker))
                for i, node in enumerate(nodes) for worker in range(2)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(300)
            for node in nodes:
                node.stop()
            self.assertEqual((sums, errors), ([[1.5]] * 4, []))


_EXITS = """
import sys
from array import array
import banyan
session = banyan.join(scheduler=sys.argv[1], name=sys.argv[2], timeout=300)
session.init("w", array("f", [0]))
session.push_pull("w", array("f", [1]))
if sys.argv[2] == "n2":
    raise SystemExit(7)
session.close()
"""


_FAILS = """
import sys
import banyan
session = banyan.join(sys.argv[1], timeout=300)
if sys.argv[2] == "in a with":
    with session:
        raise ValueError("as a test")
raise ValueError("as a test")
"""


_CRASHES = """
import sys
from banyan.testing import LocalJob
job = LocalJob(nodes=2)
print(job._process.pid, job._folder, flush=True)
sys.stdin.read()
"""


class ExitTest(unittest.TestCase):
    def test_a_local_job_ends_with_its_process(self):
        program = subprocess.Popen([sys.executable, "-c", _CRASHES], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pid, folder = program.stdout.readline().decode().split()
        guard = os.pidfd_open(int(pid))
        program.kill()
        program.communicate(timeout=300)
        self.assertEqual(select.select([guard], [], [], 300)[0], [guard])
        self.assertFalse(os.path.exists(folder))
        os.close(guard)

    def test_a_program_that_fails_has_not_done_its_work(self):
        for where in "in a with", "at the end":
            with LocalJob(nodes=2) as job, tempfile.TemporaryDirectory() as folder:
                socket = f"unix:{folder}/n1"
                with banyan.LocalNode("n1", job.scheduler, worker_socket=socket):
                    arguments = [sys.executable, "-c", _FAILS, socket, where]
                    program = subprocess.run(arguments, stderr=subprocess.PIPE, timeout=300, check=False)
                    self.assertIn(b"ValueError: as a test", program.stderr)
                    # Else its node would have left the job with it.
                    banyan.join(socket, timeout=300).close()

    def test_the_interpreter_ends_with_operations_under_way(self):
        with LocalJob(nodes=2) as job:
            programs = [
                subprocess.Popen([sys.executable, "-c", _EXITS, job.scheduler, name], stderr=subprocess.PIPE)
                for name in job.names
            ]
            said = [program.communicate(timeout=300)[1].decode() for program in programs]
        self.assertEqual([program.returncode for program in programs], [0, 7], said)
        for text in said:  # what nodes have to say of each other's end is no fault
            self.assertNotRegex(text, "Traceback|Exception|Error")


class ImportsTest(unittest.TestCase):
    def test_modules_import_each_other_in_no_circle(self):
        root = pathlib.Path(banyan.__file__).parents[1]
        paths = {path.relative_to(root).with_suffix("").parts: path for path in root.glob("banyan/**/*.py")}
        graph = {".".join(parts).removesuffix(".__init__"): set() for parts in paths}
        for parts, path in paths.items():
            imported = graph[".".join(parts).removesuffix(".__init__")]
            for node in ast.walk(ast.parse(path.read_text())):  # also in functions, and for types alone
                if isinstance(node, ast.Import):
                    imported.update(each.name for each in node.names)
                elif isinstance(node, ast.ImportFrom):
                    source = importlib.util.resolve_name("." * node.level + (node.module or ""), ".".join(parts[:-1]))
                    modules = [f"{source}.{each.name}" for each in node.names]
                    imported.update(each if each in graph else source for each in modules)
        self.assertIn("banyan._library", graph["banyan.session"])
        graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names a circle


if __name__ == "__main__":
    unittest.main()
