"""What torch.distributed's calls over a job leave behind, and what they do when workers are late or gone."""

import datetime
import threading
import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
import torch.distributed as dist

import banyan
from banyan.testing import LocalJob
from banyan.torch.process_group import ProcessGroup
from scripts_test import on_sites

_SUM = dist.AllreduceOptions()


def group_of(session, seconds=100):
    """Makes a session's group, of which a process may have several, as threads."""
    return ProcessGroup(session, session.rank, session.world_size, datetime.timedelta(seconds=seconds))


class ProcessGroupTest(unittest.TestCase):
    def test_keys_are_few_whatever_the_sizes(self):
        def body(session, number):
            group = group_of(session)
            for count in range(1, 200):
                tensor = torch.full((count,), 1.0 + number)
                group.allreduce([tensor], _SUM).wait()
                self.assertTrue(torch.equal(tensor, torch.full((count,), 3.0)))
            return sum(key.startswith("group/") for key in session._types)

        for count in on_sites(body):
            self.assertLess(count, 50)

    def test_tensors_that_lie_oddly(self):
        def body(session, number):
            group = group_of(session)
            turned = torch.arange(6.0).view(2, 3).t()
            single, nothing = torch.tensor(number + 1), torch.zeros(0, 3)
            for each in turned, single, nothing:
                group.allreduce([each], _SUM).wait()
            rows = [torch.zeros(2, 2).t() for _ in range(2)]
            group.allgather([rows], [torch.tensor([[1, 2], [3, 4.0]]) * (1 + number)]).wait()
            return turned.tolist(), single.item(), [each.tolist() for each in rows]

        expected = [[0, 6], [2, 8], [4, 10]], 3, [[[1, 2], [3, 4]], [[2, 4], [6, 8]]]
        self.assertEqual(on_sites(body), [expected] * 2)

    def test_a_call_without_a_worker_that_has_died_raises(self):
        """Its node stays, and takes part without it."""
        told, ended = [], threading.Event()

        def work(node, worker, dies):
            with node.open_session(worker) as session:
                group = group_of(session)
                group.barrier()
                if dies:
                    session._end(5, in_order=False)
                    ended.set()
                    return
                ended.wait(100)
                tensor = torch.ones(3)
                try:
                    group.allreduce([tensor], _SUM)
                except banyan.Unavailable as error:
                    told.append((str(error), tensor.tolist()))

        with LocalJob(nodes=2, workers=2) as job:
            nodes = [banyan.LocalNode(name, job.scheduler) for name in job.names]
            threads = [
                threading.Thread(target=work, args=(node, worker, i + worker == 2), daemon=True)
                for i, node in enumerate(nodes) for worker in (0, 1)
            ]
            for each in threads:
                each.start()
            for each in threads:
                each.join(60)
            for node in nodes:
                node.stop()
        self.assertEqual(len(told), 3)
        for text, left in told:
            self.assertRegex(text, "the members of the job have changed, 3 where the group has 4 workers")
            self.assertEqual(left, [1.0] * 3)

    def test_a_call_that_is_too_long_raises(self):
        told = threading.Event()

        def body(session, number):
            group_of(session).barrier()
            if number:
                told.wait(100)
            else:
                try:
                    group_of(session, seconds=0.5).allreduce([torch.ones(1)], _SUM)
                finally:
                    told.set()

        self.assertIsInstance(on_sites(body)[0], banyan.Timeout)


if __name__ == "__main__":
    unittest.main()
