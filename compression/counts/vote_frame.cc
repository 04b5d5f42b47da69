#include "compression/counts/vote_frame.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "compression/counts/vote_values.h"
#include "compression/kernels/little_endian.h"
#include "compression/kernels/sign_layout.h"
#include "core/check.h"

namespace banyan {
namespace {

enum class DecisionForm : uint8_t { kSigns = 0, kSignsAndZeros = 1, kMean = 2, kMeanWithZeroVotes = 3 };

constexpr int64_t kScaleBytes = sizeof(float);
constexpr int64_t kWeightBytes = sizeof(uint32_t);

void AppendPlanes(const std::vector<uint64_t>& planes, int64_t elements, std::vector<uint8_t>& bytes) {
  for (int64_t word = 0; word < static_cast<int64_t>(planes.size()); word += PlaneWords(elements)) {
    const auto* const plane = reinterpret_cast<const uint8_t*>(planes.data() + word);
    bytes.insert(bytes.end(), plane, plane + SignBytes(elements));
  }
}

// REQUIRES: bytes for `count` planes.
std::vector<uint64_t> TakePlanes(const uint8_t* bytes, int64_t count, int64_t elements) {
  std::vector<uint64_t> planes(static_cast<size_t>(count * PlaneWords(elements)));
  for (int64_t plane = 0; plane < count && elements > 0; ++plane) {
    std::memcpy(planes.data() + plane * PlaneWords(elements), bytes + plane * SignBytes(elements),
                static_cast<size_t>(SignBytes(elements)));
  }
  return planes;
}

template <typename Number>
void AppendNumber(Number number, std::vector<uint8_t>& bytes) {
  bytes.resize(bytes.size() + sizeof(number));
  StoreLittleEndian(number, bytes.data() + bytes.size() - sizeof(number));
}

ScaleSum TakeScales(const uint8_t* bytes) {
  return ScaleSum::OfUnits(
      absl::MakeUint128(LoadLittleEndian<uint64_t>(bytes + sizeof(uint64_t)), LoadLittleEndian<uint64_t>(bytes)));
}

int64_t PlanesOf(int64_t weight, bool has_zero_votes) { return CountWidth(weight) * (has_zero_votes ? 2 : 1); }

absl::Status CheckSize(int64_t expected, size_t got, const char* what) {
  if (static_cast<int64_t>(got) == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected %d bytes of %s, got %d; its sender has another layout of the key, or another version",
                      expected, what, got));
}

absl::StatusOr<VoteDecision> DecodeSigns(absl::Span<const uint8_t> bytes, int64_t elements, bool has_zeros) {
  const absl::Status size =
      CheckSize(kScaleBytes + SignBytes(elements) * (has_zeros ? 2 : 1), bytes.size(), "a low-bit result");
  if (!size.ok()) return size;
  const float scale = LoadLittleEndian<float>(bytes.data());
  if (scale < 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected a scale of a low-bit result of 0 or more, got %g", scale));
  }
  std::vector<uint64_t> above = TakePlanes(bytes.data() + kScaleBytes, 1, elements);
  std::optional<std::vector<uint64_t>> below;
  if (has_zeros) below = TakePlanes(bytes.data() + kScaleBytes + SignBytes(elements), 1, elements);
  bool is_clear = elements == 0 || IsPlaneEndClear(elements, above.data());
  for (size_t i = 0; below.has_value() && i < above.size(); ++i) is_clear = is_clear && (above[i] & (*below)[i]) == 0;
  if (below.has_value() && elements > 0) is_clear = is_clear && IsPlaneEndClear(elements, below->data());
  if (!is_clear) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "expected one direction for each of %d elements and zero bits after them, got others", elements));
  }
  return VoteDecision::OfSigns(elements, scale, std::move(above), std::move(below));
}

absl::StatusOr<VoteDecision> DecodeMean(absl::Span<const uint8_t> bytes, int64_t elements, bool has_zero_votes) {
  if (static_cast<int64_t>(bytes.size()) < kWeightBytes) return CheckSize(kWeightBytes, bytes.size(), "a low-bit mean");
  const int64_t weight = LoadLittleEndian<uint32_t>(bytes.data());
  bytes.remove_prefix(kWeightBytes);
  absl::StatusOr<VoteCount> count = DecodeCount(bytes, elements, weight, has_zero_votes);
  if (!count.ok()) return count.status();
  return VoteDecision::OfCounts(*std::move(count));
}

DecisionForm FormOf(absl::Span<const uint8_t> bytes) {
  BANYAN_CHECK(!bytes.empty());
  return static_cast<DecisionForm>(bytes[0]);
}

bool IsMean(DecisionForm form) { return form == DecisionForm::kMean || form == DecisionForm::kMeanWithZeroVotes; }

}  // namespace

int64_t CountFrameBytes(int64_t elements, int64_t weight, bool has_zero_votes) {
  return ScaleSum::kBytes + SignBytes(elements) * PlanesOf(weight, has_zero_votes);
}

void AppendCount(const VoteCount& count, std::vector<uint8_t>& bytes) {
  AppendNumber(absl::Uint128Low64(count.scales().units()), bytes);
  AppendNumber(absl::Uint128High64(count.scales().units()), bytes);
  AppendPlanes(count.planes(), count.elements(), bytes);
}

std::vector<uint8_t> EncodeCount(const VoteCount& count) {
  std::vector<uint8_t> bytes;
  bytes.reserve(static_cast<size_t>(CountFrameBytes(count.elements(), count.weight(), count.has_zero_votes())));
  AppendCount(count, bytes);
  return bytes;
}

absl::StatusOr<VoteCount> DecodeCount(absl::Span<const uint8_t> bytes, int64_t elements, int64_t weight,
                                      bool has_zero_votes) {
  if (weight < 0 || weight > kMaxVotes) {
    return absl::InvalidArgumentError(absl::StrFormat("expected 0 to %d votes in a count, got %d", kMaxVotes, weight));
  }
  const absl::Status size = CheckSize(CountFrameBytes(elements, weight, has_zero_votes), bytes.size(), "counts");
  if (!size.ok()) return size;
  return VoteCount::OfPlanes(elements, has_zero_votes, weight, TakeScales(bytes.data()),
                             TakePlanes(bytes.data() + ScaleSum::kBytes, PlanesOf(weight, has_zero_votes), elements));
}

VoteCount ReadCount(absl::Span<const uint8_t> bytes, int64_t elements, int64_t weight, bool has_zero_votes) {
  BANYAN_CHECK(static_cast<int64_t>(bytes.size()) == CountFrameBytes(elements, weight, has_zero_votes));
  return VoteCount::OfCheckedPlanes(
      elements, has_zero_votes, weight, TakeScales(bytes.data()),
      TakePlanes(bytes.data() + ScaleSum::kBytes, PlanesOf(weight, has_zero_votes), elements));
}

std::vector<uint8_t> EncodeDecision(const VoteDecision& decision) {
  std::vector<uint8_t> bytes;
  if (decision.counts().has_value()) {
    const VoteCount& count = *decision.counts();
    bytes.push_back(
        static_cast<uint8_t>(count.has_zero_votes() ? DecisionForm::kMeanWithZeroVotes : DecisionForm::kMean));
    AppendNumber(static_cast<uint32_t>(count.weight()), bytes);
    AppendCount(count, bytes);
    return bytes;
  }
  const bool has_zeros = decision.below().has_value();
  bytes.push_back(static_cast<uint8_t>(has_zeros ? DecisionForm::kSignsAndZeros : DecisionForm::kSigns));
  AppendNumber(decision.scale(), bytes);
  AppendPlanes(decision.above(), decision.elements(), bytes);
  if (has_zeros) AppendPlanes(*decision.below(), decision.elements(), bytes);
  return bytes;
}

absl::StatusOr<VoteDecision> DecodeDecision(absl::Span<const uint8_t> bytes, int64_t elements) {
  if (bytes.empty()) return CheckSize(1, 0, "a low-bit result at least");
  const absl::Span<const uint8_t> rest = bytes.subspan(1);
  switch (static_cast<DecisionForm>(bytes[0])) {
    case DecisionForm::kSigns:
      return DecodeSigns(rest, elements, false);
    case DecisionForm::kSignsAndZeros:
      return DecodeSigns(rest, elements, true);
    case DecisionForm::kMean:
      return DecodeMean(rest, elements, false);
    case DecisionForm::kMeanWithZeroVotes:
      return DecodeMean(rest, elements, true);
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "expected a form of a low-bit result from 0 to 3, got %d; its sender has another version", bytes[0]));
}

void WriteDecision(absl::Span<const uint8_t> bytes, absl::Span<float> values) {
  const DecisionForm form = FormOf(bytes);
  const int64_t plane_bytes = SignBytes(static_cast<int64_t>(values.size()));
  if (!IsMean(form)) {
    const uint8_t* const above = bytes.data() + 1 + kScaleBytes;
    return WriteDirections(above, form == DecisionForm::kSigns ? nullptr : above + plane_bytes, ScaleOfDecision(bytes),
                           values);
  }
  VoteLeads leads;
  leads.weight = LoadLittleEndian<uint32_t>(bytes.data() + 1);
  leads.votes_for = {bytes.data() + 1 + kWeightBytes + ScaleSum::kBytes, plane_bytes, CountWidth(leads.weight)};
  leads.has_zero_votes = form == DecisionForm::kMeanWithZeroVotes;
  leads.votes_against = leads.votes_for;
  leads.votes_against.first += leads.votes_for.width * plane_bytes;
  WriteLeads(leads, StepOfMean(ScaleOfDecision(bytes), leads.weight), values);
}

float ScaleOfDecision(absl::Span<const uint8_t> bytes) {
  if (!IsMean(FormOf(bytes))) return LoadLittleEndian<float>(bytes.data() + 1);
  return TakeScales(bytes.data() + 1 + kWeightBytes).Mean(LoadLittleEndian<uint32_t>(bytes.data() + 1));
}

}  // namespace banyan
