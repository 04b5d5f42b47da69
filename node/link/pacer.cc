#include "node/link/pacer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace banyan {

Pacer::Pacer(const std::vector<ConnectionId>& connections) {
  for (const ConnectionId connection : connections) shares_[connection];
}

void Pacer::SendPaced(Timestamp now, double pace_bps, const LinkChunks& chunks, Actions& actions,
                      absl::FunctionRef<void()> send) {
  CountSent(now, pace_bps);
  const auto first_sent = static_cast<std::ptrdiff_t>(actions.size());
  send();
  const auto first_paced = static_cast<std::ptrdiff_t>(actions.size());
  SharePace(pace_bps, chunks, actions);
  // The pace that these chunks bring about holds for them already.
  std::rotate(actions.begin() + first_sent, actions.begin() + first_paced, actions.end());
}

void Pacer::OnSent(ConnectionId connection, int64_t size_bytes) {
  shares_.at(connection).unsent_bytes += static_cast<double>(size_bytes);
}

void Pacer::OnConnectionDown(ConnectionId connection) {
  const auto lost = shares_.find(connection);
  if (lost != shares_.end()) lost->second.unsent_bytes = 0;
}

double Pacer::unsent_bytes(ConnectionId connection) const { return shares_.at(connection).unsent_bytes; }

void Pacer::CountSent(Timestamp now, double pace_bps) {
  const double seconds = absl::ToDoubleSeconds(now - counted_at_);
  counted_at_ = now;
  for (auto& [id, share] : shares_) {
    const double paced_bytes = pace_bps / 8 / static_cast<double>(carriers_) * seconds;
    // Nobody knows how fast a connection is that has no pace.
    share.unsent_bytes = pace_bps == kUnpaced ? 0 : std::max(0.0, share.unsent_bytes - paced_bytes);
  }
}

void Pacer::SharePace(double pace_bps, const LinkChunks& chunks, Actions& actions) {
  carriers_ = std::max<int64_t>(1, std::count_if(shares_.begin(), shares_.end(),
                                                 [](const auto& entry) { return entry.second.unsent_bytes > 0; }));
  const bool has_pace = chunks.in_flight_bytes() >= kLeastPacedChunkBytes * static_cast<int64_t>(chunks.sent().size());
  const double part_bps = has_pace ? pace_bps / static_cast<double>(carriers_) : kUnpaced;
  for (auto& [id, share] : shares_) {
    if (chunks.connections().in_flight_bytes(id) == 0 || share.pace_bps == part_bps) continue;
    share.pace_bps = part_bps;
    actions.emplace_back(std::in_place_type<Pace>, Pace{id, part_bps});
  }
}

}  // namespace banyan
