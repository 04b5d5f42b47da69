#include "precision/audit/route_audit.h"

#include <algorithm>

namespace banyan {
namespace {

double Part(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double RouteCounts::low_bit_share() const { return Part(low_bit, rounds()); }

double RouteCounts::veto_share() const { return Part(fallback, low_bit + fallback); }

void RouteCounts::Add(const RouteCounts& other) {
  low_bit += other.low_bit;
  fallback += other.fallback;
  plain += other.plain;
  mixed += other.mixed;
  violations += other.violations;
  modelled_bits += other.modelled_bits;
  full_bits += other.full_bits;
  sent_bytes += other.sent_bytes;
}

RouteStatus RouteCounts::Status() const {
  return {static_cast<uint64_t>(low_bit),
          static_cast<uint64_t>(fallback),
          static_cast<uint64_t>(plain),
          static_cast<uint64_t>(mixed),
          static_cast<uint64_t>(violations),
          low_bit_share(),
          veto_share(),
          traffic_ratio(),
          static_cast<uint64_t>(sent_bytes)};
}

AuditStatus RouteAudit::Status() const {
  AuditStatus status{bits_per_element_, candidates_.Status(), all_.Status(), {}};
  for (const auto& [key, counts] : keys_) {
    status.keys.push_back({key, counts.Status(), {}});
    for (const auto& [first, of_slice] : SlicesOf(key)) {
      status.keys.back().slices.push_back({static_cast<uint64_t>(first), static_cast<uint64_t>(of_slice.elements),
                                           static_cast<uint64_t>(of_slice.low_bit),
                                           static_cast<uint64_t>(of_slice.fallback),
                                           static_cast<uint64_t>(of_slice.plain)});
    }
  }
  return status;
}

int64_t RouteAudit::Record(absl::string_view key, absl::Span<const SliceRoute> slices, int64_t sent_bytes,
                           int64_t rounds) {
  if (rounds == 0) return 0;
  const RouteCounts counts = CountsOf(slices, sent_bytes, rounds);
  auto found = keys_.find(key);
  if (found == keys_.end()) found = keys_.emplace(std::string(key), RouteCounts()).first;
  found->second.Add(counts);
  if (slices.size() > 1) Count(slices, rounds, slices_[found->first]);
  all_.Add(counts);
  if (std::any_of(slices.begin(), slices.end(), [](const SliceRoute& slice) { return slice.is_candidate; })) {
    candidates_.Add(counts);
  }
  return counts.violations;
}

void RouteAudit::Count(absl::Span<const SliceRoute> slices, int64_t rounds, Slices& counts) {
  int64_t first = 0;
  for (const SliceRoute& slice : slices) {
    SliceCounts& of_slice = counts[first];
    of_slice.elements = slice.elements;
    const bool is_low_bit = slice.observed == PrecisionRoute::kLowBit;
    const bool is_fallback = slice.observed == PrecisionRoute::kFallback;
    (is_low_bit ? of_slice.low_bit : is_fallback ? of_slice.fallback : of_slice.plain) += rounds;
    first += slice.elements;
  }
}

RouteCounts RouteAudit::CountsOf(absl::Span<const SliceRoute> slices, int64_t sent_bytes, int64_t rounds) const {
  RouteCounts counts;
  counts.sent_bytes = sent_bytes;
  bool has_low_bit = false;
  bool has_fallback = false;
  bool has_full = false;
  for (const SliceRoute& slice : slices) {
    const bool is_low_bit = slice.observed == PrecisionRoute::kLowBit;
    has_low_bit = has_low_bit || is_low_bit;
    has_fallback = has_fallback || slice.observed == PrecisionRoute::kFallback;
    has_full = has_full || !is_low_bit;
    counts.violations += slice.observed != slice.decided || (is_low_bit && !slice.is_candidate) ? rounds : 0;
    const double elements = static_cast<double>(slice.elements) * static_cast<double>(rounds);
    counts.modelled_bits += elements * (is_low_bit ? bits_per_element_ : kFullPrecisionBits);
    counts.full_bits += elements * kFullPrecisionBits;
  }
  (has_low_bit ? counts.low_bit : has_fallback ? counts.fallback : counts.plain) = rounds;
  counts.mixed = has_low_bit && has_full ? rounds : 0;
  return counts;
}

}  // namespace banyan
