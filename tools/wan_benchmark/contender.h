// Those whom `banyan bench wan` compares: Banyan with each of its features added in turn, and what people would use
// instead. Values and pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/network_view.h"
#include "topology/overlay/told_links.h"

namespace banyan {

enum class ContenderSystem { kBanyan, kGloo, kOpenMpi };

struct Contender {
  std::string name;         // "fapt", "gloo-ring"
  std::string description;  // for people
  ContenderSystem system = ContenderSystem::kBanyan;
  // Banyan's sections `topology`, `awareness` and `multipath`.
  std::string planner;
  std::string root;          // empty: not said
  std::optional<int> roots;  // empty: all
  bool awareness = false;
  bool multipath = false;
  ToldLinks told;  // what it is told of the links
  // Banyan's `compression.codec` and `trimming.policy`; empty: as the file has them.
  std::string codec;
  std::string trim_policy;
  // Every round is low-bit: means of binary votes, with error feedback, or majorities of them.
  enum class Votes { kNone, kMeans, kMajorities };
  Votes votes = Votes::kNone;
  // Tells if a round's result may be another than the sum, or lack something that a flush brings.
  bool is_lossy() const { return votes != Votes::kNone || !codec.empty(); }
  // Instead of all-reduces Banyan's workers train: steps that take so long, and synchronise by this method
  // (bench/training_steps.h). Each measured round has `syncs` synchronisations and their steps.
  struct Training {
    std::string method;
    int64_t steps_per_sync = 1;
    double step_seconds = 0;
    int64_t syncs = 3;
  };
  std::optional<Training> training = std::nullopt;
  // The others' algorithm: for Gloo one of ParseGlooAlgorithm, for Open MPI "default" or "ring".
  std::string algorithm;
  std::vector<std::string> ranks;  // their nodes by rank; empty: the overlay's order
};

// The peers to compare with.
struct PeerChoice {
  bool gloo = true;
  bool openmpi = true;
  bool star = true;  // Banyan's own star, which streams chunks: a parameter server on one node
};

// "gloo,openmpi,star", in any order. INVALID_ARGUMENT names what is unknown.
absl::StatusOr<PeerChoice> ParsePeers(absl::string_view text);

// Returns the contenders in the order in which they run and are shown. Banyan with all features, and told of all links,
// comes last of Banyan's. Wrong rates are drawn by `seed`.
absl::StatusOr<std::vector<Contender>> MakeContenders(const NetworkView& view, const PeerChoice& peers,
                                                      uint64_t seed = 1);

// Returns Banyan with all features and contributions in levels, in the order in which they run: queues may cut them,
// and may not.
std::vector<Contender> MakeBurstContenders();

// Those whose names `only` lists, separated by commas, in the order of `contenders`; all of them when it is empty.
absl::StatusOr<std::vector<Contender>> SelectContenders(std::vector<Contender> contenders, absl::string_view only);

// --- the order in which a ring all-reduce should visit the nodes of a WAN: what somebody who knows the network would
// give a library that takes its ranks as they come ---

// The all-reduce rate of a ring over these positions in view.nodes(), in bits of the model per second: each node sends
// 2(n-1)/n of the model to the next one, by the route of fewest hops, and the most loaded link decides. 0 when some
// node cannot reach the next one.
double RingRateBps(const NetworkView& view, const std::vector<size_t>& order);

// The best order of up to nine nodes, which are tried in all orders; of more, what swaps of two lead to.
std::vector<size_t> BestRingOrder(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_H_
