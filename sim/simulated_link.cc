#include "sim/simulated_link.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

constexpr double kPacketBytes = 1448;

}  // namespace

SimulatedLink::SimulatedLink(const LinkOptions& options)
    : wire_(options.rate_bps),
      delay_ns_(absl::ToInt64Nanoseconds(options.delay)),
      jitter_ns_(absl::ToInt64Nanoseconds(options.jitter)),
      loss_fraction_(options.loss_fraction) {}

int64_t SimulatedLink::SendData(int64_t now_ns, int64_t size_bytes, Serializer* host, Random* random) {
  data_bytes_ += size_bytes;
  int64_t sent_ns = wire_.Reserve(now_ns, size_bytes);
  if (host != nullptr) sent_ns = std::max(sent_ns, host->Reserve(now_ns, size_bytes));
  return sent_ns + TravelNs(size_bytes, random);
}

int64_t SimulatedLink::SendControl(int64_t now_ns, int64_t size_bytes, Random* random) {
  control_bytes_ += size_bytes;
  wire_.Reserve(now_ns, size_bytes);
  return now_ns + wire_.DurationNs(size_bytes) + TravelNs(size_bytes, random);
}

int64_t SimulatedLink::TravelNs(int64_t size_bytes, Random* random) const {
  int64_t travel_ns = delay_ns_;
  if (jitter_ns_ > 0) travel_ns += random->Between(0, jitter_ns_);
  if (loss_fraction_ > 0) {
    const double packets = std::ceil(static_cast<double>(size_bytes) / kPacketBytes);
    if (random->Chance(std::min(1.0, packets * loss_fraction_))) travel_ns += 2 * delay_ns_;
  }
  return travel_ns;
}

}  // namespace banyan
