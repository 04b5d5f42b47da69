// Counts the routes that gradients took, by key, and holds each against what was decided: L low-bit, F fallback, P
// plain FP32 (NEURON-Fabric, Wang, Huang and Lung, 2026, sections 3.2 and 5.4). Thread-compatible; owned by whoever
// decides.
//
// Invariants:
// - Counting changes no decision.
#ifndef BANYAN_PRECISION_AUDIT_ROUTE_AUDIT_H_
#define BANYAN_PRECISION_AUDIT_ROUTE_AUDIT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/precision/key_routes.h"
#include "proto/status.h"

namespace banyan {

// The modelled gradient-communication traffic ratio, MGTR (NEURON-Fabric, Wang, Huang and Lung, 2026, section 3.2):
// bits of the routes that were taken over bits of FP32. It counts payload alone; the bytes that were really sent are
// told beside it.
inline constexpr double kFullPrecisionBits = 32;

// Returns the ratio where `low_bit_share` of the rounds are low-bit for `candidate_share` of the elements, with
// `bits_per_element` each. The paper takes log2(3) for DistilBERT and BERT and 2 for the Pythias.
inline double TrafficRatio(double low_bit_share, double candidate_share, double bits_per_element) {
  return 1 - low_bit_share * candidate_share * (1 - bits_per_element / kFullPrecisionBits);
}

// What became of a slice in a round.
struct SliceRoute {
  int64_t elements = 0;
  bool is_candidate = false;
  PrecisionRoute decided = PrecisionRoute::kPlain;
  PrecisionRoute observed = PrecisionRoute::kPlain;
};

// Of one key, or of all. A key's round counts as low-bit where a slice of it is, else as fallback where one is.
struct RouteCounts {
  int64_t low_bit = 0;
  int64_t fallback = 0;
  int64_t plain = 0;
  int64_t mixed = 0;       // low-bit rounds in which other slices were FP32
  int64_t violations = 0;  // slices whose route was not the one decided, or low-bit without being candidates
  double modelled_bits = 0;
  double full_bits = 0;  // of the same rounds at FP32
  int64_t sent_bytes = 0;

  int64_t rounds() const { return low_bit + fallback + plain; }
  // L / (L + F + P); 0 without a round.
  double low_bit_share() const;
  // F / (L + F): the part of admitted rounds that was vetoed.
  double veto_share() const;
  // MGTR; 1 without a round.
  double traffic_ratio() const { return full_bits > 0 ? modelled_bits / full_bits : 1; }

  void Add(const RouteCounts& other);
  RouteStatus Status() const;
};

class RouteAudit {
 public:
  // Rounds of one slice by the routes that it took.
  struct SliceCounts {
    int64_t elements = 0;
    int64_t low_bit = 0;
    int64_t fallback = 0;
    int64_t plain = 0;
  };
  using Slices = std::map<int64_t, SliceCounts>;  // by first element

  // `bits_per_element` is what a low-bit element counts for in modelled traffic.
  explicit RouteAudit(double bits_per_element) : bits_per_element_(bits_per_element) {}

  // Takes `rounds` rounds of `key`; `sent_bytes` is what their payload really took, on all links together, 0 where
  // nobody knows. Returns how many violations they have.
  int64_t Record(absl::string_view key, absl::Span<const SliceRoute> slices, int64_t sent_bytes, int64_t rounds = 1);

  double bits_per_element() const { return bits_per_element_; }
  const std::map<std::string, RouteCounts, std::less<>>& keys() const { return keys_; }
  // Returns the slices of a key; none where it is one.
  Slices SlicesOf(absl::string_view key) const {
    const auto found = slices_.find(key);
    return found == slices_.end() ? Slices() : found->second;
  }
  // Of the keys that have candidates: what low-bit and veto shares are told of.
  const RouteCounts& candidates() const { return candidates_; }
  // Of all keys: what traffic and violations are told of.
  const RouteCounts& all() const { return all_; }
  // What `status` and the file of a run tell of it.
  AuditStatus Status() const;

 private:
  static void Count(absl::Span<const SliceRoute> slices, int64_t rounds, Slices& counts);
  RouteCounts CountsOf(absl::Span<const SliceRoute> slices, int64_t sent_bytes, int64_t rounds) const;

  double bits_per_element_;
  std::map<std::string, RouteCounts, std::less<>> keys_;
  std::map<std::string, Slices, std::less<>> slices_;  // of keys of several
  RouteCounts candidates_;
  RouteCounts all_;
};

}  // namespace banyan

#endif  // BANYAN_PRECISION_AUDIT_ROUTE_AUDIT_H_
