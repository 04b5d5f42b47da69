#include "compression/cuda/device_selection.h"

#include <algorithm>
#include <cstring>

#include "compression/codecs/stratified_choice.h"
#include "compression/codecs/top_k_selection.h"
#include "compression/cuda/device_work.h"

namespace banyan {
namespace {

constexpr int kDigitBits = 8;

// The highest `bits` bits of the rank-th largest magnitude, and the rank among the values that have them.
RankedMagnitude FindMagnitude(const float* values, int64_t elements, int64_t rank, int bits, DeviceWork& work) {
  const RankedMagnitude start = {.rank = static_cast<uint32_t>(rank)};
  RankedMagnitude* const found = work.New<RankedMagnitude>(1);
  WriteBytesKernel write{.count = sizeof(start), .to = reinterpret_cast<uint8_t*>(found)};
  std::memcpy(write.bytes, &start, sizeof(start));
  work.RunBlocks(1, write);
  const int lowest = kMagnitudeBits - bits;
  for (int shift = kMagnitudeBits; shift > lowest;) {
    const int digit_bits = std::min(kDigitBits, shift - lowest);
    shift -= digit_bits;
    uint32_t* const counts = work.NewZeros<uint32_t>(kDigits);
    work.RunOver(elements, CountDigitsKernel::kTile,
                 CountDigitsKernel{.values = values,
                                   .elements = elements,
                                   .found = found,
                                   .shift = shift,
                                   .bits = digit_bits,
                                   .counts = counts});
    work.RunBlocks(1, ChooseDigitKernel{.counts = counts, .shift = shift, .found = found});
  }
  return work.Read(found);
}

// How many values of all are above a rule's magnitude, and equal to it.
struct KeptTotals {
  uint32_t above_and_equal[2];
};

// The same before each tile, which listing needs, and how many are kept.
struct KeptCounts {
  int64_t tiles = 0;
  uint32_t* above = nullptr;
  uint32_t* equal = nullptr;
  int64_t kept = 0;
};

KeptCounts CountKept(const float* values, int64_t elements, const KeepRule& rule, DeviceWork& work) {
  KeptCounts counts;
  counts.tiles = (elements + kKeepTile - 1) / kKeepTile;
  counts.above = work.New<uint32_t>(2 * counts.tiles);
  KeptTotals* const totals = work.New<KeptTotals>(1);
  if (!work.ok()) return counts;
  counts.equal = counts.above + counts.tiles;
  work.RunBlocks(
      counts.tiles,
      CountKeptKernel{
          .values = values, .elements = elements, .rule = rule, .above = counts.above, .equal = counts.equal});
  work.RunBlocks(2, SumBeforeKernel{.numbers = counts.above, .count = counts.tiles, .totals = totals->above_and_equal});
  const KeptTotals read = work.Read(totals);
  counts.kept = rule.Kept(read.above_and_equal[0], read.above_and_equal[1]);
  return counts;
}

absl::StatusOr<DeviceIndices> ListKept(const float* values, int64_t elements, const KeepRule& rule,
                                       const KeptCounts& counts, DeviceWork& work) {
  DeviceIndices indices{.memory = work.NewBuffer(counts.kept * static_cast<int64_t>(sizeof(uint32_t)), DataType::kByte),
                        .count = counts.kept};
  work.RunBlocks(counts.tiles, ListKeptKernel{.values = values,
                                              .elements = elements,
                                              .rule = rule,
                                              .above = counts.above,
                                              .equal = counts.equal,
                                              .indices = static_cast<uint32_t*>(indices.memory.mutable_data())});
  if (!work.ok()) return work.status();
  return indices;
}

// What reaches the threshold that a sample gives.
KeepRule SampledRule(const float* values, int64_t elements, int64_t k, uint64_t seed, DeviceWork& work) {
  const TopKSample sample = TopKSampleOf(elements, k, 0);
  float* const samples = work.New<float>(sample.size);
  work.RunOver(
      sample.size, SampleKernel::kThreads,
      SampleKernel{
          .values = values, .strata = StrataOf(elements, sample.size, seed), .count = sample.size, .samples = samples});
  const Magnitude threshold = FindMagnitude(samples, sample.size, sample.rank, kSampledBits, work).digits;
  return {.above = std::max(threshold, kLeastKeptMagnitude) - 1};
}

}  // namespace

absl::StatusOr<DeviceIndices> SelectLargestOnDevice(const float* values, int64_t elements, int64_t k, Device& device) {
  DeviceWork work(device);
  const RankedMagnitude least = FindMagnitude(values, elements, k, kMagnitudeBits, work);
  KeepRule rule = {.above = least.digits, .equal_ones = least.rank};
  if (rule.above < kLeastKeptMagnitude) rule = {.above = kLeastKeptMagnitude - 1};
  const KeptCounts counts = CountKept(values, elements, rule, work);
  if (!work.ok()) return work.status();
  return ListKept(values, elements, rule, counts, work);
}

absl::StatusOr<DeviceIndices> SelectLargestSampledOnDevice(const float* values, int64_t elements, int64_t k,
                                                           uint64_t seed, Device& device) {
  DeviceWork work(device);
  const KeepRule rule = SampledRule(values, elements, k, seed, work);
  const KeptCounts counts = CountKept(values, elements, rule, work);
  if (!work.ok()) return work.status();
  if (!IsSampledNumberGood(counts.kept, k)) return SelectLargestOnDevice(values, elements, k, device);
  return ListKept(values, elements, rule, counts, work);
}

}  // namespace banyan
