// `banyan bench codec`: how fast chunks are encoded and decoded by one core, beside memcpy of the same floats.
#ifndef BANYAN_BENCH_CODEC_BENCHMARK_H_
#define BANYAN_BENCH_CODEC_BENCHMARK_H_

#include <functional>
#include <optional>
#include <ostream>

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_BENCH_CODEC_BENCHMARK_H_
