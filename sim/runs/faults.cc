#include "sim/runs/faults.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr absl::Duration kLongestOutage = absl::Milliseconds(1500);

absl::Duration Upto(absl::Duration most, Random* random) {
  return absl::Nanoseconds(random->Between(0, absl::ToInt64Nanoseconds(most)));
}

}  // namespace

Faults::Faults(const FaultOptions& options, uint64_t seed, Cluster* cluster)
    : random_(seed), cluster_(cluster), outages_left_(options.longest_in_all) {
  for (int i = 0; i < options.faults; ++i) {
    const Timestamp when = Timestamp() + options.first + Upto(options.last - options.first, &random_);
    cluster->simulator()->agenda()->CallAt(when, [this] { Happen(); });
  }
}

LossOptions Faults::RandomLoss(absl::Duration outage, Random* random) {
  LossOptions loss;
  loss.survivors = random->Chance(0.5) ? Upto(outage, random) : absl::ZeroDuration();
  loss.opener_notices = Upto(outage, random);
  if (random->Chance(0.7)) loss.acceptor_notices = Upto(2 * outage, random);
  return loss;
}

void Faults::Happen() {
  switch (random_.Below(8)) {
    case 0:
    case 1:
    case 2:
      return LoseConnection();
    case 3:
      return LosePair();
    case 4:
      return PauseProcess();
    case 5:
      return StallLink();
    case 6:
      return ChangeRate();
    default:
      return PartitionPair();
  }
}

absl::Duration Faults::TakeOutage() {
  const absl::Duration outage = Upto(std::min(kLongestOutage, outages_left_), &random_);
  outages_left_ -= outage;
  return outage;
}

NodeId Faults::AnyProcess() { return NodeId(static_cast<uint32_t>(random_.Below(cluster_->node_count() + 1))); }

std::pair<NodeId, NodeId> Faults::AnyPair() {
  const auto& links = cluster_->simulator()->network()->links();
  const uint64_t choice = random_.Below(links.size() + cluster_->node_count());
  if (choice >= links.size()) return {kSchedulerNode, NodeId(static_cast<uint32_t>(choice - links.size() + 1))};
  return std::next(links.begin(), static_cast<std::ptrdiff_t>(choice))->first;
}

void Faults::Note(NodeId process, const std::string& what) {
  cluster_->simulator()->trace()->Note(cluster_->simulator()->now(), process, "fault: " + what);
}

void Faults::LoseConnection() {
  SimulatedNetwork* network = cluster_->simulator()->network();
  const std::vector<ConnectionIndex> in_use = network->ConnectionsInUse();
  if (in_use.empty()) return;
  const ConnectionIndex connection = in_use[random_.Below(in_use.size())];
  Note(kSchedulerNode, absl::StrCat("connection ", connection, " is lost"));
  network->Lose(connection, RandomLoss(absl::Milliseconds(200), &random_));
}

void Faults::LosePair() {
  SimulatedNetwork* network = cluster_->simulator()->network();
  const auto [a, b] = AnyPair();
  Note(a, absl::StrCat("all connections with ", b.value(), " are lost"));
  const absl::Duration outage = std::min(TakeOutage(), absl::Milliseconds(500));
  for (ConnectionIndex connection : network->ConnectionsInUse(a, b)) {
    network->Lose(connection, RandomLoss(outage, &random_));
  }
}

void Faults::PauseProcess() {
  const NodeId process = AnyProcess();
  const absl::Duration outage = TakeOutage();
  Note(process, absl::StrCat("pause of ", absl::FormatDuration(outage)));
  cluster_->simulator()->process(process)->PauseUntil(cluster_->simulator()->now() + outage);
}

void Faults::StallLink() {
  const auto [a, b] = AnyPair();
  SimulatedLink* link = cluster_->simulator()->network()->FindLink(a, b);
  if (link == nullptr) return;
  const absl::Duration outage = TakeOutage();
  Note(a, absl::StrCat("link to ", b.value(), " stalls for ", absl::FormatDuration(outage)));
  link->Stall(cluster_->simulator()->now() + outage);
}

void Faults::ChangeRate() {
  const auto [a, b] = AnyPair();
  SimulatedLink* link = cluster_->simulator()->network()->FindLink(a, b);
  if (link == nullptr) return;
  link->set_rate_bps(1e5 + 2e7 * random_.Unit() * random_.Unit());
}

void Faults::PartitionPair() {
  SimulatedNetwork* network = cluster_->simulator()->network();
  const auto [a, b] = AnyPair();
  const absl::Duration outage = TakeOutage();
  Note(a, absl::StrCat("partition from ", b.value(), " for ", absl::FormatDuration(outage)));
  network->Partition(a, b, Upto(outage, &random_));
  cluster_->simulator()->agenda()->CallAfter(outage, [network, a = a, b = b] { network->Heal(a, b); });
}

}  // namespace banyan
