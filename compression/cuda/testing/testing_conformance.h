// Checks what every device promises in device_chunk.h against the host's codecs: the same bytes, the same sums to the
// last bit. For the tests of devices. Pure functions but for the device's work.
#ifndef BANYAN_COMPRESSION_CUDA_TESTING_TESTING_CONFORMANCE_H_
#define BANYAN_COMPRESSION_CUDA_TESTING_TESTING_CONFORMANCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compression/cuda/device.h"
#include "compression/encoding.h"

namespace banyan {

// All codecs that have kernels; topk with both selections, both kinds of values, and ratios from few to all.
std::vector<Encoding> ConformanceEncodings();

struct NamedValues {
  std::string name;
  std::vector<float> values;
};

// Values of every kind, so many: Gaussian ones, all equal, zeros, subnormals, the largest, few that are not zero,
// infinities and not-a-numbers, any bits at all.
std::vector<NamedValues> ConformanceValues(int64_t count, uint64_t seed);

// Encodes the values on the host and on the device, decodes the host's frame there, and adds the device's to others
// there. Fails the test where anything differs.
void ExpectAsOnHost(const Encoding& encoding, const NamedValues& values, Device& device);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_TESTING_TESTING_CONFORMANCE_H_
