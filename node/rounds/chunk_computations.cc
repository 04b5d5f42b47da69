#include "node/rounds/chunk_computations.h"

#include <algorithm>

#include "compression/element_types.h"
#include "compression/encoded_chunk.h"
#include "compression/error_feedback.h"
#include "compression/kernels/vector_math.h"
#include "compression/netsense_encoding.h"
#include "compression/prune.h"
#include "core/check.h"
#include "xxhash.h"

namespace banyan {
namespace {

constexpr int64_t kBytesPerElement = sizeof(float);
// Times that error feedback reads or writes the chunk: residual and sum added, the sum encoded, the residual decoded
// and subtracted.
constexpr int64_t kFeedbackPasses = 8;
// Times that pruning reads or writes as much: the sum copied, the weights searched for their threshold (a sample, or
// once for each second bit from a cache), weights read and gradients written.
constexpr int64_t kPruningPasses = 8;

}  // namespace

AccumulateChunk::AccumulateChunk(Buffer accumulator, bool accumulator_is_fresh, std::vector<CheckedChunk> inputs,
                                 int64_t elements, DataType type, const ChunkDevice& device)
    : accumulator_(std::move(accumulator)),
      is_fresh_(accumulator_is_fresh || accumulator_.empty()),
      inputs_(std::move(inputs)),
      elements_(elements),
      type_(type),
      device_(device) {
  BANYAN_CHECK(accumulator_.empty() || (accumulator_.elements() == elements && accumulator_.type() == type));
  std::erase_if(inputs_, [](const CheckedChunk& input) { return input.empty(); });
  // Without an input to replace what lay there, the chunk that says nothing gives zeros.
  if (is_fresh_ && inputs_.empty()) inputs_.emplace_back();
  const size_t saved = AddsTwoAtOnce(inputs_, is_fresh_) ? 2 : 0;
  const auto passes = static_cast<int64_t>(2 * inputs_.size() - (is_fresh_ ? 1 : 0) - saved);
  size_bytes_ = passes * elements_ * SizeOf(type_);
  for (const CheckedChunk& input : inputs_) size_bytes_ += input.payload_bytes();
}

void AccumulateChunk::Run() {
  if (accumulator_.empty()) accumulator_ = Buffer::AllocateForOverwrite(elements_, type_);
  device_.Add(inputs_, is_fresh_, accumulator_);
}

CompressChunk::CompressChunk(Buffer sum, uint32_t weight, Encoding encoding, Buffer residual, Buffer weights,
                             const ChunkDevice& device)
    : sum_(std::move(sum)),
      weight_(weight),
      encoding_(encoding),
      residual_(std::move(residual)),
      weights_(std::move(weights)),
      device_(device) {
  BANYAN_CHECK(residual_.empty() || residual_.elements() == sum_.elements());
  BANYAN_CHECK(weights_.empty() || (weights_.elements() == sum_.elements() && encoding_.codec == CodecId::kTopK));
}

void CompressChunk::Run() {
  const bool has_residual = !residual_.empty();
  if (has_residual) {
    AddResidual(residual_.floats(), sum_.mutable_floats());
    next_residual_ = Buffer::AllocateForOverwrite(sum_.elements());
  }
  encoding_ = WithoutOverflow(Quantized(encoding_, sum_.floats()), sum_.floats());
  encoded_ = CutToShare(device_.Encode(encoding_, Pruned(), weight_), encoding_.share);
  if (has_residual) KeepDropped(encoded_, sum_.floats(), 1, next_residual_, device_);
}

Buffer CompressChunk::Pruned() {
  const double share = weights_.empty() ? 0 : PrunedShare(encoding_);
  if (share == 0) return sum_;
  Buffer pruned = sum_;
  if (!next_residual_.empty()) {
    // The sum is still needed for what is dropped, and the next residual's memory is free until then. Top-k copies what
    // it keeps.
    pruned = next_residual_;
    std::copy(sum_.floats().begin(), sum_.floats().end(), pruned.mutable_floats().begin());
  }
  PruneSmallestWeights(weights_.floats(), share, encoding_.selection, encoding_.seed, pruned.mutable_floats());
  return pruned;
}

int64_t CompressChunk::size_bytes() const {
  const int64_t passes = (residual_.empty() ? 1 : kFeedbackPasses) + (weights_.empty() ? 0 : kPruningPasses);
  return sum_.size_bytes() * passes;
}

void CutRemainder::Run() {
  const size_t frames = sum_.encoded().frames.size();
  Buffer whole = Buffer::AllocateForOverwrite(sum_.elements());
  device_.Add(absl::MakeConstSpan(&sum_, 1), true, whole);
  left_ = Buffer::AllocateForOverwrite(sum_.elements());
  KeepDropped(CutChunk(sum_, frames - std::min<size_t>(frames, cut_frames_)), whole.floats(), 1, left_, device_);
}

int64_t CutRemainder::size_bytes() const {
  return 2 * sum_.payload_bytes() + kFeedbackPasses * sum_.elements() * kBytesPerElement;
}

FinishChunk::FinishChunk(Buffer sum, uint32_t weight, AggregationOp op, Coding coding, const ChunkDevice& device)
    : sum_(std::move(sum)),
      weight_(weight),
      divides_(op != AggregationOp::kSum && weight > 0),
      coding_(std::move(coding)),
      device_(device) {}

void FinishChunk::RunExact() {
  if (divides_) DivideExact(sum_, weight_);
  result_ = PlainChunk(sum_, weight_);
}

void FinishChunk::Run() {
  if (IsExact(sum_.type())) return RunExact();
  const bool has_residual = !coding_.residual.empty() && weight_ > 0;
  const float divisor = divides_ ? static_cast<float>(weight_) : 1.0f;
  if (has_residual) AddResidual(coding_.residual.floats(), sum_.mutable_floats());
  if (divisor != 1) Scale(sum_.mutable_floats(), 1.0f / divisor);
  const Encoding encoding = WithoutOverflow(Quantized(coding_.encoding, sum_.floats()), sum_.floats());
  result_ = CutToShare(device_.Encode(encoding, sum_, weight_), coding_.encoding.share);
  if (!has_residual) return;
  next_residual_ = Buffer::AllocateForOverwrite(sum_.elements());
  KeepDropped(result_, sum_.floats(), divisor, next_residual_, device_);
}

int64_t FinishChunk::size_bytes() const {
  const bool is_lossy = coding_.encoding.codec != CodecId::kFp32;
  const int64_t coding_bytes = is_lossy ? sum_.size_bytes() * (coding_.residual.empty() ? 1 : kFeedbackPasses) : 0;
  return coding_bytes + (divides_ ? 2 * sum_.size_bytes() : 0);
}

ReadResult::ReadResult(CheckedChunk result, std::optional<OptimizerStep> optimizer, DataType type,
                       const ChunkDevice& device)
    : result_(std::move(result)), optimizer_(std::move(optimizer)), type_(type), device_(device) {
  BANYAN_CHECK(!optimizer_.has_value() || optimizer_->parameters.elements() == result_.elements());
}

void ReadResult::Run() {
  values_ = Decoded();
  if (optimizer_.has_value()) MakeStep(*optimizer_, values_.mutable_floats());
  hash_ = XXH3_64bits(values_.data(), values_.size_bytes());
}

int64_t ReadResult::size_bytes() const {
  const int64_t values_bytes = result_.elements() * SizeOf(type_);
  if (optimizer_.has_value()) {
    const OptimizerSlices& slices = optimizer_->slices;
    const int64_t stepped_bytes =
        2 * values_bytes + slices.first_moment.size_bytes() + slices.second_moment.size_bytes();
    return result_.payload_bytes() + 2 * values_bytes + 2 * stepped_bytes;
  }
  if (IsPlainArray(result_, type_)) return values_bytes;
  return result_.payload_bytes() + 2 * values_bytes;
}

Buffer ReadResult::Decoded() const {
  // The frame is others' too, and a step writes.
  if (!optimizer_.has_value() && IsPlainArray(result_, type_)) return result_.encoded().payload[0].As(type_);
  Buffer values = Buffer::AllocateForOverwrite(result_.elements(), type_);
  device_.Add(absl::MakeConstSpan(&result_, 1), true, values);
  return values;
}

}  // namespace banyan
