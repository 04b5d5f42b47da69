#include "node/rounds/chunk_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "node/policy_table.h"

namespace banyan {
namespace {

// So that no product of it wraps around.
constexpr uint64_t kMostLateRounds = uint64_t{1} << 24;

}  // namespace

ChunkMessage MakeChunkMessage(const ChunkSource& source, NodeId destination, const RoundState& state, RoundKind kind,
                              KeyId key, Round round, ChunkIndex chunk, Half half, const CheckedChunk& encoded) {
  const PolicySlice& slice = *state.binding->slice;
  ChunkMessage message;
  message.id = {slice.epoch, state.binding->attempt, round, key, chunk, half};
  message.policy = slice.version;
  message.tree = state.attempt->TreeOf(chunk);
  message.kind = kind;
  message.source_incarnation = source.incarnation;
  message.route.path = PolicyTable::PathTo(slice, source.node, destination);
  message.weight = encoded.weight();
  message.priority = state.contribution.has_value() ? state.contribution->priority : 0;
  message.elements = state.attempt->RangeOf(chunk).elements;
  message.place = state.binding->chunks->PlaceOf(key, chunk);
  message.precision = state.binding->RouteOf(key, chunk);
  message.frames = encoded.encoded().frames;
  return message;
}

std::string ChunkRules::FaultOf(const ChunkMessage& message, const RoundState& state) const {
  const PolicySlice& slice = *state.binding->slice;
  if (message.id.epoch != slice.epoch || message.id.attempt != state.binding->attempt) {
    return absl::StrCat("epoch ", message.id.epoch.value(), " attempt ", message.id.attempt.value(), " came, expected ",
                        slice.epoch.value(), " and ", state.binding->attempt.value());
  }
  if (message.policy != slice.version) {
    return absl::StrCat("policy ", message.policy.value(), " came, expected ", slice.version.value());
  }
  std::string fault = FaultOfShape(message, *state.attempt);
  if (fault.empty()) fault = FaultOfSource(message, state);
  if (fault.empty()) fault = FaultOfMaking(message, state);
  return fault.empty() ? FaultOfWeight(message, state) : fault;
}

std::string ChunkRules::FaultOfShape(const ChunkMessage& message, const ReduceHalf& attempt) const {
  const ChunkIndex chunk = message.id.chunk;
  if (chunk.value() >= attempt.chunks()) return absl::StrCat("of ", attempt.chunks(), " chunks");
  if (message.tree != attempt.TreeOf(chunk)) {
    return absl::StrCat("tree ", message.tree.value(), " came, expected ", attempt.TreeOf(chunk).value());
  }
  if (message.elements != attempt.RangeOf(chunk).elements) {
    return absl::StrCat(message.elements, " elements came, expected ", attempt.RangeOf(chunk).elements);
  }
  // A flush may bring residuals alone.
  const bool may_weigh_nothing = message.kind == RoundKind::kFlush && message.made_in == Epoch();
  if (message.frames.empty() ? message.weight > 0 : message.weight == 0 && !may_weigh_nothing) {
    return absl::StrCat("weight ", message.weight, " came with ", message.frames.size(), " frames");
  }
  return "";
}

bool ChunkRules::IsOfThisStart(const ChunkMessage& message, const RoundState& state) {
  const auto is_former = [&message](const auto& known) {
    return known.node == message.route.source() && known.incarnation != message.source_incarnation;
  };
  const PolicySlice& slice = *state.binding->slice;
  return std::none_of(slice.neighbours.begin(), slice.neighbours.end(), is_former) &&
         std::none_of(slice.relayed.begin(), slice.relayed.end(), is_former);
}

std::string ChunkRules::FaultOfSource(const ChunkMessage& message, const RoundState& state) {
  const NodeId source = message.route.source();
  const TreeSlice& place = state.attempt->PlaceOf(message.id.chunk);
  if (message.id.half == Half::kBroadcast) {
    return place.broadcast_parent == source ? "" : "its source is not the parent";
  }
  return std::binary_search(place.reduce_children.begin(), place.reduce_children.end(), source)
             ? ""
             : "its source is not a child";
}

std::string ChunkRules::FaultOfMaking(const ChunkMessage& message, const RoundState& state) {
  const Epoch epoch = state.binding->slice->epoch;
  const bool goes_up = message.id.half == Half::kReduce;
  // This epoch's own result comes from the root, and goes down alone.
  const bool is_possible = goes_up ? message.made_in < epoch : message.made_in > Epoch() && message.made_in <= epoch;
  if (is_possible) return "";
  return absl::StrCat("made in epoch ", message.made_in.value(), ", in the ", goes_up ? "reduce" : "broadcast",
                      " half of epoch ", epoch.value());
}

std::string ChunkRules::FaultOfWeight(const ChunkMessage& message, const RoundState& state) const {
  const bool is_result = message.made_in != Epoch();
  // Members of the epoch that made it may be gone; how many there were is not known here.
  if (is_result && message.made_in != state.binding->slice->epoch) return "";
  const uint64_t members = state.binding->slice->member_count;
  // A worker that was late brings its gradients of all former rounds at most.
  const uint64_t rounds = may_be_late_ ? std::clamp<uint64_t>(message.id.round.value(), 1, kMostLateRounds) : 1;
  const uint64_t most = kMaxWorkersPerNode * rounds * (is_result ? members : members - 1);
  const ReduceHalf& attempt = *state.attempt;
  const bool is_new = !is_result && !attempt.HasCounted(message.id.chunk, message.route.source());
  const uint64_t before = is_new ? attempt.WeightOf(message.id.chunk) : 0;
  // This node's own workers may be in the sum already, and none of them counts against the children.
  const uint64_t own = is_new && attempt.HasCounted(message.id.chunk, self_) ? workers_ * rounds : 0;
  const uint64_t most_in_all = std::min<uint64_t>(most + own, UINT32_MAX);
  if (message.weight <= most && before + message.weight <= most_in_all) return "";
  return absl::StrCat("weight ", message.weight, " came on top of ", before, ", but the job's ", members,
                      " nodes have at most ", kMaxWorkersPerNode, " workers each",
                      rounds > 1 ? absl::StrCat(", with gradients of ", rounds, " rounds") : "");
}

std::string ChunkRules::FaultOfResult(const ChunkMessage& message, const RoundState& state) {
  const ReduceHalf::State stands = state.attempt->StateOf(message.id.chunk);
  const bool needs_this_node = message.made_in == state.binding->slice->epoch;
  if (needs_this_node && stands != ReduceHalf::State::kPassedUp && stands != ReduceHalf::State::kDone) {
    return "a result came before this node's contribution had left";
  }
  // Only where no member has put a value in is there none.
  const bool has_contributed =
      state.contribution.has_value() && state.contribution->weight > 0 && state.contribution->has_values();
  if (message.frames.empty() && has_contributed) return "a result without values";
  if (!message.frames.empty() && state.kind.has_value() && message.kind != *state.kind) {
    return absl::StrCat("the result of a round of kind ", NameOf(message.kind), ", expected ", NameOf(*state.kind));
  }
  return "";
}

std::string ChunkRules::DescribeDisagreement(RoundKind there, RoundKind here, const std::string& here_name) {
  return absl::StrCat("members disagree: ", NameOf(there), " there, ", NameOf(here), " at ", here_name,
                      "; all workers must call the same operations of a key in the same order");
}

}  // namespace banyan
