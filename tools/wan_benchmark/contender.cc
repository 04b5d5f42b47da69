#include "tools/wan_benchmark/contender.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "topology/overlay/did_you_mean.h"
#include "topology/planner_factory.h"
#include "wan/hop_routes.h"

namespace banyan {
namespace {

// --- the order of rings ---

// 8! orders, since a ring may begin anywhere.
constexpr size_t kMostTriedNodes = 9;

// Rates and routes by position, which many orders share.
class RingRates {
 public:
  explicit RingRates(const NetworkView& view) : nodes_(view.nodes().size()), rates_(nodes_ * nodes_, 0) {
    std::map<NodeId, size_t> positions;
    for (size_t i = 0; i < nodes_; ++i) positions[view.nodes()[i].id] = i;
    for (const NetworkLink& link : view.links()) {
      rates_[positions.at(link.from) * nodes_ + positions.at(link.to)] = link.throughput_bps;
    }
    for (size_t i = 0; i < nodes_; ++i) routes_.push_back(HopRoutesFrom(view, i));
  }

  double RateBps(const std::vector<size_t>& order) {
    loads_.assign(rates_.size(), 0);
    for (size_t i = 0; i < nodes_; ++i) {
      const std::vector<size_t>& route = routes_[order[i]][order[(i + 1) % nodes_]];
      if (route.empty()) return 0;
      for (size_t hop = 0; hop + 1 < route.size(); ++hop) ++loads_[route[hop] * nodes_ + route[hop + 1]];
    }
    double least_bps = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < loads_.size(); ++i) {
      if (loads_[i] > 0) least_bps = std::min(least_bps, rates_[i] / loads_[i]);
    }
    return least_bps * static_cast<double>(nodes_) / (2.0 * static_cast<double>(nodes_ - 1));
  }

 private:
  const size_t nodes_;
  std::vector<double> rates_;  // of links, by from * nodes_ + to
  std::vector<std::vector<std::vector<size_t>>> routes_;
  std::vector<int> loads_;
};

std::vector<size_t> TryAll(RingRates& rates, std::vector<size_t> order) {
  std::vector<size_t> best = order;
  double best_bps = rates.RateBps(order);
  while (std::next_permutation(order.begin() + 1, order.end())) {
    const double rate_bps = rates.RateBps(order);
    if (rate_bps <= best_bps) continue;
    best_bps = rate_bps;
    best = order;
  }
  return best;
}

// Whether some swap has made it better.
bool Improve(RingRates& rates, std::vector<size_t>& order) {
  const double before_bps = rates.RateBps(order);
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size(); ++j) {
      std::swap(order[i], order[j]);
      if (rates.RateBps(order) > before_bps) return true;
      std::swap(order[i], order[j]);
    }
  }
  return false;
}

}  // namespace

double RingRateBps(const NetworkView& view, const std::vector<size_t>& order) { return RingRates(view).RateBps(order); }

std::vector<size_t> BestRingOrder(const NetworkView& view) {
  std::vector<size_t> order(view.nodes().size());
  std::iota(order.begin(), order.end(), size_t{0});
  RingRates rates(view);
  if (order.size() <= kMostTriedNodes) return TryAll(rates, std::move(order));
  while (Improve(rates, order)) {
  }
  return order;
}

// --- contenders ---

namespace {

Contender Banyan(std::string name, std::string description, std::string planner) {
  Contender contender;
  contender.name = std::move(name);
  contender.description = std::move(description);
  contender.planner = std::move(planner);
  return contender;
}

Contender Star(std::string name, const std::string& kind, const std::string& hub) {
  Contender contender = Banyan(std::move(name), absl::StrCat("Banyan, star with the ", kind, " hub ", hub), "star");
  contender.root = hub;
  return contender;
}

Contender Peer(ContenderSystem system, std::string name, std::string description, std::string algorithm) {
  Contender contender;
  contender.name = std::move(name);
  contender.description = std::move(description);
  contender.system = system;
  contender.algorithm = std::move(algorithm);
  return contender;
}

// The same, along the best ring that somebody who knows the network would find.
Contender Ordered(const NetworkView& view, Contender contender) {
  contender.name += "-ordered";
  contender.description += " in the best order";
  for (const size_t position : BestRingOrder(view)) contender.ranks.push_back(view.nodes()[position].name);
  // Each process sends to the next rank in Open MPI's ring, to the one before in Gloo's.
  if (contender.system == ContenderSystem::kGloo) std::reverse(contender.ranks.begin(), contender.ranks.end());
  return contender;
}

// The contender as it does when it is told less.
Contender Told(Contender contender, const std::string& name, const std::string& description, const ToldLinks& told) {
  absl::StrAppend(&contender.name, "-", name);
  contender.description = description;
  contender.told = told;
  return contender;
}

std::vector<Contender> AdaptiveContenders(uint64_t seed) {
  std::vector<Contender> made;
  Contender contender = Banyan("fapt-1", "Banyan, one FAPT", "fapt");
  contender.roots = 1;
  made.push_back(contender);
  contender = Banyan("fapt", "Banyan, FAPTs of all roots", "fapt");
  made.push_back(contender);
  contender.awareness = true;
  contender.name = "awareness";
  contender.description = "  + awareness";
  made.push_back(contender);
  contender.multipath = true;
  contender.name = "multipath";
  contender.description = "  + auxiliary paths";
  made.push_back(contender);
  contender.planner = "packed";
  contender.name = "packed";
  contender.description = "  packed trees, all on";
  made.push_back(Told(contender, "alone", "    told the nodes alone", {ToldLinks::Kind::kNodes}));
  made.push_back(Told(contender, "blind", "    told no rates", {ToldLinks::Kind::kNone}));
  made.push_back(Told(contender, "wrong", "    told wrong rates", {ToldLinks::Kind::kWrong, seed}));
  Contender votes = contender;
  votes.name = "packed-votes";
  votes.description = "    low-bit rounds";
  votes.votes = Contender::Votes::kMeans;
  made.push_back(votes);
  votes.name = "packed-majority";
  votes.description = "    low-bit, majorities";
  votes.votes = Contender::Votes::kMajorities;
  made.push_back(votes);
  made.push_back(contender);
  return made;
}

}  // namespace

std::vector<Contender> MakeBurstContenders() {
  const Contender best = AdaptiveContenders(/*seed=*/0).back();
  std::vector<Contender> made = {best, best};
  made[0].name = "trimmed";
  made[0].description = "trim_rht, queues cut";
  made[0].trim_policy = "deadline";
  made[1].name = "whole";
  made[1].description = "trim_rht, nothing is cut";
  made[1].trim_policy = "off";
  for (Contender& contender : made) contender.codec = "trim_rht";
  return made;
}

absl::StatusOr<PeerChoice> ParsePeers(absl::string_view text) {
  PeerChoice choice = {false, false, false};
  for (const absl::string_view name : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (name == "gloo") {
      choice.gloo = true;
    } else if (name == "openmpi") {
      choice.openmpi = true;
    } else if (name == "star") {
      choice.star = true;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("expected some of gloo,openmpi,star, got '", name, "'",
                                                     DidYouMean(std::string(name), {"gloo", "openmpi", "star"})));
    }
  }
  return choice;
}

absl::StatusOr<std::vector<Contender>> MakeContenders(const NetworkView& view, const PeerChoice& peers, uint64_t seed) {
  std::vector<Contender> made;
  if (peers.star) {
    const absl::StatusOr<std::vector<NodeId>> hubs = HubsByRate(view);
    if (!hubs.ok()) return hubs.status();
    made.push_back(Star("star", "best", view.NameOf(hubs->front())));
    made.push_back(Star("star-median", "median", view.NameOf((*hubs)[hubs->size() / 2])));
  }
  for (Contender& contender : AdaptiveContenders(seed)) made.push_back(std::move(contender));
  if (peers.gloo) {
    made.push_back(Peer(ContenderSystem::kGloo, "gloo-ring", "Gloo, ring", "ring"));
    made.push_back(Ordered(view, made.back()));
    made.push_back(Peer(ContenderSystem::kGloo, "gloo-halving", "Gloo, halving-doubling", "halving-doubling"));
    made.push_back(Peer(ContenderSystem::kGloo, "gloo-direct", "Gloo, direct exchange (bcube)", "direct"));
  }
  if (peers.openmpi) {
    made.push_back(Peer(ContenderSystem::kOpenMpi, "openmpi", "Open MPI, its own choice", "default"));
    made.push_back(Peer(ContenderSystem::kOpenMpi, "openmpi-ring", "Open MPI, ring", "ring"));
    made.push_back(Ordered(view, made.back()));
  }
  return made;
}

absl::StatusOr<std::vector<Contender>> SelectContenders(std::vector<Contender> contenders, absl::string_view only) {
  if (only.empty()) return contenders;
  std::vector<std::string> known;
  for (const Contender& contender : contenders) known.push_back(contender.name);
  const std::vector<std::string> wanted = absl::StrSplit(only, ',', absl::SkipEmpty());
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("expected some of ", absl::StrJoin(known, ","), ", got '", name, "'", DidYouMean(name, known)));
  }
  std::erase_if(contenders, [&wanted](const Contender& contender) {
    return std::find(wanted.begin(), wanted.end(), contender.name) == wanted.end();
  });
  return contenders;
}

}  // namespace banyan
