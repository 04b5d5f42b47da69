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

int64_t LowBytes(int64_t count, int low_bits) { return (count * low_bits + 7) / 8; }

// Runs the kernel without indices, sums what it counted of each tile, and runs it again with them.
template <typename CountAndRead>
void RunTwice(CountAndRead kernel, int64_t tiles, uint32_t* counts, uint32_t* indices, DeviceWork& work) {
  work.RunBlocks(tiles, kernel);
  work.RunBlocks(1, SumBeforeKernel{.numbers = counts, .count = tiles});
  kernel.indices = indices;
  work.RunBlocks(tiles, kernel);
}

int64_t Tiles(int64_t elements, int64_t tile) { return (elements + tile - 1) / tile; }

}  // namespace

SparseIndexForm SmallestIndexFormOnDevice(const DeviceIndices& indices, DeviceWork& work) {
  if (indices.count == 0) return {};
  GapSums* const device_sums = work.NewZeros<GapSums>(1);
  work.RunOver(indices.count, kIndexTile,
               SumGapsKernel{.indices = indices.data(), .count = indices.count, .sums = device_sums});
  const GapSums sums = work.Read(device_sums);
  if (!work.ok()) return {};
  return SmallestIndexForm(indices.count, static_cast<uint32_t>(sums.zeros[GapSums::kLast]),
                           [&](int low_bits) { return indices.count + static_cast<int64_t>(sums.zeros[low_bits]); });
}

void WriteIndicesOnDevice(const DeviceIndices& indices, const SparseIndexForm& form, int64_t at, uint32_t* words,
                          DeviceWork& work) {
  const int64_t tiles = Tiles(indices.count, kIndexTile);
  uint32_t* const zeros = work.New<uint32_t>(tiles);
  work.RunBlocks(
      tiles,
      CountZerosKernel{.indices = indices.data(), .count = indices.count, .low_bits = form.low_bits, .zeros = zeros});
  work.RunBlocks(1, SumBeforeKernel{.numbers = zeros, .count = tiles});
  work.RunBlocks(tiles, WriteIndicesKernel{.indices = indices.data(),
                                           .count = indices.count,
                                           .low_bits = form.low_bits,
                                           .zeros = zeros,
                                           .words = words,
                                           .low_at = 8 * at,
                                           .unary_at = 8 * (at + LowBytes(indices.count, form.low_bits))});
}

const uint32_t* ReadIndicesOnDevice(const uint8_t* bytes, const SparseIndexForm& form, int64_t count,
                                    DeviceWork& work) {
  uint32_t* const indices = work.New<uint32_t>(count);
  const int64_t low_bytes = LowBytes(count, form.low_bits);
  const int64_t unary_tiles = Tiles(form.size_bytes - low_bytes, kUnaryTile);
  uint32_t* const ones = work.New<uint32_t>(unary_tiles);
  RunTwice(ReadUnaryKernel{.bytes = bytes + low_bytes,
                           .size_bytes = form.size_bytes - low_bytes,
                           .low_bits = form.low_bits,
                           .ones = ones},
           unary_tiles, ones, indices, work);
  const int64_t tiles = Tiles(count, kIndexTile);
  uint32_t* const lows = work.New<uint32_t>(tiles);
  RunTwice(
      AddLowBitsKernel{
          .bytes = bytes, .size_bytes = low_bytes, .low_bits = form.low_bits, .count = count, .lows = lows},
      tiles, lows, indices, work);
  return indices;
}

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
