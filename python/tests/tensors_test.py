"""Tensors of torch that are no plain block of numbers: each travels rightly, or is refused with what to give instead."""

import unittest

import torch_test  # first, as it skips where torch is not installed
import torch

import banyan
from banyan._arrays import values_of
from banyan.session import _bytes_of


class Wrapped(torch.Tensor):
    """As a DTensor: a tensor without memory of its own, that computes by another one."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made._inner = inner
        return made

    def to_local(self):
        return self._inner

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), named=None):
        plain = [each._inner if isinstance(each, cls) else each for each in arguments]
        return function(*plain, **(named or {}))


class Marked(torch.Tensor):
    """A subclass with memory, as torch.nn.Parameter is one."""


class TensorsTest(unittest.TestCase):
    def setUp(self):
        self.job = banyan.solo()
        self.job.init("w", torch.tensor([1.0, 2.0]))

    def test_what_has_no_numbers_of_its_own_is_refused_by_name(self):
        made = {
            "nested.*unbind": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
            "Wrapped, which .*to_local": Wrapped(torch.ones(2)),
            "device meta": torch.ones(2, device="meta"),
            "sparse_coo.*to_dense": torch.ones(2).to_sparse(),
            "mkldnn.*to_dense": torch.eye(2).to_mkldnn(),
            "qint32.*dequantize": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint32),
            "uninitialized parameter": torch.nn.LazyLinear(2).weight,
            "without memory": torch._to_functional_tensor(torch.ones(2)),
            "complex64": torch.ones(1, dtype=torch.complex64).conj(),
        }
        for text, value in made.items():
            for call in (self.job.push, self.job.pull, self.job.all_reduce):
                with self.subTest(text), self.assertRaisesRegex(banyan.InvalidArgument, f"key w: .*{text}"):
                    call("w", value)

    def test_another_shape_than_that_of_the_init_is_refused(self):
        self.job.init("m", torch.zeros(2, 3))
        with self.assertRaisesRegex(banyan.InvalidArgument, r"key m: expected the shape of its init, \(2, 3\), got \(3, 2\)"):
            self.job.push_pull("m", torch.ones(3, 2))
        with self.assertRaisesRegex(banyan.InvalidArgument, "key m: expected the shape"):
            self.job.push_pull("m", torch.ones(2, 3), out=torch.ones(3, 2))
        for fits in torch.ones(2, 3), torch.ones(6), torch.ones(1, 2, 3), torch.ones(3, 2).t():
            self.assertEqual(self.job.push_pull("m", fits).wait().sum(), 6)
        self.job.init("row", torch.zeros(6))
        self.job.push_pull("row", torch.ones(3, 2)).wait()

    def test_memory_stays_in_place_while_it_takes_a_result(self):
        for kind in torch.float32, torch.bfloat16, torch.int64:
            out = torch.zeros(2, dtype=kind)
            held = values_of(out, is_result=True)
            with self.assertRaisesRegex(RuntimeError, "not resizable"):
                out.resize_(1 << 20)
            out.set_(torch.ones(1, dtype=kind))  # it lies elsewhere now, and the old memory is kept
            self.assertEqual((held.owner.data_ptr(), held.owner.tolist()), (held.address, [0, 0]))
        state = torch.zeros(2)
        address, _, owner = _bytes_of("weights", state)
        state.set_(torch.ones(1))
        self.assertEqual((owner.data_ptr(), owner.tolist()), (address, [0, 0]))

    def test_views_that_negate_keep_their_sign(self):
        for view in torch._neg_view(torch.tensor([1.0, 2.0])), torch.tensor([1 - 1j, 1 - 2j]).conj().imag * 1:
            self.assertEqual(self.job.push_pull("w", view).wait().tolist(), view.tolist())
        negated = torch._neg_view(torch.zeros(2))
        self.job.push_pull("w", torch.tensor([3.0, 4.0]), out=negated).wait()
        self.assertEqual(negated.tolist(), [3, 4])

    def test_subclasses_with_memory_and_strides_travel(self):
        result = self.job.push_pull("w", torch.ones(2).as_subclass(Marked)).wait()
        self.assertEqual((type(result), result.tolist()), (Marked, [1, 1]))
        column = torch.zeros(2, 3).t()[1]
        self.assertEqual(self.job.push_pull("w", torch.tensor([5.0, 6.0]), out=column).wait().tolist(), [5, 6])

    def test_results_need_room_for_each_number(self):
        self.job.init("m", torch.ones(2, 2))
        for out in torch.ones(1, 2).expand(2, 2), torch.ones(3).as_strided((2, 2), (1, 1)):
            self.assertEqual(self.job.push_pull("m", out).wait().tolist(), out.tolist())
            with self.assertRaisesRegex(banyan.InvalidArgument, "key m: expected room for each number"):
                self.job.all_reduce("m", out)

    def test_a_result_over_what_backward_needs_is_told_by_torch(self):
        for start in (lambda: torch.ones(2, requires_grad=True), lambda: torch.ones(4, requires_grad=True)[::2]):
            leaf = start()
            loss = (leaf * leaf).sum()
            with torch.no_grad():
                self.job.push_pull("w", torch.tensor([3.0, 4.0]), out=leaf).wait()
            self.assertEqual(leaf.tolist(), [3, 4])
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                loss.backward()

    def test_results_in_tensors_of_inference(self):
        with torch.inference_mode():
            outs = [torch.ones(2), torch.ones(4)[::2]]
        for out in outs:
            self.assertEqual(self.job.push_pull("w", torch.tensor([3.0, 4.0]), out=out).wait().tolist(), [3, 4])

    def test_a_state_has_no_such_parts(self):
        from banyan.session import _bytes_of

        for value in Wrapped(torch.ones(2)), torch.ones(2, device="meta"), torch.ones(2).to_sparse():
            with self.assertRaisesRegex(banyan.InvalidArgument, "part w of the state"):
                _bytes_of("w", value)


if __name__ == "__main__":
    unittest.main()
