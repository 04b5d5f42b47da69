#include "bench/aggregate_benchmark.h"

#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "bench/plain_add.h"
#include "bench/timing.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "node/rounds/chunk_computations.h"

namespace banyan {
namespace {

constexpr int64_t kChunkElements = 65536;
constexpr int64_t kChunks = 244;  // 64 MB
constexpr int64_t kElements = kChunks * kChunkElements;
constexpr int kPairs = 31;
// Each element is read twice and written once.
constexpr double kTrafficBytes = 3.0 * sizeof(float) * kElements;

// One model's accumulators and one model's worth of incoming numbers.
class Aggregation {
 public:
  Aggregation() : accumulators_(Buffer::Allocate(kElements)), incoming_(Buffer::Allocate(kElements)) {
    absl::Span<float> values = incoming_.mutable_floats();
    for (int64_t i = 0; i < kElements; ++i) values[i] = static_cast<float>(i % 7);
    for (int64_t i = 0; i < kChunks; ++i) {
      inputs_.push_back(
          {EncodeChunk({.codec = CodecId::kFp32}, incoming_.Slice(i * kChunkElements, kChunkElements), 1)});
    }
  }

  // What a node does with each chunk that arrives.
  void AddChunks() {
    for (int64_t i = 0; i < kChunks; ++i) {
      AccumulateChunk add(accumulators_.Slice(i * kChunkElements, kChunkElements), false, inputs_[i], kChunkElements);
      add.Run();
    }
  }

  void AddPlainly() { PlainAdd(accumulators_.mutable_floats(), incoming_.floats()); }

  // Whether the accumulators hold `additions` times the incoming numbers.
  bool IsRight(int additions) const {
    const absl::Span<const float> sums = accumulators_.floats();
    const absl::Span<const float> values = incoming_.floats();
    bool right = true;
    for (int64_t i = 0; i < kElements; ++i) right = right && sums[i] == additions * values[i];
    return right;
  }

 private:
  Buffer accumulators_;
  Buffer incoming_;
  std::vector<std::vector<CheckedChunk>> inputs_;  // per chunk
};

struct Medians {
  double aggregate_gb_per_s;
  double plain_gb_per_s;
  double ratio;
};

void Print(std::ostream& out, bool json, const Medians& medians) {
  if (json) {
    out << absl::StrFormat(R"({"bytes":%d,"chunk_elements":%d,"pairs":%d,"aggregate_gb_per_s":%.3f,)"
                           R"("plain_add_gb_per_s":%.3f,"ratio":%.3f})"
                           "\n",
                           kElements * sizeof(float), kChunkElements, kPairs, medians.aggregate_gb_per_s,
                           medians.plain_gb_per_s, medians.ratio);
  } else {
    out << absl::StrFormat(
        "aggregate: %.2f GB/s, plain memory add: %.2f GB/s, ratio %.2f (medians of %d interleaved pairs)\n",
        medians.aggregate_gb_per_s, medians.plain_gb_per_s, medians.ratio, kPairs);
  }
}

}  // namespace

int RunAggregateBenchmark(std::ostream& out, bool json) {
  Aggregation aggregation;
  aggregation.AddChunks();
  aggregation.AddPlainly();
  std::vector<double> chunk_rates, plain_rates, ratios;
  for (int pair = 0; pair < kPairs; ++pair) {
    double chunk_seconds = 0, plain_seconds = 0;
    const auto chunks_turn = [&] { chunk_seconds = SecondsOf([&] { aggregation.AddChunks(); }); };
    if (pair % 2 == 0) chunks_turn();
    plain_seconds = SecondsOf([&] { aggregation.AddPlainly(); });
    if (pair % 2 == 1) chunks_turn();
    chunk_rates.push_back(kTrafficBytes / chunk_seconds / 1e9);
    plain_rates.push_back(kTrafficBytes / plain_seconds / 1e9);
    ratios.push_back(plain_seconds / chunk_seconds);
  }
  Print(out, json,
        {.aggregate_gb_per_s = Median(chunk_rates), .plain_gb_per_s = Median(plain_rates), .ratio = Median(ratios)});
  return aggregation.IsRight(2 * (kPairs + 1)) ? 0 : 1;
}

}  // namespace banyan
