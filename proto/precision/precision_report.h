// What a node tells of its part in low-bit rounds, since it began: the bytes it has sent, and how fast its processors
// work. Plain values.
#ifndef BANYAN_PROTO_PRECISION_PRECISION_REPORT_H_
#define BANYAN_PROTO_PRECISION_PRECISION_REPORT_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "proto/fields.h"

namespace banyan {

// Adding up floats; casting votes of gradients; counting and deciding votes.
enum class ServiceKind : uint8_t { kSum, kCast, kCount };
inline constexpr ServiceKind kLastServiceKind = ServiceKind::kCount;

struct PrecisionReport {
  // Payload of gradients and their results, on all hops, and what floats would have taken in their place.
  struct Traffic {
    uint64_t sent_bytes = 0;
    uint64_t full_bytes = 0;
    friend bool operator==(const Traffic&, const Traffic&) = default;
  };
  // Bytes that computations have read and written, and the time that one thread took for them.
  struct Service {
    ServiceKind kind = ServiceKind::kSum;
    uint64_t bytes = 0;
    absl::Duration time = absl::ZeroDuration();
    friend bool operator==(const Service&, const Service&) = default;
  };
  static constexpr int kMostServices = 3;  // each kind once
  static constexpr uint32_t kMostThreads = 4096;

  Traffic all;
  Traffic low_bit;  // part of it
  std::vector<Service> services;
  uint32_t threads = 1;  // that compute at once
  friend bool operator==(const PrecisionReport&, const PrecisionReport&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PrecisionReport::Traffic& m) {
  v(1, "sent_bytes", m.sent_bytes);
  v(2, "full_bytes", m.full_bytes);
}

template <typename Visitor>
void Fields(Visitor& v, PrecisionReport::Service& m) {
  v(1, "kind", m.kind, Range{ServiceKind::kSum, kLastServiceKind});
  v(2, "bytes", m.bytes);
  v(3, "time_ns", m.time, kNotNegative);
}

template <typename Visitor>
void Fields(Visitor& v, PrecisionReport& m) {
  v(1, "all", m.all);
  v(2, "low_bit", m.low_bit);
  v(3, "services", m.services, Entries{0, PrecisionReport::kMostServices});
  v(4, "threads", m.threads, Range{0u, PrecisionReport::kMostThreads});
  v.Check([&m](FieldReader&) { m.threads = std::max(1u, m.threads); });
}

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_PRECISION_REPORT_H_
