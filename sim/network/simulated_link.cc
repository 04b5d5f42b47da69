#include "sim/network/simulated_link.h"

#include <algorithm>

namespace banyan {
namespace {

// Of a packet of 1500 bytes, with the time stamps that Linux puts into TCP's header.
constexpr int64_t kPacketBytes = 1448;
constexpr int64_t kHeaderBytes = 52;
// A receiver acknowledges every second one (RFC 1122, section 4.2.3.2).
constexpr int64_t kLeastQueueNs = 50'000'000;
constexpr int64_t kPacketsPerAcknowledgement = 2;

int64_t PacketsOf(int64_t size_bytes) { return (size_bytes + kPacketBytes - 1) / kPacketBytes; }

}  // namespace

SimulatedLink::SimulatedLink(const LinkOptions& options)
    : wire_(options.rate_bps),
      foreign_(options.rate_bps),
      delay_ns_(absl::ToInt64Nanoseconds(options.delay)),
      jitter_ns_(absl::ToInt64Nanoseconds(options.jitter)),
      loss_fraction_(options.loss_fraction),
      has_headers_(options.has_headers) {}

int64_t SimulatedLink::SendData(int64_t now_ns, int64_t size_bytes, Serializer* host, Random* random) {
  data_bytes_ += size_bytes;
  int64_t sent_ns = wire_.Reserve(now_ns, OnWire(size_bytes));
  if (host != nullptr) sent_ns = std::max(sent_ns, host->Reserve(now_ns, OnWire(size_bytes)));
  for (Serializer* wire : shared_) sent_ns = std::max(sent_ns, wire->Reserve(now_ns, OnWire(size_bytes)));
  return sent_ns + TravelNs(size_bytes, random);
}

int64_t SimulatedLink::SendControl(int64_t now_ns, int64_t size_bytes, Random* random) {
  control_bytes_ += size_bytes;
  wire_.Reserve(now_ns, OnWire(size_bytes));
  for (Serializer* wire : shared_) wire->Reserve(now_ns, OnWire(size_bytes));
  return now_ns + wire_.DurationNs(OnWire(size_bytes)) + TravelNs(size_bytes, random);
}

void SimulatedLink::SendForeign(int64_t now_ns, int64_t size_bytes) {
  if (foreign_.BacklogNs(now_ns) > std::max(kLeastQueueNs, 2 * delay_ns_)) return;
  foreign_.Reserve(now_ns, size_bytes);
  wire_.Reserve(now_ns, size_bytes);
  for (Serializer* wire : shared_) wire->Reserve(now_ns, size_bytes);
}

void SimulatedLink::SendAcknowledgements(int64_t now_ns, int64_t acknowledged_bytes) {
  if (!has_headers_) return;
  const int64_t packets = PacketsOf(acknowledged_bytes);
  wire_.Reserve(now_ns, (packets + kPacketsPerAcknowledgement - 1) / kPacketsPerAcknowledgement * kHeaderBytes);
}

void SimulatedLink::Degrade(double rate_share, absl::Duration more_delay, absl::Duration more_jitter) {
  wire_.set_rate_bps(wire_.rate_bps() / rate_share_ * rate_share);
  rate_share_ = rate_share;
  more_delay_ns_ = absl::ToInt64Nanoseconds(more_delay);
  more_jitter_ns_ = absl::ToInt64Nanoseconds(more_jitter);
}

int64_t SimulatedLink::OnWire(int64_t size_bytes) const {
  return has_headers_ ? size_bytes + PacketsOf(size_bytes) * kHeaderBytes : size_bytes;
}

int64_t SimulatedLink::TravelNs(int64_t size_bytes, Random* random) const {
  int64_t travel_ns = delay_ns_ + more_delay_ns_;
  const int64_t jitter_ns = jitter_ns_ + more_jitter_ns_;
  if (jitter_ns > 0) travel_ns += random->Between(0, jitter_ns);
  if (loss_fraction_ > 0) {
    const auto packets = static_cast<double>(PacketsOf(size_bytes));
    if (random->Chance(std::min(1.0, packets * loss_fraction_))) travel_ns += 2 * delay_ns_;
  }
  return travel_ns;
}

}  // namespace banyan
