// Counts the payload of gradients and results that this node has sent, beside what floats would have taken.
// Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - A chunk counts when it is handed to the network: what that sends again counts once.
#ifndef BANYAN_NODE_SENT_TRAFFIC_H_
#define BANYAN_NODE_SENT_TRAFFIC_H_

#include <cstdint>

#include "core/buffer.h"
#include "proto/chunk_message.h"
#include "proto/precision/key_routes.h"
#include "proto/precision/precision_report.h"

namespace banyan {

class SentTraffic {
 public:
  // Broadcasts and flushes are none of it.
  void Count(const ChunkMessage& message, const Payload& payload) {
    if (message.kind != RoundKind::kAggregate) return;
    Count(message, payload, all_);
    if (message.precision == PrecisionRoute::kLowBit) Count(message, payload, low_bit_);
  }
  void AddTo(PrecisionReport& report) const {
    report.all = all_;
    report.low_bit = low_bit_;
  }

 private:
  static void Count(const ChunkMessage& message, const Payload& payload, PrecisionReport::Traffic& traffic) {
    for (const Buffer& frame : payload) traffic.sent_bytes += static_cast<uint64_t>(frame.size_bytes());
    traffic.full_bytes += static_cast<uint64_t>(message.elements) * sizeof(float);
  }

  PrecisionReport::Traffic all_;
  PrecisionReport::Traffic low_bit_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_SENT_TRAFFIC_H_
