// How queues may cut chunks whose codec allows it: the part of JobConfig that overlay.yaml has under `trimming`.
// Values; thread-compatible.
#ifndef BANYAN_PROTO_TRIMMING_CONFIG_H_
#define BANYAN_PROTO_TRIMMING_CONFIG_H_

#include <cstdint>

#include "proto/fields.h"

namespace banyan {

// When a chunk loses its last levels as it leaves a queue. The policies are in node/trim/trim_policy.h.
enum class TrimPolicyKind : uint8_t {
  kDeadline,  // it is later than it was in rounds without congestion
  kQueue,     // too much waits behind it, as in a switch
  kRandom,    // by chance, for studies
  kOff
};
// The last of them.
inline constexpr TrimPolicyKind kLastTrimPolicy = TrimPolicyKind::kOff;

// Returns the name that overlay.yaml has for it.
inline constexpr const char* NameOf(TrimPolicyKind kind) {
  switch (kind) {
    case TrimPolicyKind::kDeadline:
      return "deadline";
    case TrimPolicyKind::kQueue:
      return "queue";
    case TrimPolicyKind::kRandom:
      return "random";
    case TrimPolicyKind::kOff:
      break;
  }
  return "off";
}

struct TrimmingConfig {
  TrimPolicyKind policy = TrimPolicyKind::kDeadline;
  int64_t queue_bytes = 1'000'000;  // queue: cut while more than this waits
  double share = 0.5;               // random: of the chunks that leave a queue

  friend bool operator==(const TrimmingConfig&, const TrimmingConfig&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TrimmingConfig& m) {
  v(1, "policy", m.policy, UpTo{kLastTrimPolicy});
  v(2, "queue_bytes", m.queue_bytes, Range{int64_t{0}, int64_t{1} << 50});
  v(3, "share", m.share, Range{0.0, 1.0});
}

}  // namespace banyan

#endif  // BANYAN_PROTO_TRIMMING_CONFIG_H_
