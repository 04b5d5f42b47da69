// How fast one core adds, encodes and counts gradients: `banyan bench aggregate`, `codec` and `reducer`. Each prints to
// `out`, as one JSON object or as text, and returns the exit code.
#ifndef BANYAN_BENCH_KERNEL_BENCHMARKS_H_
#define BANYAN_BENCH_KERNEL_BENCHMARKS_H_

#include <functional>
#include <optional>
#include <ostream>

namespace banyan {

// Adds a model of 64 MB, chunk by chunk of 65,536 elements. Adds the same bytes by a plain loop a[i] += b[i] on the
// same accumulators. The two run in interleaved pairs, so that both meet the same disturbances. Prints the medians and
// the median ratio to `out`, as one JSON object or as text. Returns the exit code, 1 when the sums are wrong.
int RunAggregateBenchmark(std::ostream& out, bool json);

// --- codec: how fast chunks are encoded and decoded, beside memcpy of the same floats ---

// A round of a job without compression, to which coding is compared.
struct CodecRound {
  double model_bytes = 0;  // as float32
  double seconds = 0;
};

struct CodecBenchmarkOptions {
  bool json = false;
  std::optional<CodecRound> round = std::nullopt;
  int repetitions = 15;  // of each measurement; medians are shown
};

// Encodes, decodes and adds a model of 64 MB of Gaussian values with every codec, chunk by chunk of 65,536 elements.
// Also copies the same floats to the decoder's memory. All take turns, so that all meet the same disturbances. Prints
// for each codec the GB/s of fp32 that it takes in or gives out, their ratio to memcpy's, and the bytes per element.
// With `round` also how long a node encodes, adds and decodes the model once each, which is what it does in a round,
// and which part that is of the round. This takes time in proportion to bytes. The output is one JSON object or text.
// Sparse codecs keep 1%. Calls `progress` with the part that is done. Returns the exit code, 1 when a codec refuses its
// own frames.
int RunCodecBenchmark(const CodecBenchmarkOptions& options, std::ostream& out,
                      const std::function<void(double)>& progress);

// --- reducer: how fast the votes of eight voters are counted, beside what the paper of NEURON-Fabric (Wang, Huang and
// Lung, 2026, Table 9) measured on its GPU nodes ---

struct ReducerBenchmarkOptions {
  int repetitions = 200;  // timed turns, of which the median is told
  bool json = false;
};

// Encodes, counts, decides and writes back G-Binary and G-Ternary votes on 131,072 and 524,288 elements. Compares each
// count with one that adds plain integers. Prints microseconds to `out`. Returns the exit code, 1 where a count
// differs.
int RunReducerBenchmark(const ReducerBenchmarkOptions& options, std::ostream& out);

}  // namespace banyan

#endif  // BANYAN_BENCH_KERNEL_BENCHMARKS_H_
