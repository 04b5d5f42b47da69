#include "topology/evaluation/round_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/check.h"
#include "topology/chunk_assignment.h"
#include "topology/evaluation/flow_shop.h"
#include "topology/network_view.h"

namespace banyan {
namespace {

constexpr double kFloatBytes = 4;
// What casting takes of its time where other threads work beside it.
constexpr double kCastAmongThreads = 1.5;
// Of a processor as a station: any rate would do, since steps take their parts of it.
constexpr double kProcessorBps = 1e9;

// About what nodes allow to be on its way (node/peers/link_windows.h): twice the bandwidth-delay product, and two
// chunks.
double WindowBits(const NetworkLink& link, double chunk_bits) {
  return 2 * link.throughput_bps * absl::ToDoubleSeconds(2 * link.delay) + 2 * chunk_bits;
}

// Links, caps of hosts and what links share as stations; the chunks of a tree as a kind of job.
class RoundShop {
 public:
  // A round is of a model of these tensors, of whose bits links carry `sent_part`. With `work`, which outlives this,
  // processors are stations and chunks as wide as it says.
  RoundShop(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors, double sent_part,
            const RoundWork* work = nullptr);

  // Adds the kind of the tree's chunks; false when a link has vanished.
  bool Add(const Tree& tree);
  FlowShop& shop() { return shop_; }
  // How long the processors of the busiest node work for these chunks: those that send and take them, or those that
  // sum.
  double LongestProcessing(const std::vector<FlowShop::Job>& jobs) const;
  // How long what leaves send waits at most to be summed. It goes over links that have nothing else to wait for; a node
  // sums in the order of arrival, and what other nodes have summed waits behind it.
  double LongestBacklog(const std::vector<FlowShop::Job>& jobs) const;
  // Returns what each node's processor takes to cast votes on the tensor, as jobs of kinds of their own. REQUIRES:
  // processors are stations.
  std::vector<FlowShop::Job> Casts(const PlannedTensor& tensor);
  // Returns how long the busiest node takes for that where it does nothing else, in seconds.
  double LongestCast(const PlannedTensor& tensor) const;

 private:
  // The steps so far of one tree.
  struct Itinerary {
    std::vector<FlowShop::Step> steps;
    std::map<NodeId, std::vector<size_t>> reduced_at;  // the last steps of the edges into a node
  };

  std::optional<std::vector<size_t>> PathOf(NodeId from, NodeId to) const;
  // Adds an edge's steps behind those in `after`, and returns the last; nullopt when a link has vanished. Whoever needs
  // the chunk needs `arrivals` of its kind.
  std::optional<size_t> Pass(NodeId from, NodeId to, const std::vector<size_t>& after, double arrivals, double part,
                             Itinerary& itinerary);
  // Returns what one thread takes to cast the votes of a node's workers on the tensor, in seconds.
  double CastSeconds(const PlannedTensor& tensor, const RoundWork::Processor& processor) const {
    const double bytes = work_->cast_passes * kFloatBytes * processor.workers * static_cast<double>(tensor.elements);
    return bytes / processor.cast_rate;
  }
  // Adds the work of a node's processor on a chunk, if processors are stations: seconds for each element.
  void Process(NodeId node, double seconds_per_element, std::vector<size_t>& after, Itinerary& itinerary) const;
  // Returns the bits of an element's votes from below these voters.
  double VoteBits(double voters) const { return BitsOfVotes(voters, work_->has_zero_votes); }
  // Returns the part of an element's bits that goes up from below these voters.
  double UpPart(double voters) const;
  // Returns what a node's processor takes for an element of its workers, of votes from below or of a child's sum, and
  // of the root's result, in seconds.
  double OwnSeconds(const RoundWork::Processor& processor, bool has_children) const;
  double AddSeconds(const RoundWork::Processor& processor, double voters) const;
  double ResultSeconds(const RoundWork::Processor& processor, double voters) const;
  // Adds what a node's processor does with a chunk on its way up: it sums its workers, adds each child's part when that
  // comes, and makes the result at the root. `votes` are those of each child. Returns how many voters there are below
  // it.
  double WorkUp(NodeId node, const std::vector<double>& votes, bool is_root, Itinerary& itinerary) const;
  // Counts the `bits` that a tree's links carry up, and down.
  void CountSent(const Tree& tree, double bits);
  // Counts the sums of a tree's chunk at each node.
  void CountSums(const Tree& tree);
  // Notes the ways from leaves of a tree to their parents. REQUIRES: all edges have paths.
  void NoteLeaves(const Tree& tree);
  void Visit(std::optional<size_t> station, double travel_s, double part, std::vector<size_t>& after,
             Itinerary& itinerary) const;

  const NetworkView& view_;
  const RoundWork* work_;
  double sent_part_;
  double element_bits_;             // of the widest, when nothing is compressed
  std::vector<size_t> processors_;  // stations, by positions of nodes
  std::map<std::pair<NodeId, NodeId>, const std::vector<NodeId>*> routes_;
  FlowShop shop_;
  std::vector<double> sent_bits_;          // in a round, by positions of links in the view
  std::vector<size_t> links_;              // stations, likewise
  std::vector<std::optional<size_t>> up_;  // by positions of nodes; without a cap there is none
  std::vector<std::optional<size_t>> down_;
  std::vector<size_t> shared_;  // by positions in view.shared()
  // Of a chunk, by its kind and the node's position.
  std::vector<std::vector<double>> ends_;
  std::vector<std::vector<double>> sum_passes_;  // over its elements
  struct Leaf {
    size_t parent = 0;         // by position
    std::vector<size_t> path;  // of links
  };
  std::vector<std::vector<Leaf>> leaves_;  // by kind
};

RoundShop::RoundShop(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors,
                     double sent_part, const RoundWork* work)
    : view_(view),
      work_(work),
      sent_part_(sent_part),
      element_bits_(WidestElementBits(tensors)),
      sent_bits_(view.links().size(), 0.0) {
  for (const Route& route : policy.routes) routes_[{route.from, route.to}] = &route.path;
  const double chunk_bits = element_bits_ * static_cast<double>(policy.chunk_max_elements);
  for (const NetworkLink& link : view.links()) {
    links_.push_back(shop_.AddStation(link.throughput_bps, WindowBits(link, chunk_bits)));
  }
  const auto add_cap = [&](const std::optional<double>& cap_bps) {
    return cap_bps.has_value() ? std::optional(shop_.AddStation(*cap_bps, std::numeric_limits<double>::infinity()))
                               : std::nullopt;
  };
  for (const Tree& tree : policy.trees) CountSent(tree, BitsOf(tensors) * tree.share);
  for (const NetworkNode& node : view.nodes()) {
    up_.push_back(add_cap(node.up_cap_bps));
    down_.push_back(add_cap(node.down_cap_bps));
    if (work == nullptr) continue;
    const int threads = work->processors[processors_.size()].threads;
    processors_.push_back(shop_.AddStation(kProcessorBps, std::numeric_limits<double>::infinity(), threads));
  }
  for (const SharedCapacity& shared : view.shared()) shared_.push_back(*add_cap(shared.capacity_bps));
}

std::optional<std::vector<size_t>> RoundShop::PathOf(NodeId from, NodeId to) const {
  const auto routed = routes_.find({from, to});
  const std::vector<NodeId> direct = {from, to};
  const std::vector<NodeId>& nodes = routed == routes_.end() ? direct : *routed->second;
  return LinksOfPath(nodes, view_);
}

void RoundShop::Visit(std::optional<size_t> station, double travel_s, double part, std::vector<size_t>& after,
                      Itinerary& itinerary) const {
  if (!station.has_value()) return;
  const size_t step = itinerary.steps.size();
  itinerary.steps.push_back({*station, travel_s, {}, part});
  for (const size_t before : after) itinerary.steps[before].next.push_back(step);
  after = {step};
}

std::optional<size_t> RoundShop::Pass(NodeId from, NodeId to, const std::vector<size_t>& after, double arrivals,
                                      double part, Itinerary& itinerary) {
  const std::optional<std::vector<size_t>> path = PathOf(from, to);
  if (!path.has_value()) return std::nullopt;
  std::vector<size_t> last = after;
  for (const size_t at : *path) {
    const NetworkLink& link = view_.links()[at];
    const size_t sender = *view_.IndexOf(link.from);
    const size_t taker = *view_.IndexOf(link.to);
    Visit(up_[sender], 0, part, last, itinerary);
    Visit(links_[at], TravelSeconds(link, arrivals, sent_bits_[at] * part), part, last, itinerary);
    for (const size_t shared : view_.SharedBy(at)) Visit(shared_[shared], 0, part, last, itinerary);
    Visit(down_[taker], 0, part, last, itinerary);
    ++ends_.back()[sender];
    ++ends_.back()[taker];
  }
  return last.front();
}

// The nodes but the root, so that each comes after its parent.
std::vector<NodeId> FromTheRoot(NodeId root, const std::map<NodeId, NodeId>& parent_of) {
  std::map<NodeId, std::vector<NodeId>> children;
  for (const auto& [node, parent] : parent_of) children[parent].push_back(node);
  std::vector<NodeId> nodes = {root};
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<NodeId>& next = children[nodes[i]];
    nodes.insert(nodes.end(), next.begin(), next.end());
  }
  nodes.erase(nodes.begin());
  return nodes;
}

void RoundShop::CountSent(const Tree& tree, double bits) {
  const auto count = [&](NodeId from, NodeId to) {
    const std::optional<std::vector<size_t>> path = PathOf(from, to);
    if (!path.has_value()) return;
    for (const size_t at : *path) sent_bits_[at] += bits;
  };
  for (const auto& [node, parent] : tree.reduce_parent) count(node, parent);
  for (const auto& [node, parent] : tree.broadcast_parent) count(parent, node);
}

// Who has children reads each of theirs, and what there is of the sum, which it writes.
constexpr double kAdding = 3;

void RoundShop::CountSums(const Tree& tree) {
  // Each node reads the result. The root divides the sum.
  constexpr double kReading = 1;
  constexpr double kDividing = 2;
  std::vector<double>& passes = sum_passes_.emplace_back(view_.nodes().size(), kReading);
  for (const auto& [node, parent] : tree.reduce_parent) passes[*view_.IndexOf(parent)] += kAdding;
  passes[*view_.IndexOf(tree.root)] += kDividing;
}

void RoundShop::NoteLeaves(const Tree& tree) {
  std::set<NodeId> parents;
  for (const auto& [node, parent] : tree.reduce_parent) parents.insert(parent);
  std::vector<Leaf>& leaves = leaves_.emplace_back();
  for (const auto& [node, parent] : tree.reduce_parent) {
    if (!parents.contains(node)) leaves.push_back({*view_.IndexOf(parent), *PathOf(node, parent)});
  }
}

double RoundShop::LongestBacklog(const std::vector<FlowShop::Job>& jobs) const {
  std::vector<double> bits(leaves_.size(), 0);
  for (const FlowShop::Job& job : jobs) bits[job.kind] += job.bits;
  std::vector<double> carried_bits(links_.size(), 0);
  std::vector<double> summing_s(view_.nodes().size(), 0);
  for (size_t kind = 0; kind < leaves_.size(); ++kind) {
    for (const Leaf& leaf : leaves_[kind]) {
      summing_s[leaf.parent] += bits[kind] / 8 * kAdding / kSumBytesPerSecond;
      for (const size_t link : leaf.path) carried_bits[link] += sent_part_ * bits[kind];
    }
  }
  std::vector<double> arrived_s(view_.nodes().size(), 0);
  for (const std::vector<Leaf>& leaves : leaves_) {
    for (const Leaf& leaf : leaves) {
      for (const size_t link : leaf.path) {
        double& last_s = arrived_s[leaf.parent];
        last_s = std::max(last_s, carried_bits[link] / view_.links()[link].throughput_bps);
      }
    }
  }
  double longest_s = 0;
  for (size_t node = 0; node < arrived_s.size(); ++node) {
    longest_s = std::max(longest_s, summing_s[node] - arrived_s[node]);
  }
  return longest_s;
}

double RoundShop::UpPart(double voters) const {
  return work_ == nullptr || !work_->is_low_bit ? sent_part_ : VoteBits(voters) / element_bits_;
}

void RoundShop::Process(NodeId node, double seconds_per_element, std::vector<size_t>& after,
                        Itinerary& itinerary) const {
  if (work_ == nullptr) return;
  Visit(processors_[*view_.IndexOf(node)], 0, seconds_per_element * kProcessorBps / element_bits_, after, itinerary);
}

// What computations read and write of memory (node/rounds/chunk_computations.h, node/votes/vote_computations.h).
double RoundShop::OwnSeconds(const RoundWork::Processor& processor, bool has_children) const {
  if (!work_->is_low_bit) return 12 * (processor.workers - 1) / processor.sum_rate;
  return has_children ? 2 * VoteBits(processor.workers) / 8 / processor.count_rate : 0;
}

double RoundShop::AddSeconds(const RoundWork::Processor& processor, double voters) const {
  return work_->is_low_bit ? 2 * VoteBits(voters) / 8 / processor.count_rate : 12 / processor.sum_rate;
}

double RoundShop::ResultSeconds(const RoundWork::Processor& processor, double voters) const {
  return work_->is_low_bit ? 2 * VoteBits(voters) / 8 / processor.count_rate : 8 / processor.sum_rate;
}

double RoundShop::WorkUp(NodeId node, const std::vector<double>& votes, bool is_root, Itinerary& itinerary) const {
  if (work_ == nullptr) return 0;
  const RoundWork::Processor& processor = work_->processors[*view_.IndexOf(node)];
  const double voters = std::accumulate(votes.begin(), votes.end(), processor.workers);
  std::vector<size_t> own;
  Process(node, OwnSeconds(processor, !votes.empty()), own, itinerary);
  std::vector<size_t>& reduced = itinerary.reduced_at[node];
  for (size_t child = 0; child < votes.size(); ++child) {
    std::vector<size_t> added = {own.front(), reduced[child]};
    Process(node, AddSeconds(processor, votes[child]), added, itinerary);
    reduced[child] = added.front();
  }
  if (votes.empty()) reduced = own;
  if (is_root) Process(node, ResultSeconds(processor, voters), reduced, itinerary);
  return voters;
}

bool RoundShop::Add(const Tree& tree) {
  Itinerary itinerary;
  ends_.emplace_back(view_.nodes().size(), 0.0);
  CountSums(tree);
  std::map<NodeId, double> children;
  for (const auto& [node, parent] : tree.reduce_parent) ++children[parent];
  std::vector<NodeId> upwards = FromTheRoot(tree.root, tree.reduce_parent);
  std::reverse(upwards.begin(), upwards.end());
  std::map<NodeId, std::vector<double>> votes;  // of each child
  for (const NodeId node : upwards) {
    const NodeId parent = tree.reduce_parent.at(node);
    const double voters = WorkUp(node, votes[node], /*is_root=*/false, itinerary);
    const std::optional<size_t> last =
        Pass(node, parent, itinerary.reduced_at[node], children[parent], UpPart(voters), itinerary);
    if (!last.has_value()) return false;
    itinerary.reduced_at[parent].push_back(*last);
    votes[parent].push_back(voters);
  }
  WorkUp(tree.root, votes[tree.root], /*is_root=*/true, itinerary);
  // A round ends when the last node has its result.
  const auto takers = static_cast<double>(tree.broadcast_parent.size());
  const double part = work_ == nullptr || !work_->is_low_bit ? sent_part_ : work_->result_bits / element_bits_;
  std::map<NodeId, std::vector<size_t>> result_at = {{tree.root, itinerary.reduced_at[tree.root]}};
  for (const NodeId node : FromTheRoot(tree.root, tree.broadcast_parent)) {
    const NodeId parent = tree.broadcast_parent.at(node);
    const std::optional<size_t> last = Pass(parent, node, result_at.at(parent), takers, part, itinerary);
    if (!last.has_value()) return false;
    result_at[node] = {*last};
  }
  NoteLeaves(tree);
  // Each node reads the result, which holds up nobody else.
  for (auto& [node, after] : result_at) {
    if (work_ != nullptr)
      Process(node, kFloatBytes / work_->processors[*view_.IndexOf(node)].sum_rate, after, itinerary);
  }
  shop_.AddKind(std::move(itinerary.steps));
  return true;
}

std::vector<FlowShop::Job> RoundShop::Casts(const PlannedTensor& tensor) {
  std::vector<FlowShop::Job> casts;
  for (size_t node = 0; node < processors_.size() && work_->is_low_bit; ++node) {
    const RoundWork::Processor& processor = work_->processors[node];
    const double bits = CastSeconds(tensor, processor) * kProcessorBps;
    casts.push_back({shop_.AddKind({{processors_[node], 0, {}, 1}}), bits});
  }
  return casts;
}

double RoundShop::LongestCast(const PlannedTensor& tensor) const {
  double longest_s = 0;
  for (const RoundWork::Processor& processor : work_->processors) {
    if (work_->is_low_bit) longest_s = std::max(longest_s, CastSeconds(tensor, processor));
  }
  return longest_s;
}

double RoundShop::LongestProcessing(const std::vector<FlowShop::Job>& jobs) const {
  std::vector<double> chunks(ends_.size(), 0);
  std::vector<double> bytes(ends_.size(), 0);
  for (const FlowShop::Job& job : jobs) {
    ++chunks[job.kind];
    bytes[job.kind] += job.bits / 8;
  }
  double longest_s = 0;
  for (size_t node = 0; node < view_.nodes().size(); ++node) {
    double handling_s = 0, summing_s = 0;
    for (size_t kind = 0; kind < ends_.size(); ++kind) {
      handling_s += kSecondsPerChunkEnd * chunks[kind] * ends_[kind][node];
      summing_s += bytes[kind] * sum_passes_[kind][node] / kSumBytesPerSecond;
    }
    longest_s = std::max({longest_s, handling_s, summing_s});
  }
  return longest_s;
}

// The chunks of the tensors in the order in which they are sent.
std::vector<FlowShop::Job> Chunks(const Policy& policy, const std::vector<PlannedTensor>& tensors) {
  std::vector<double> shares;
  for (const Tree& tree : policy.trees) shares.push_back(tree.share);
  absl::StatusOr<ChunkAssignment> chunks = ChunkAssignment::Create(shares, policy.chunk_max_elements);
  BANYAN_CHECK(chunks.ok());
  std::vector<FlowShop::Job> jobs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const KeyId key(static_cast<uint32_t>(i + 1));
    BANYAN_CHECK(chunks->AddKey(key, tensors[i].elements, tensors[i].borders).ok());
    for (ChunkIndex chunk; chunk.value() < chunks->ChunksOf(key); chunk = chunk.Next()) {
      const PlannedTensor carried(chunks->RangeOf(key, chunk).elements, tensors[i].element_bytes);
      jobs.push_back({chunks->TreeOf(key, chunk).value(), carried.bits()});
    }
  }
  return jobs;
}

constexpr double kPacketBits = 1448 * 8;

// Of a link, as long as the overlay's file does not say otherwise.
constexpr double kConnections = 2;

}  // namespace

double TravelSeconds(const NetworkLink& link, double arrivals, double sent_bits) {
  const double delay = absl::ToDoubleSeconds(link.delay);
  const double round_trip = 2 * delay;
  const double bits = std::min(link.throughput_bps * round_trip, sent_bits);
  const double lost = link.loss_fraction * bits / kConnections / kPacketBits;
  // What is left of a round trip since the last loss, which lies exponentially long back: 1 - (1 - exp(-lost)) / lost.
  // The latest of several is as if losses came so many times as often.
  const double losses = lost * arrivals;
  const double waiting = losses > 1e-6 ? 1 + std::expm1(-losses) / losses : losses / 2;
  return delay + round_trip * waiting;
}

double BitsOfVotes(double voters, bool has_zero_votes) {
  return std::ceil(std::log2(voters + 1)) * (has_zero_votes ? 2 : 1);
}

absl::Duration PredictRoundTime(const Policy& policy, const NetworkView& view,
                                const std::vector<PlannedTensor>& tensors, double sent_part) {
  return PredictRound(policy, view, tensors, sent_part).time;
}

RoundPrediction PredictRound(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors,
                             double sent_part) {
  RoundShop round(policy, view, tensors, sent_part);
  for (const Tree& tree : policy.trees) {
    if (round.Add(tree)) continue;
    return {absl::InfiniteDuration(), std::vector<absl::Duration>(policy.trees.size(), absl::InfiniteDuration())};
  }
  std::vector<FlowShop::Job> scheduled = Chunks(policy, tensors);
  // The first chunk goes its way, and the others are processed behind it.
  const size_t first = std::min<size_t>(scheduled.size(), 1);
  const double processed_s = round.shop().Schedule({scheduled.begin(), scheduled.begin() + first}).last_s +
                             round.LongestProcessing({scheduled.begin() + first, scheduled.end()});
  const size_t kept = std::min<size_t>(scheduled.size(), kScheduledChunks);
  const std::vector<FlowShop::Job> others(scheduled.begin() + static_cast<std::ptrdiff_t>(kept), scheduled.end());
  const double backlog_s = round.LongestBacklog(scheduled);
  scheduled.resize(kept);
  const FlowShop::Ends ends = round.shop().Schedule(scheduled);
  const double carried_s = ends.last_s + round.shop().LongestWork(others) + backlog_s;
  RoundPrediction prediction = {absl::Seconds(std::max(carried_s, processed_s)), {}};
  for (const double end_s : ends.of_kinds_s) prediction.tree_times.push_back(absl::Seconds(end_s));
  return prediction;
}

TensorRound PredictRoundOf(const Policy& policy, const NetworkView& view, const PlannedTensor& tensor,
                           const RoundWork& work) {
  RoundShop round(policy, view, {tensor}, /*sent_part=*/1, &work);
  for (const Tree& tree : policy.trees) {
    if (!round.Add(tree)) return {absl::InfiniteDuration(), absl::InfiniteDuration()};
  }
  const std::vector<FlowShop::Job> casts = round.Casts(tensor);
  std::vector<FlowShop::Job> scheduled = Chunks(policy, {tensor});
  std::vector<FlowShop::Job> all = casts;
  all.insert(all.end(), scheduled.begin(), scheduled.end());
  const size_t kept = std::min<size_t>(scheduled.size(), kScheduledChunks);
  const std::vector<FlowShop::Job> others(scheduled.begin() + static_cast<std::ptrdiff_t>(kept), scheduled.end());
  scheduled.resize(kept);
  const bool has_threads = std::any_of(work.processors.begin(), work.processors.end(),
                                       [](const RoundWork::Processor& processor) { return processor.threads > 1; });
  const double cast_s = (has_threads ? kCastAmongThreads : 1) * round.LongestCast(tensor);
  const double time_s = cast_s + round.shop().Schedule(scheduled).last_s + round.shop().LongestWork(others);
  // Whether other tensors are cast meanwhile, on other threads, is not known.
  const double busy_s = std::max(round.shop().LongestWork(all), round.LongestCast(tensor));
  return {absl::Seconds(time_s), absl::Seconds(busy_s)};
}

}  // namespace banyan
