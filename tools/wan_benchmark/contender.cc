#include "tools/wan_benchmark/contender.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/wan_benchmark/ring_order.h"
#include "topology/hub_order.h"
#include "topology/overlay/did_you_mean.h"

namespace banyan {
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
