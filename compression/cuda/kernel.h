// A kernel, that is, what runs on a device: a value that holds numbers and pointers to the device's memory. It says
// what one thread does in one step.
//
//   kThreads            threads of a block, a power of two
//   kSteps              all threads of a block wait for each other between two steps
//   Shared              what a block's threads share, undefined before the first step
//   Step(step, block, thread, shared)
//
// Invariants:
// - Between two steps no thread reads what another one writes.
// - What several threads add to, they add to atomically; blocks meet nowhere else.
//
// So the order of threads and blocks changes nothing. The kernels use nothing but C++ and a few integer operations.
// Hence they do on any device what they do on a host (emulated_device.h). Values; thread-compatible.
#ifndef BANYAN_COMPRESSION_CUDA_KERNEL_H_
#define BANYAN_COMPRESSION_CUDA_KERNEL_H_

#include <variant>

#include "compression/cuda/index_kernels.h"
#include "compression/cuda/rht_kernels.h"
#include "compression/cuda/selection_kernels.h"
#include "compression/cuda/sign_kernels.h"
#include "compression/cuda/value_kernels.h"

namespace banyan {

using Kernel =
    std::variant<GatherKernel, ScatterKernel, WriteBytesKernel, EncodeSignsKernel, DecodeSignsKernel,
                 TransformTilesKernel, TransformAcrossKernel, ScaleRowsKernel, PackRowsKernel, FlipRowsKernel,
                 SampleKernel, CountDigitsKernel, ChooseDigitKernel, CountKeptKernel, ListKeptKernel, SumBeforeKernel,
                 SumGapsKernel, CountZerosKernel, WriteIndicesKernel, ReadUnaryKernel, AddLowBitsKernel>;

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_KERNEL_H_
