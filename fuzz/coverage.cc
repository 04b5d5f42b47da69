// What GCC's instrumentation tells libFuzzer: which pieces of the code a run has come through. GCC calls
// __sanitizer_cov_trace_pc in each of them; libFuzzer reads the counters in a section of this name.
#include <cstddef>
#include <cstdint>

namespace {

constexpr size_t kCounters = size_t{1} << 14;

__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[kCounters];

}  // namespace

extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  const auto piece = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  ++counters[(piece ^ (piece >> 16)) % kCounters];
}

// GCC traces comparisons of floating numbers as well, which libFuzzer does not know.
extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_cmpd(double, double) {}
