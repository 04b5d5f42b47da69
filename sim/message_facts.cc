#include "sim/message_facts.h"

#include <array>
#include <iterator>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "core/digest.h"

namespace banyan {
namespace {

constexpr int64_t kSmallMessageBytes = 64;

int64_t RouteBytes(const SourceRoute& route) { return 8 * static_cast<int64_t>(route.path.size()); }

struct SizeVisitor {
  int64_t operator()(const ChunkMessage& m) const {
    return kSmallMessageBytes + RouteBytes(m.route) + 16 * static_cast<int64_t>(m.frames.size());
  }
  int64_t operator()(const LinkAck& m) const { return 16 + 24 * Count(m.entries); }
  int64_t operator()(const DeliveryAck& m) const { return 16 + RouteBytes(m.route) + 16 * Count(m.chunks); }
  int64_t operator()(const Busy& m) const { return 16 + RouteBytes(m.route) + 16 * Count(m.chunks); }
  int64_t operator()(const KeysAssigned& m) const {
    int64_t bytes = 32 + 32 * Count(m.keys);
    for (const KeySlice& key : m.keys) bytes += 8 * Count(key.borders);
    return bytes;
  }
  int64_t operator()(const RegisterKeys& m) const {
    int64_t bytes = 16 + 32 * Count(m.keys);
    for (const RegisterKeys::Key& key : m.keys) bytes += 24 * Count(key.layout.parts);
    return bytes;
  }
  int64_t operator()(const PolicyRequest& m) const { return 16 + 12 * Count(m.entries); }
  int64_t operator()(const PolicyAnswer& m) const { return 16 + 20 * Count(m.bindings); }
  int64_t operator()(const RoundsClosed& m) const { return 16 + 20 * Count(m.entries); }
  int64_t operator()(const ClosedEverywhere& m) const { return 16 + 12 * Count(m.entries); }
  int64_t operator()(const RoundsPushed& m) const { return 16 + 12 * Count(m.runs); }
  int64_t operator()(const QuorumReached& m) const { return 16 + 12 * Count(m.runs); }
  int64_t operator()(const HealthReport&) const { return 48; }
  int64_t operator()(const TracePiece& m) const {
    const RoundRecords& records = m.of_node.records;
    return kSmallMessageBytes + 48 * Count(records.arrivals) + 28 * Count(records.departures) +
           16 * Count(records.moments) + 24 * Count(records.clocks);
  }
  int64_t operator()(const PolicyPublished& m) const {
    const PolicySlice& slice = m.slice;
    int64_t bytes = kSmallMessageBytes + 48 * Count(slice.neighbours);
    for (const TreeSlice& tree : slice.trees) {
      bytes += 32 + 4 * (Count(tree.reduce_children) + Count(tree.broadcast_children));
    }
    for (const RouteSlice& route : slice.routes) bytes += 20 + 4 * Count(route.path);
    for (const RouteSlice& route : slice.auxiliary) bytes += 20 + 4 * Count(route.path);
    return bytes;
  }
  int64_t operator()(const NodeReport& m) const {
    return kSmallMessageBytes + 90 * Count(m.links) + 24 * Count(m.memory) + 12 * Count(m.progress);
  }
  int64_t operator()(const StateManifest& m) const {
    return kSmallMessageBytes + RouteBytes(m.route) + 8 * Count(m.hashes) + 32 * Count(m.shape.parts);
  }
  int64_t operator()(const StateRequest& m) const { return 16 + RouteBytes(m.route) + 8 * Count(m.chunks); }
  int64_t operator()(const Reconfigure& m) const {
    return kSmallMessageBytes + static_cast<int64_t>(m.overlay_yaml.size());
  }
  template <typename T>
  int64_t operator()(const T&) const {
    return kSmallMessageBytes;
  }

  template <typename T>
  static int64_t Count(const std::vector<T>& values) {
    return static_cast<int64_t>(values.size());
  }
};

uint64_t DigestOf(const ChunkId& id) {
  return Digest({id.epoch.value(), id.attempt.value(), id.round.value(), id.key.value(), id.chunk.value(),
                 static_cast<uint64_t>(id.half)});
}

uint64_t DigestOf(const SourceRoute& route) {
  uint64_t digest = route.hop;
  for (NodeId node : route.path) digest = Digest({digest, node.value()});
  return digest;
}

uint64_t DigestOf(const std::vector<ChunkId>& chunks) {
  uint64_t digest = chunks.size();
  for (const ChunkId& chunk : chunks) digest = Digest({digest, DigestOf(chunk)});
  return digest;
}

uint64_t DigestOf(const std::vector<KeyProgressRun>& runs) {
  uint64_t digest = runs.size();
  for (const KeyProgressRun& run : runs) {
    digest = Digest({digest, run.key.value(), run.round.value(), run.more_keys});
  }
  return digest;
}

struct DigestVisitor {
  uint64_t operator()(const ChunkMessage& m) const {
    return Digest({DigestOf(m.id), DigestOf(m.route), m.policy.value(), m.tree.value(), m.source_incarnation.value(),
                   m.weight, m.place, m.is_auxiliary ? 1u : 0u, m.link_sequence,
                   static_cast<uint64_t>(m.sent_at.nanoseconds()), m.ack_may_wait ? 1u : 0u});
  }
  uint64_t operator()(const LinkAck& m) const {
    uint64_t digest = m.entries.size();
    for (const LinkAck::Entry& entry : m.entries) {
      digest = Digest({digest, entry.link_sequence, static_cast<uint64_t>(entry.received_at.nanoseconds()),
                       entry.is_delivered ? 1u : 0u});
    }
    return digest;
  }
  uint64_t operator()(const DeliveryAck& m) const { return Digest({DigestOf(m.route), DigestOf(m.chunks)}); }
  uint64_t operator()(const Busy& m) const { return Digest({DigestOf(m.route), DigestOf(m.chunks)}); }
  uint64_t operator()(const Grant& m) const { return DigestOf(m.route); }
  uint64_t operator()(const PolicyAnswer& m) const {
    uint64_t digest = m.epoch.value();
    for (const PolicyAnswer::Binding& binding : m.bindings) {
      digest = Digest({digest, binding.key.value(), binding.first_round.value(), binding.last_round.value(),
                       binding.policy.value(), binding.attempt.value(), binding.route.bits()});
    }
    return digest;
  }
  uint64_t operator()(const RoundsClosed& m) const {
    uint64_t digest = m.entries.size();
    for (const RoundsClosed::Entry& entry : m.entries) {
      digest = Digest({digest, entry.key.value(), entry.round.value(), entry.hash, entry.more_keys});
    }
    return digest;
  }
  uint64_t operator()(const RoundsPushed& m) const { return DigestOf(m.runs); }
  uint64_t operator()(const QuorumReached& m) const { return DigestOf(m.runs); }
  uint64_t operator()(const HealthReport& m) const {
    return Digest({m.worker.value(), static_cast<uint64_t>(m.health.step)});
  }
  uint64_t operator()(const TraceRounds& m) const { return m.rounds; }
  uint64_t operator()(const TraceOrder& m) const {
    return Digest({m.trace.value(), static_cast<uint64_t>(m.step), m.first.value(), m.last.value()});
  }
  uint64_t operator()(const TraceReady& m) const { return Digest({m.trace.value(), m.next.value()}); }
  uint64_t operator()(const TracePiece& m) const {
    return Digest({m.trace.value(), m.of_node.node.value(), m.of_node.records.size(), m.is_last ? 1u : 0u});
  }
  uint64_t operator()(const TraceEnd& m) const { return Digest({m.first.value(), m.last.value(), m.missing.size()}); }
  uint64_t operator()(const VetoLowBit& m) const { return Digest({m.scopes.size(), m.is_lifted ? 1u : 0u}); }
  uint64_t operator()(const ClosedEverywhere& m) const {
    uint64_t digest = m.entries.size();
    for (const ClosedEverywhere::Entry& entry : m.entries) {
      digest = Digest({digest, entry.key.value(), entry.round.value()});
    }
    return digest;
  }
  uint64_t operator()(const CutSought& m) const { return Digest({m.epoch.value(), m.cut.value()}); }
  uint64_t operator()(const CutBound& m) const {
    uint64_t digest = Digest({m.epoch.value(), m.cut.value()});
    for (const CutBound::Entry& entry : m.rounds) digest = Digest({digest, entry.key.value(), entry.round.value()});
    return digest;
  }
  uint64_t operator()(const MembershipUpdate& m) const {
    return Digest({m.epoch.value(), m.joined, m.started ? 1u : 0u});
  }
  uint64_t operator()(const JoinAccepted& m) const { return Digest({m.term.value(), m.node.value()}); }
  uint64_t operator()(const PolicyPublished& m) const {
    return Digest({m.slice.version.value(), m.slice.epoch.value()});
  }
  uint64_t operator()(const PoliciesRetired& m) const { return m.oldest.value(); }
  uint64_t operator()(const Reconfigure& m) const { return m.overlay_yaml.size(); }
  uint64_t operator()(const OperatorReply& m) const { return m.accepted ? 1 : 0; }
  uint64_t operator()(const PeerLost& m) const { return m.peer.value(); }
  uint64_t operator()(const RoundBroken& m) const {
    return Digest({m.key.value(), m.round.value(), m.culprit.value()});
  }
  uint64_t operator()(const JobFailed& m) const { return static_cast<uint64_t>(m.code); }
  uint64_t operator()(const EpochBegin& m) const { return m.epoch.value(); }
  uint64_t operator()(const EpochReport& m) const {
    uint64_t digest = m.epoch.value();
    for (const EpochReport::Progress& progress : m.progress) {
      digest = Digest({digest, progress.first_key.value(), progress.last_key.value(), progress.next.value()});
    }
    return digest;
  }
  uint64_t operator()(const EpochPlan& m) const {
    uint64_t digest = Digest({m.epoch.value(), m.policy.value()});
    for (const EpochPlan::Frontier& frontier : m.frontiers) {
      digest = Digest({digest, frontier.first_key.value(), frontier.last_key.value(), frontier.first_open.value()});
    }
    for (const EpochPlan::Binding& binding : m.bindings) {
      digest = Digest({digest, binding.first_key.value(), binding.last_key.value(), binding.first_round.value(),
                       binding.last_round.value(), binding.attempt.value(), binding.route.bits()});
    }
    return digest;
  }
  template <typename T>
  uint64_t operator()(const T&) const {
    return 0;
  }
};

std::string Describe(const ChunkId& id) {
  return absl::StrCat("key ", id.key.value(), " round ", id.round.value(), " chunk ", id.chunk.value(),
                      id.half == Half::kReduce  ? " reduce"
                      : id.half == Half::kState ? " state"
                                                : " broadcast",
                      id.attempt.value() == 0 ? "" : absl::StrCat(" attempt ", id.attempt.value()));
}

std::string Describe(const SourceRoute& route) {
  return absl::StrJoin(route.path, ">", [](std::string* out, NodeId node) { absl::StrAppend(out, node.value()); }) +
         (route.path.size() > 2 ? absl::StrCat(" hop ", route.hop) : "");
}

std::string Describe(const std::vector<ChunkId>& chunks) {
  return absl::StrJoin(chunks, "; ", [](std::string* out, const ChunkId& id) { absl::StrAppend(out, Describe(id)); });
}

// clang-format off
constexpr const char* kMessageNames[] = {
    "chunk", "peer-hello", "link-ack", "delivery-ack", "busy", "grant",
    "peer-heartbeat", "go-away", "join", "join-accepted", "join-refused", "membership", "heartbeat",
    "heartbeat-reply", "register-keys", "keys-assigned", "key-refused", "policy-request", "policy-answer",
    "policy-published", "rounds-closed", "closed-everywhere", "barrier-entered", "barrier-released", "peer-lost",
    "worker-lost", "leave", "job-failed", "node-report", "status-request", "status-reply",
    "policies-retired", "reconfigure", "operator-reply", "round-broken", "epoch-begin", "epoch-report", "epoch-plan",
    "stop-job", "remove-node", "state-wanted", "state-sought", "boundary-held", "no-state", "state-holders",
    "fetch-ended", "state-released", "state-manifest-wanted", "state-manifest", "state-request", "state-refused",
    "wait-question", "wait-answer", "cut-sought", "cut-bound", "access-list", "rounds-pushed", "quorum-reached",
    "health-report", "veto-low-bit", "trace-rounds", "trace-order", "trace-ready", "trace-piece", "trace-end",
    "cannot-follow"};
// clang-format on
static_assert(std::size(kMessageNames) == std::variant_size_v<AnyMessage>);

struct DetailVisitor {
  std::string operator()(const ChunkMessage& m) const {
    return absl::StrCat(" ", Describe(m.id), " ", Describe(m.route), m.is_auxiliary ? " auxiliary path" : "",
                        " weight ", m.weight, " seq ", m.link_sequence);
  }
  std::string operator()(const LinkAck& m) const {
    return " " + absl::StrJoin(m.entries, " ", [](std::string* out, const LinkAck::Entry& entry) {
             absl::StrAppend(out, entry.link_sequence, entry.is_delivered ? " delivered" : "");
           });
  }
  std::string operator()(const DeliveryAck& m) const {
    return absl::StrCat(" ", Describe(m.route), " ", Describe(m.chunks));
  }
  std::string operator()(const Busy& m) const { return absl::StrCat(" ", Describe(m.route), " ", Describe(m.chunks)); }
  std::string operator()(const Grant& m) const { return " " + Describe(m.route); }
  std::string operator()(const PeerHello& m) const { return absl::StrCat(" from ", m.node.value()); }
  std::string operator()(const MembershipUpdate& m) const {
    return absl::StrCat(" epoch ", m.epoch.value(), " joined ", m.joined, "/", m.expected, m.started ? " started" : "");
  }
  std::string operator()(const PolicyRequest& m) const { return Entries(m.entries); }
  std::string operator()(const RoundsClosed& m) const { return Entries(m.entries); }
  std::string operator()(const ClosedEverywhere& m) const { return Entries(m.entries); }
  std::string operator()(const PolicyAnswer& m) const {
    return " " + absl::StrJoin(m.bindings, "; ", [](std::string* out, const PolicyAnswer::Binding& binding) {
             absl::StrAppend(out, "key ", binding.key.value(), " rounds ", binding.first_round.value(), "-",
                             binding.last_round.value(), " policy ", binding.policy.value(), " ", binding.route.Text());
           });
  }
  std::string operator()(const RoundsPushed& m) const { return Entries(m.runs); }
  std::string operator()(const QuorumReached& m) const { return Entries(m.runs); }
  std::string operator()(const HealthReport& m) const {
    return absl::StrCat(" worker ", m.worker.value(), " step ", m.health.step, " loss ", m.health.loss);
  }
  std::string operator()(const TraceRounds& m) const { return absl::StrCat(" ", m.rounds); }
  std::string operator()(const TraceOrder& m) const {
    return absl::StrCat(" trace ", m.trace.value(), " step ", static_cast<int>(m.step), " rounds ", m.first.value(),
                        "-", m.last.value());
  }
  std::string operator()(const TraceReady& m) const {
    return absl::StrCat(" trace ", m.trace.value(), " next ", m.next.value(), m.refusal.empty() ? "" : ": ", m.refusal);
  }
  std::string operator()(const TracePiece& m) const {
    return absl::StrCat(" trace ", m.trace.value(), " of node ", m.of_node.node.value(), ": ", m.of_node.records.size(),
                        m.is_last ? ", the last" : "");
  }
  std::string operator()(const TraceEnd& m) const {
    return absl::StrCat(" rounds ", m.first.value(), "-", m.last.value(), " without ", m.missing.size(), " nodes");
  }
  std::string operator()(const VetoLowBit& m) const {
    return absl::StrCat(m.is_lifted ? " lifted " : " ", absl::StrJoin(m.scopes, ","));
  }
  std::string operator()(const CutSought& m) const { return absl::StrCat(" for cut ", m.cut.value()); }
  std::string operator()(const CutBound& m) const { return Entries(m.rounds); }
  std::string operator()(const PolicyPublished& m) const { return absl::StrCat(" policy ", m.slice.version.value()); }
  std::string operator()(const PoliciesRetired& m) const { return absl::StrCat(" below policy ", m.oldest.value()); }
  std::string operator()(const OperatorReply& m) const {
    return absl::StrCat(m.accepted ? " accepted: " : " refused: ", m.text);
  }
  std::string operator()(const PeerLost& m) const { return absl::StrCat(" peer ", m.peer.value(), ": ", m.reason); }
  std::string operator()(const RoundBroken& m) const {
    return absl::StrCat(" key ", m.key.value(), " round ", m.round.value(), ": ", m.reason);
  }
  std::string operator()(const EpochBegin& m) const { return absl::StrCat(" epoch ", m.epoch.value(), ": ", m.reason); }
  std::string operator()(const EpochReport& m) const {
    return absl::StrCat(" epoch ", m.epoch.value(), " ",
                        absl::StrJoin(m.progress, "; ", [](std::string* out, const EpochReport::Progress& progress) {
                          absl::StrAppend(out, "keys ", progress.first_key.value(), "-", progress.last_key.value(),
                                          " next ", progress.next.value());
                        }));
  }
  std::string operator()(const EpochPlan& m) const {
    return absl::StrCat(" epoch ", m.epoch.value(), " policy ", m.policy.value(), " ",
                        absl::StrJoin(m.bindings, "; ", [](std::string* out, const EpochPlan::Binding& binding) {
                          absl::StrAppend(out, "keys ", binding.first_key.value(), "-", binding.last_key.value(),
                                          " rounds ", binding.first_round.value(), "-", binding.last_round.value(),
                                          " attempt ", binding.attempt.value());
                        }));
  }
  std::string operator()(const WorkerLost& m) const { return absl::StrCat(": ", m.reason); }
  std::string operator()(const CannotFollow& m) const { return absl::StrCat(": ", m.reason); }
  std::string operator()(const JoinRefused& m) const { return absl::StrCat(": ", m.reason); }
  std::string operator()(const JobFailed& m) const { return absl::StrCat(": ", m.reason); }
  template <typename T>
  std::string operator()(const T&) const {
    return "";
  }

  template <typename T>
  static std::string Entries(const std::vector<T>& entries) {
    return " " + absl::StrJoin(entries, "; ", [](std::string* out, const T& entry) {
             absl::StrAppend(out, "key ", entry.key.value(), " round ", entry.round.value());
           });
  }
};

struct EventDigestVisitor {
  uint64_t operator()(const MessageReceived& e) const {
    uint64_t digest = Digest({e.connection.value(), e.message.index(), MessageDigest(e.message), e.payload.size()});
    for (const Buffer& frame : e.payload) digest = DigestBytes(frame.bytes(), digest);
    return digest;
  }
  uint64_t operator()(const MessageRejected& e) const { return e.connection.value(); }
  uint64_t operator()(const ConnectionUp& e) const { return e.connection.value(); }
  uint64_t operator()(const ConnectionDown& e) const { return e.connection.value(); }
  uint64_t operator()(const ConnectFailed& e) const { return e.connection.value(); }
  uint64_t operator()(const ConnectionAccepted& e) const { return e.connection.value(); }
  uint64_t operator()(const WorkerCalled& e) const { return e.call.index(); }
  uint64_t operator()(const StateCalled& e) const { return e.call.index(); }
  uint64_t operator()(const ComputationFinished& e) const { return e.computation.value(); }
  uint64_t operator()(const RecordPersisted& e) const { return e.record.value(); }
  template <typename T>
  uint64_t operator()(const T&) const {
    return 0;
  }
};

std::string Describe(ConnectionId connection) {
  return connection >= kInboundConnection ? absl::StrCat("in", connection.value() - kInboundConnection.value())
                                          : absl::StrCat("out", connection.value());
}

constexpr std::array<const char*, std::variant_size_v<WorkerCall>> kCallNames = {
    "attach",      "detach",           "init",         "push", "pull", "broadcast", "barrier",
    "report-loss", "register-weights", "describe-wait"};

struct EventTextVisitor {
  std::string operator()(const Started&) const { return "started"; }
  std::string operator()(const MessageReceived& e) const {
    return absl::StrCat(Describe(e.connection), " ", DescribeMessage(e.message));
  }
  std::string operator()(const MessageRejected& e) const {
    return absl::StrCat(Describe(e.connection), " rejected: ", e.reason.ToString());
  }
  std::string operator()(const ConnectionUp& e) const { return absl::StrCat(Describe(e.connection), " up"); }
  std::string operator()(const ConnectionDown& e) const { return absl::StrCat(Describe(e.connection), " down"); }
  std::string operator()(const ConnectFailed& e) const {
    return absl::StrCat(Describe(e.connection), " not made: ", e.reason);
  }
  std::string operator()(const ConnectionAccepted& e) const {
    return absl::StrCat(Describe(e.connection), " accepted from ", e.host);
  }
  std::string operator()(const PacketsOvertook& e) const {
    return absl::StrCat(Describe(e.connection), " packets overtook each other ", e.times, " times");
  }
  std::string operator()(const DeadlineReached&) const { return "deadline"; }
  std::string operator()(const WorkerCalled& e) const { return absl::StrCat("worker ", kCallNames[e.call.index()]); }
  std::string operator()(const StateCalled& e) const { return absl::StrCat("worker, state ", e.call.index()); }
  std::string operator()(const ComputationFinished& e) const {
    return absl::StrCat("computed ", e.computation.value());
  }
  std::string operator()(const RecordPersisted& e) const { return absl::StrCat("persisted ", e.record.value()); }
  std::string operator()(const StopRequested&) const { return "stop requested"; }
};

}  // namespace

int64_t HeaderBytes(const Message& message) { return std::visit(SizeVisitor(), message); }

uint64_t MessageDigest(const Message& message) { return std::visit(DigestVisitor(), message); }

std::string DescribeMessage(const Message& message) {
  return absl::StrCat(kMessageNames[message.index()], std::visit(DetailVisitor(), message));
}

uint64_t EventDigest(const Event& event) { return Digest({event.index(), std::visit(EventDigestVisitor(), event)}); }

std::string DescribeEvent(const Event& event) { return std::visit(EventTextVisitor(), event); }

}  // namespace banyan
