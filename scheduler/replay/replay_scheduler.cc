#include "scheduler/replay/replay_scheduler.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// Of one answer.
constexpr uint64_t kMostBoundRounds = 1024;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

// The settings that all nodes of a job have alike.
JobConfig SharedConfig(const NodeTranscript& transcript) {
  JobConfig config = transcript.joined.config;
  config.workers = 1;
  return config;
}

absl::Status CheckNodes(const std::map<NodeId, ReplayCast::Transcript>& nodes) {
  uint32_t members = 0;
  std::vector<std::string> names;
  for (const auto& [id, transcript] : nodes) {
    names.push_back(transcript->start.node);
    for (const auto& [version, slice] : transcript->policies) members = std::max(members, slice.member_count);
  }
  if (nodes.size() == members) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the job had ", members, " nodes, but these are transcripts of ",
                                                    nodes.size(), ": ", absl::StrJoin(names, ", "),
                                                    "; give that of each node"));
}

}  // namespace

absl::StatusOr<ReplayCast> ReplayCast::Create(const std::vector<Transcript>& transcripts) {
  ReplayCast cast;
  for (const Transcript& transcript : transcripts) {
    const auto [known, is_new] = cast.nodes_.emplace(transcript->joined.node, transcript);
    if (!is_new) {
      return absl::FailedPreconditionError(absl::StrCat("the transcripts of ", known->second->start.node, " and ",
                                                        transcript->start.node, " are both of node ",
                                                        transcript->joined.node.value()));
    }
    const NodeTranscript& first = *transcripts.front();
    if (SharedConfig(*transcript) != SharedConfig(first)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the transcripts of ", first.start.node, " and ", transcript->start.node,
                       " are of different jobs, or of one whose settings have changed"));
    }
    std::vector<KeySlice> rows = transcript->keys;
    if (rows.size() < cast.keys_.size()) std::swap(rows, cast.keys_);
    if (!std::equal(cast.keys_.begin(), cast.keys_.end(), rows.begin())) {
      return absl::FailedPreconditionError(absl::StrCat("the transcript of ", transcript->start.node,
                                                        " has other keys than that of ", first.start.node,
                                                        ": they are of different runs of the job"));
    }
    cast.keys_ = std::move(rows);
  }
  if (cast.nodes_.empty()) return absl::FailedPreconditionError("a replay needs the transcript of each node, got none");
  if (absl::Status status = CheckNodes(cast.nodes_); !status.ok()) return status;
  return cast;
}

const NodeTranscript* ReplayCast::Find(const std::string& name) const {
  for (const auto& [id, transcript] : nodes_) {
    if (transcript->start.node == name) return transcript.get();
  }
  return nullptr;
}

Actions ReplayScheduler::Step(Timestamp now, Event event) {
  now_ = now;
  std::visit(Overloaded{[&](MessageReceived& received) { OnMessage(received.connection, received.message); },
                        [&](ConnectionDown& down) { OnGone(down.connection); },

                        [&](StopRequested&) {
                          Fail("the replay was stopped");
                          end_ = absl::OkStatus();
                        },
                        [](auto&) {}},
             event);
  const bool is_alone =
      std::none_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.second.connection.has_value(); });
  if (ends_at_ != kNever && (is_alone || now >= ends_at_) && !std::exchange(has_stopped_, true)) {
    actions_.emplace_back(std::in_place_type<Stop>, Stop{end_});
  }
  return std::exchange(actions_, Actions());
}

void ReplayScheduler::OnMessage(ConnectionId connection, const Message& message) {
  if (const auto* join = std::get_if<Join>(&message)) return OnJoin(connection, *join);
  const auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&](const auto& known) { return known.second.connection == connection; });
  if (node == nodes_.end() || ends_at_ != kNever) return;
  std::visit(
      [&](const auto& concrete) {
        if constexpr (requires { this->On(node->first, concrete); }) On(node->first, concrete);
      },
      message);
}

void ReplayScheduler::OnJoin(ConnectionId connection, const Join& join) {
  const NodeTranscript* const transcript = cast_.Find(join.name);
  const NodeId id = transcript == nullptr ? NodeId() : transcript->joined.node;
  const auto known = nodes_.find(id);
  const bool is_another = known != nodes_.end() && known->second.incarnation != join.incarnation;
  if (transcript == nullptr || is_another || join.protocol_version != kProtocolVersion) {
    const std::string why = transcript == nullptr ? "no transcript is of it" : "another one of that name takes part";
    actions_.emplace_back(Send{connection, JoinRefused{kTerm, absl::StrCat("replay: ", join.name, ": ", why)}, {}});
    return;
  }
  Node& node = nodes_[id];
  node.connection = connection;
  node.address = join.address;
  node.incarnation = join.incarnation;
  JoinAccepted accepted = transcript->joined;
  accepted.term = kTerm;
  accepted.start = StartId(1);
  accepted.is_first_join = known == nodes_.end();
  accepted.config.schedulers.clear();
  // Nodes cut what the transcript says, and nothing else.
  accepted.config.trimming.policy = TrimPolicyKind::kOff;
  Say(id, std::move(accepted));
  if (HasBegun()) Begin();
}

void ReplayScheduler::Begin() {
  const auto nodes = static_cast<uint32_t>(nodes_.size());
  SayToAll(MembershipUpdate{kTerm, Epoch(1), nodes, nodes, true, {}});
  if (cast_.keys().empty()) return;
  SayToAll(KeysAssigned{kTerm, KeyTableVersion(cast_.keys().size()), cast_.keys()});
}

void ReplayScheduler::OnGone(ConnectionId connection) {
  for (auto& [id, node] : nodes_) {
    if (node.connection != connection) continue;
    node.connection.reset();
    if (!node.has_left) Fail(Named(id, "it is gone; start the replay anew"));
  }
}

void ReplayScheduler::On(NodeId node, const RegisterKeys& keys) {
  bool has_known = false;
  for (const RegisterKeys::Key& key : keys.keys) {
    const auto row = std::find_if(cast_.keys().begin(), cast_.keys().end(),
                                  [&key](const KeySlice& known) { return known.name == key.name; });
    const std::string why = row == cast_.keys().end()
                                ? "the transcripts have no such key"
                                : absl::StrCat("the transcripts have it with ", row->elements,
                                               " elements, or with other parts, and here it has ", key.elements);
    const bool is_known =
        row != cast_.keys().end() && row->elements == key.elements && row->layout == key.layout.Hash();
    if (!is_known) Say(node, KeyRefused{kTerm, key.name, absl::StrCat(why, ": the program is another one")});
    has_known = has_known || is_known;
  }
  // Before that all are to hear of all keys.
  if (has_known && HasBegun()) Say(node, KeysAssigned{kTerm, KeyTableVersion(cast_.keys().size()), cast_.keys()});
}

void ReplayScheduler::On(NodeId node, const PolicyRequest& request) {
  const NodeTranscript& transcript = *cast_.nodes().at(node);
  PolicyAnswer answer{kTerm, Epoch(), {}};
  for (const PolicyRequest::Entry& entry : request.entries) {
    const auto [policy, last] = transcript.PolicyOf(entry.key, entry.round);
    if (policy == PolicyVersion()) {
      return Fail(Named(
          node, absl::StrCat("its transcript ends before round ", entry.round.value(), " of key ", entry.key.value())));
    }
    Publish(node, policy);
    answer.epoch = std::max(answer.epoch, transcript.policies.at(policy).epoch);
    const Round capped = std::min(last, Round(entry.round.value() + kMostBoundRounds));
    answer.bindings.push_back({entry.key, entry.round, capped, policy, Attempt(0)});
  }
  Say(node, std::move(answer));
}

void ReplayScheduler::Publish(NodeId node, PolicyVersion version) {
  if (!nodes_.at(node).published.insert(version).second) return;
  PolicyPublished published{kTerm, cast_.nodes().at(node)->policies.at(version)};
  // Every node has joined anew, perhaps elsewhere.
  for (NeighbourSlice& neighbour : published.slice.neighbours) {
    const auto other = nodes_.find(neighbour.node);
    if (other == nodes_.end()) continue;
    neighbour.address = other->second.address;
    neighbour.incarnation = other->second.incarnation;
  }
  for (RelayedSlice& relayed : published.slice.relayed) {
    const auto other = nodes_.find(relayed.node);
    if (other != nodes_.end()) relayed.incarnation = other->second.incarnation;
  }
  Say(node, std::move(published));
}

void ReplayScheduler::On(NodeId node, const RoundsClosed& closed) {
  ClosedEverywhere everywhere{kTerm, {}};
  for (const RoundsClosed::Entry& entry : closed.entries) {
    for (uint64_t more = 0; more <= entry.more_keys; ++more) {
      const KeyId key(static_cast<uint32_t>(entry.key.value() + more));
      std::set<NodeId>& held = held_[{key, entry.round}];
      held.insert(node);
      if (held.size() < cast_.nodes().size()) continue;
      held_.erase({key, entry.round});
      everywhere.entries.push_back({key, entry.round});
    }
  }
  if (!everywhere.entries.empty()) SayToAll(everywhere);
}

void ReplayScheduler::On(NodeId node, const BarrierEntered& entered) {
  std::set<NodeId>& there = barriers_[entered.barrier];
  there.insert(node);
  if (there.size() < cast_.nodes().size()) return;
  barriers_.erase(entered.barrier);
  SayToAll(BarrierReleased{kTerm, entered.barrier});
}

void ReplayScheduler::On(NodeId node, const StateWanted& wanted) {
  Say(node, StateReleased{kTerm, TransferId(), wanted.fetch, absl::StatusCode::kFailedPrecondition,
                          "a replay has no training state to fetch"});
}

void ReplayScheduler::On(NodeId node, const WaitQuestion& question) {
  Say(node, WaitAnswer{kTerm, question.key, question.round, "others, in the order of their transcripts"});
}

void ReplayScheduler::On(NodeId node, const Leave& leave) {
  nodes_.at(node).has_left = true;
  if (leave.asked_for) return Fail(Named(node, leave.reason));
  const bool has_all_left =
      HasBegun() && std::all_of(nodes_.begin(), nodes_.end(), [](const auto& other) { return other.second.has_left; });
  if (!has_all_left) return;
  JoinRefused over{kTerm, "the replay is over"};
  over.job_is_over = true;
  SayToAll(over);
  ends_at_ = now_ + kFarewell;
}

std::string ReplayScheduler::Named(NodeId node, const std::string& reason) const {
  return absl::StrCat("replay: ", cast_.nodes().at(node)->start.node, ": ", reason);
}

void ReplayScheduler::Fail(const std::string& reason) {
  if (ends_at_ != kNever) return;
  SayToAll(JobFailed{kTerm, absl::StatusCode::kFailedPrecondition, reason});
  end_ = absl::FailedPreconditionError(reason);
  ends_at_ = now_ + kFarewell;
}

void ReplayScheduler::Say(NodeId node, Message message) {
  const std::optional<ConnectionId>& connection = nodes_.at(node).connection;
  if (connection.has_value()) actions_.emplace_back(Send{*connection, std::move(message), {}});
}

void ReplayScheduler::SayToAll(const Message& message) {
  for (const auto& [id, node] : nodes_) Say(id, message);
}

}  // namespace banyan
