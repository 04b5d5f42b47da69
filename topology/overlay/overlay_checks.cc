#include "topology/overlay/overlay_checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "topology/overlay/did_you_mean.h"
#include "topology/overlay/overlay_network.h"

namespace banyan {
namespace {

using Ends = std::pair<std::string, std::string>;

// What users may lose by writing 0.33 three times.
constexpr double kShareTolerance = 0.02;
// One heartbeat may be late, another lost with a connection: only the third that does not come is silence.
constexpr double kLeastHeartbeats = 3;
// A busy machine or a retransmission is silent for longer than less.
constexpr double kLeastLostAfterSeconds = 0.1;
constexpr char kAdvice[] =
    "; add it, or take all keys, operators and observers out: then `banyan keygen --all overlay.yaml DIR` makes those "
    "of the whole job";

// Makes shares that sum to about 1 sum to 1.
void ScaleShares(std::vector<CustomTreeConfig>& trees, const FilePlace& place, YamlProblems& problems) {
  double sum = 0;
  size_t with_share = 0;
  for (const CustomTreeConfig& tree : trees) {
    sum += tree.share.value_or(0);
    if (tree.share.has_value()) ++with_share;
  }
  if (with_share == 0) return;
  if (with_share < trees.size()) {
    problems.Add(place, "topology.trees: some trees have a share and some have none; give all of them one, or none");
    return;
  }
  if (std::abs(sum - 1) > kShareTolerance) {
    problems.Add(place, absl::StrCat("topology.trees: the shares must sum to 1, got ", sum));
    return;
  }
  for (CustomTreeConfig& tree : trees) *tree.share /= sum;
}

void CheckNodes(const std::vector<NodeConfig>& nodes, YamlProblems& problems) {
  std::map<std::string, int> line_of_name;
  std::map<std::string, std::string> name_of_address;
  for (const NodeConfig& node : nodes) {
    const auto [same_name, is_new] = line_of_name.emplace(node.name, node.place.line);
    if (!is_new) {
      problems.Add(node.place,
                   absl::StrCat("two nodes have the name '", node.name, "'; the other is in line ", same_name->second));
    }
    if (node.address.empty()) continue;
    const auto [same_address, is_new_address] = name_of_address.emplace(node.address, node.name);
    if (!is_new_address) {
      problems.Add(node.place, absl::StrCat("nodes '", same_address->second, "' and '", node.name,
                                            "' have the same address ", node.address));
    }
  }
}

void CheckLinks(const std::vector<LinkConfig>& links, const std::set<std::string>& names, YamlProblems& problems) {
  std::map<std::pair<std::string, std::string>, int> line_of_pair;
  for (size_t i = 0; i < links.size() && problems.status().ok(); ++i) {
    const LinkConfig& link = links[i];
    for (const std::string& end : {link.a, link.b}) {
      CheckNodeName(end, link.place, absl::StrCat("links[", i, "].between"), names, problems);
    }
    if (link.a == link.b) {
      problems.Add(link.place, absl::StrCat("links[", i, "].between: joins '", link.a, "' to itself"));
    }
    const auto [same, is_new] = line_of_pair.emplace(std::minmax(link.a, link.b), link.place.line);
    if (!is_new) {
      problems.Add(link.place, absl::StrCat("links[", i, "].between: a second link between '", link.a, "' and '",
                                            link.b, "'; the first is in line ", same->second));
    }
  }
}

void CheckShared(const OverlayConfig& overlay, YamlProblems& problems) {
  std::set<std::string> names;
  for (const NodeConfig& node : overlay.nodes) names.insert(node.name);
  std::set<Ends> pairs;
  for (const LinkConfig& link : overlay.links.value_or(std::vector<LinkConfig>())) {
    pairs.insert(std::minmax(link.a, link.b));
  }
  for (size_t i = 0; i < overlay.shared.size() && problems.status().ok(); ++i) {
    const SharedConfig& shared = overlay.shared[i];
    const std::string where = absl::StrCat("shared[", i, "].links");
    std::set<Ends> known;
    for (const Ends& ends : shared.links) {
      CheckNodeName(ends.first, shared.place, where, names, problems);
      CheckNodeName(ends.second, shared.place, where, names, problems);
      const bool is_link =
          overlay.links.has_value() ? pairs.contains(std::minmax(ends.first, ends.second)) : ends.first != ends.second;
      const std::string link = absl::StrCat("a link from '", ends.first, "' to '", ends.second, "'");
      if (!is_link) problems.Add(shared.place, absl::StrCat(where, ": there is not ", link));
      if (!known.insert(ends).second) problems.Add(shared.place, absl::StrCat(where, ": ", link, " is given twice"));
    }
  }
}

// One address cannot have two processes.
void CheckSchedulerAddresses(const OverlayConfig& overlay, YamlProblems& problems) {
  const std::vector<std::string>& addresses = overlay.scheduler.addresses;
  for (const NodeConfig& node : overlay.nodes) {
    if (std::find(addresses.begin(), addresses.end(), node.address) == addresses.end()) continue;
    problems.Add(node.place, absl::StrCat("node '", node.name, "' and the scheduler have the same address ",
                                          node.address, "; give one of them another port"));
  }
}

void CheckPrecision(const OverlayConfig& overlay, YamlProblems& problems) {
  if (overlay.precision.profile.empty()) return;
  const auto refuse = [&](bool is_wrong, const std::string& why) {
    if (is_wrong) problems.Add(overlay.precision.place, "precision: " + why);
  };
  refuse(overlay.aggregation.op == AggregationOp::kSum,
         "a low-bit round makes a mean, but aggregation.op is sum; take another operation");
  refuse(
      overlay.aggregation.fixed_order,
      "each worker of a node is a part of its own, which aggregation.order: fixed does not know; remove one of them");
  refuse(overlay.aggregation.quorum > 0, "late workers have no votes; remove aggregation.quorum");
  refuse(std::any_of(overlay.compression.rules.begin(), overlay.compression.rules.end(),
                     [](const CompressionRule& rule) { return rule.codec != CodecId::kFp32; }),
         "rounds that are not low-bit are of full precision; remove compression, or this section");
}

// Finds keys that two have.
class Owners {
 public:
  explicit Owners(YamlProblems& problems) : problems_(problems) {}

  void Add(const std::string& key, const std::string& owner, const FilePlace& place) {
    if (key.empty()) return;
    const auto [other, is_new] = owners_.emplace(key, owner);
    if (is_new) return;
    problems_.Add(place, absl::StrCat(other->second, " and ", owner, " have the same public_key; give each its own"));
  }
  bool empty() const { return owners_.empty(); }
  // One of them. REQUIRES: not empty.
  const std::string& any() const { return owners_.begin()->second; }

 private:
  YamlProblems& problems_;
  std::map<std::string, std::string> owners_;
};

void CheckPublicKeys(const OverlayConfig& overlay, YamlProblems& problems) {
  Owners owners(problems);
  owners.Add(overlay.scheduler.public_key, "the scheduler", {});
  for (const NodeConfig& node : overlay.nodes) {
    owners.Add(node.public_key, absl::StrCat("node '", node.name, "'"), node.place);
  }
  for (const PersonConfig& person : overlay.operators) {
    owners.Add(person.public_key, absl::StrCat("operator '", person.name, "'"), person.place);
  }
  for (const PersonConfig& person : overlay.observers) {
    owners.Add(person.public_key, absl::StrCat("observer '", person.name, "'"), person.place);
  }
  if (owners.empty()) return;
  if (overlay.scheduler.public_key.empty()) {
    problems.Add(overlay.scheduler.place,
                 absl::StrCat("scheduler.public_key is missing, though ", owners.any(), " has a key", kAdvice));
  }
  for (const NodeConfig& node : overlay.nodes) {
    if (!node.public_key.empty()) continue;
    problems.Add(node.place,
                 absl::StrCat("node '", node.name, "' has no public_key, though ", owners.any(), " has one", kAdvice));
  }
}

}  // namespace

std::set<std::string> NamesOf(const std::vector<NodeConfig>& nodes) {
  std::set<std::string> names;
  for (const NodeConfig& node : nodes) names.insert(node.name);
  return names;
}

void CheckNodeName(const std::string& name, const FilePlace& place, const std::string& where,
                   const std::set<std::string>& names, YamlProblems& problems) {
  if (names.count(name) > 0) return;
  problems.Add(place,
               absl::StrCat(where, ": unknown node '", name, "'", DidYouMean(name, {names.begin(), names.end()})));
}

MapCheck CheckScheduler(SchedulerConfig& config) {
  return [&config](YamlMapReader& map, YamlProblems& problems) {
    if (map.Has("address") && map.Has("addresses")) {
      problems.Add(map.PlaceOf("addresses"),
                   "scheduler.addresses: expected it or scheduler.address, got both; keep the list");
    }
    if (map.Has("address")) config.addresses = {config.address};
    if (!config.addresses.empty()) config.address = config.addresses.front();
    const double lease_s = absl::ToDoubleSeconds(config.lease);
    if (lease_s != std::floor(lease_s)) {
      problems.Add(map.PlaceOf("lease_seconds"),
                   absl::StrCat("scheduler.lease_seconds: expected whole seconds, as etcd counts them, got ", lease_s));
    }
    if (map.Has("etcd")) return;
    if (map.Has("lease_seconds")) {
      problems.Add(map.PlaceOf("lease_seconds"),
                   "scheduler.lease_seconds: only with scheduler.etcd, where the lease is kept");
    }
    if (config.addresses.size() < 2) return;
    problems.Add(map.place(), absl::StrCat("scheduler.etcd is missing; of ", config.addresses.size(),
                                           " schedulers one must be elected, such as by etcd: [http://10.0.0.1:2379]"));
  };
}

MapCheck CheckTopology(TopologyConfig& config) {
  return [&config](YamlMapReader& map, YamlProblems& problems) {
    if (map.Has("trees") && problems.status().ok()) ScaleShares(config.trees, map.PlaceOf("trees"), problems);
    if (config.planner == "custom" && config.trees.empty()) {
      problems.Add(map.place(), "topology.trees is missing; planner 'custom' needs it");
    }
  };
}

MapCheck CheckAggregation(AggregationConfig& config) {
  return [&config](YamlMapReader& map, YamlProblems& /*problems*/) {
    if (config.op == AggregationOp::kAdam && !map.Has("learning_rate")) config.learning_rate = 0.001;
  };
}

MapCheck CheckMembership(const MembershipConfig& config) {
  return [&config](YamlMapReader& map, YamlProblems& problems) {
    const double heartbeat_s = absl::ToDoubleSeconds(config.heartbeat);
    const double lost_after_s = absl::ToDoubleSeconds(config.lost_after);
    const double scheduler_lost_after_s = absl::ToDoubleSeconds(config.scheduler_lost_after);
    if (lost_after_s < kLeastHeartbeats * heartbeat_s) {
      problems.Add(map.PlaceOf("lost_after_seconds"),
                   absl::StrCat("membership.lost_after_seconds: expected at least three heartbeats of ", heartbeat_s,
                                " s, since one that is late is no silence, got ", lost_after_s));
    }
    if (lost_after_s < kLeastLostAfterSeconds) {
      problems.Add(map.PlaceOf("lost_after_seconds"),
                   absl::StrCat("membership.lost_after_seconds: expected at least ", kLeastLostAfterSeconds,
                                " s, which a busy machine may be silent for, got ", lost_after_s));
    }
    if (scheduler_lost_after_s < lost_after_s) {
      problems.Add(map.PlaceOf("scheduler_lost_after_seconds"),
                   absl::StrCat("membership.scheduler_lost_after_seconds: expected at least ", lost_after_s,
                                " s as for any peer, got ", scheduler_lost_after_s));
    }
  };
}

void CheckNetwork(const YamlMapReader& map, const OverlayConfig& overlay, YamlProblems& problems) {
  if (!problems.status().ok()) return;
  CheckNodes(overlay.nodes, problems);
  if (overlay.links.has_value()) {
    CheckLinks(*overlay.links, NamesOf(overlay.nodes), problems);
  } else if (overlay.nodes.size() > kMaxFullMeshNodes) {
    problems.Add(map.place(), absl::StrCat("links is missing; an overlay of more than ", kMaxFullMeshNodes,
                                           " nodes must list its links"));
  }
  if (problems.status().ok()) CheckShared(overlay, problems);
  if (!problems.status().ok()) return;
  const absl::Status connected = MakeNetworkView(overlay).CheckConnected();
  if (!connected.ok()) problems.Add(map.PlaceOf("links"), connected.message());
}

void CheckSections(const OverlayConfig& overlay, YamlProblems& problems) {
  CheckSchedulerAddresses(overlay, problems);
  CheckPrecision(overlay, problems);
  if (problems.status().ok()) CheckPublicKeys(overlay, problems);
}

}  // namespace banyan
