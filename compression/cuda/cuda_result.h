// The outcome of a call of the CUDA runtime, for sources that know nothing of CUDA. Value.
#ifndef BANYAN_COMPRESSION_CUDA_CUDA_RESULT_H_
#define BANYAN_COMPRESSION_CUDA_CUDA_RESULT_H_

#include <cstdint>

namespace banyan {

enum class CudaOutcome : uint8_t { kDone, kNoDevice, kNoMemory, kFailed };

struct CudaResult {
  CudaOutcome outcome = CudaOutcome::kDone;
  const char* text = "";  // CUDA's own; lives as long as the program
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_CUDA_RESULT_H_
