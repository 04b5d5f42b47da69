// Sums over the threads of a block, up to each thread, in steps between which all threads wait for each other. Bodies
// of kernels. device.h tells what a kernel is.
#ifndef BANYAN_COMPRESSION_CUDA_BLOCK_SCAN_H_
#define BANYAN_COMPRESSION_CUDA_BLOCK_SCAN_H_

#include <cstdint>

#include "compression/kernels/kernel_body.h"

namespace banyan {

// Threads of a block that scans.
inline constexpr int kScanThreads = 256;

// Its steps, log2(kScanThreads).
inline constexpr int kScanSteps = 8;

// Before the first step each thread calls Start(). In each of kScanSteps steps it calls Step() with 0, 1 and so on.
// Afterwards Upto() and Before() give the sums. Shared by the block's threads.
class BlockScan {
 public:
  BANYAN_KERNEL_BODY void Start(int thread, uint32_t term) { sums_[0][thread] = term; }

  BANYAN_KERNEL_BODY void Step(int step, int thread) {
    const int distance = 1 << step;
    const uint32_t* const from = sums_[step % 2];
    sums_[1 - step % 2][thread] = from[thread] + (thread >= distance ? from[thread - distance] : 0);
  }

  // The sum of the terms of all threads up to this one, and of those before it; modulo 2^32.
  BANYAN_KERNEL_BODY uint32_t Upto(int thread) const { return sums_[kScanSteps % 2][thread]; }
  BANYAN_KERNEL_BODY uint32_t Before(int thread) const { return thread == 0 ? 0 : Upto(thread - 1); }
  BANYAN_KERNEL_BODY uint32_t Total() const { return Upto(kScanThreads - 1); }

 private:
  uint32_t sums_[2][kScanThreads];
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_BLOCK_SCAN_H_
