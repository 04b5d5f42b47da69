// What a scheduler tells of its job: the answer to `banyan status`. Its JSON has the members in the order, and under
// the names, of these descriptions (proto/field_json.h): that is what `status --json`, /api/status, recordings and the
// page have. Values; thread-compatible.
#ifndef BANYAN_PROTO_STATUS_H_
#define BANYAN_PROTO_STATUS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/fields.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// ---- low-bit rounds ----

// Of rounds that have closed since the scheduler began. A key's round counts as low-bit where a slice of it is, else as
// fallback where one is.
struct RouteStatus {
  uint64_t low_bit = 0;
  uint64_t fallback = 0;
  uint64_t plain = 0;
  uint64_t mixed = 0;       // low-bit rounds in which other slices were FP32
  uint64_t violations = 0;  // chunks of another route than their round's
  double low_bit_share = 0;
  double veto_share = 0;     // of admitted rounds
  double traffic_ratio = 1;  // modelled
  uint64_t sent_bytes = 0;   // 0 where nobody knows
  friend bool operator==(const RouteStatus&, const RouteStatus&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RouteStatus& m) {
  v(1, "low_bit", m.low_bit);
  v(2, "fallback", m.fallback);
  v(3, "plain", m.plain);
  v(4, "mixed", m.mixed);
  v(5, "violations", m.violations);
  v(6, "low_bit_share", m.low_bit_share);
  v(7, "veto_share", m.veto_share);
  v(8, "traffic_ratio", m.traffic_ratio);
  v(9, "sent_bytes", UnlessDefault(m.sent_bytes));
}

// What became of the routes of keys.
struct AuditStatus {
  struct Slice {
    uint64_t first = 0;
    uint64_t elements = 0;
    uint64_t low_bit = 0;
    uint64_t fallback = 0;
    uint64_t plain = 0;
    friend bool operator==(const Slice&, const Slice&) = default;
  };
  struct Key {
    std::string key;
    RouteStatus counts;
    std::vector<Slice> slices;  // none where it is one
    friend bool operator==(const Key&, const Key&) = default;
  };
  double bits_per_element = 0;
  RouteStatus candidates;
  RouteStatus all;
  std::vector<Key> keys;
  friend bool operator==(const AuditStatus&, const AuditStatus&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, AuditStatus::Slice& m) {
  v(1, "first", m.first);
  v(2, "elements", m.elements);
  v(3, "low_bit", m.low_bit);
  v(4, "fallback", m.fallback);
  v(5, "plain", m.plain);
}

template <typename Visitor>
void Fields(Visitor& v, AuditStatus::Key& m) {
  v(1, "key", m.key);
  InOwner(v, 2, "counts", m.counts);
  v(3, "slices", UnlessDefault(m.slices));
}

template <typename Visitor>
void Fields(Visitor& v, AuditStatus& m) {
  v(1, "bits_per_element", m.bits_per_element);
  v(2, "candidates", m.candidates);
  v(3, "all", m.all);
  v(4, "keys", m.keys);
}

struct PrecisionStatus {
  // Gradients and results on all hops since each member began.
  struct Traffic {
    uint64_t sent_bytes = 0;
    uint64_t full_bytes = 0;  // that FP32 would have taken
    friend bool operator==(const Traffic&, const Traffic&) = default;
  };
  // Of a candidate of this size.
  struct Predicted {
    uint64_t elements = 0;
    uint64_t element_bytes = 0;
    double low_bit_seconds = 0;
    double full_seconds = 0;
    double low_bit_busy_seconds = 0;
    double full_busy_seconds = 0;
    friend bool operator==(const Predicted&, const Predicted&) = default;
  };
  std::string profile;
  std::string binding;
  std::string state;                  // warm-up or decided
  std::vector<std::string> admitted;  // scopes
  std::string veto;                   // why admitted scopes fall back now
  uint64_t vetoes = 0;                // that began
  std::vector<std::string> ordered;   // scopes that an operator has vetoed
  uint64_t step = 0;                  // that was decided last
  uint64_t violations = 0;
  Traffic sent;
  Traffic sent_low_bit;
  std::string guard;  // endpoint or forced
  std::vector<Predicted> predicted;
  AuditStatus audit;
  friend bool operator==(const PrecisionStatus&, const PrecisionStatus&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PrecisionStatus::Traffic& m) {
  v(1, "bytes", m.sent_bytes);
  v(2, "fp32_bytes", m.full_bytes);
}

template <typename Visitor>
void Fields(Visitor& v, PrecisionStatus::Predicted& m) {
  v(1, "elements", m.elements);
  v(2, "element_bytes", m.element_bytes);
  v(3, "low_bit_seconds", m.low_bit_seconds);
  v(4, "fp32_seconds", m.full_seconds);
  v(5, "low_bit_busy_seconds", m.low_bit_busy_seconds);
  v(6, "fp32_busy_seconds", m.full_busy_seconds);
}

template <typename Visitor>
void Fields(Visitor& v, PrecisionStatus& m) {
  v(1, "profile", m.profile);
  v(2, "binding", m.binding);
  v(3, "state", m.state);
  v(4, "admitted", m.admitted);
  v(5, "veto", m.veto);
  v(6, "vetoes", m.vetoes);
  v(7, "vetoed_by_order", m.ordered);
  v(8, "step", m.step);
  v(9, "violations", m.violations);
  v(10, "sent", m.sent);
  v(11, "sent_low_bit", m.sent_low_bit);
  v(12, "guard", m.guard);
  v(13, "predicted", m.predicted);
  v(14, "audit", m.audit);
}

// ---- the job ----

struct JobStatus {
  // A change of membership that has ended.
  struct Change {
    uint64_t epoch = 0;
    std::string reason;
    uint32_t members = 0;
    double seconds = 0;
    friend bool operator==(const Change&, const Change&) = default;
  };
  struct Epochs {
    uint64_t count = 0;  // of changes that have ended since the start of the scheduler
    std::string reason;  // of the last
    double total_seconds = 0;
    double longest_seconds = 0;  // from a cause to the plan
    std::vector<Change> last;
    friend bool operator==(const Epochs&, const Epochs&) = default;
  };
  // The oldest round that somebody has pushed.
  struct OpenRound {
    std::string key;
    uint64_t round = 0;
    std::vector<std::string> not_pushed;  // names of the members that it waits for
    std::vector<std::string> not_held;
    std::string waits_for;  // whom and what, in words
    double since_s = 0;     // the last closed round
    friend bool operator==(const OpenRound&, const OpenRound&) = default;
  };
  // A link that is planned without for now.
  struct LinkOut {
    Two<std::string> between;
    double seconds_left = 0;
    std::string why;
    friend bool operator==(const LinkOut&, const LinkOut&) = default;
  };
  // What a node's workers have pushed into a key that is NaN or infinite.
  struct NotFinite {
    std::string key;
    uint64_t values = 0;
    uint64_t last_round = 0;
    friend bool operator==(const NotFinite&, const NotFinite&) = default;
  };
  // What a node has reported.
  struct Report {
    uint32_t workers = 0;
    std::optional<uint64_t> round;  // the newest of its keys; empty before the first
    uint64_t step = 0;
    std::optional<double> loss;
    double sync_seconds = 0;
    NodeCounters counters;
    uint64_t rejected_messages = 0;
    std::vector<Named<uint64_t>> memory;  // bytes by what they hold
    std::vector<NotFinite> not_finite;
    friend bool operator==(const Report&, const Report&) = default;
  };
  struct Membership {
    std::string incarnation;  // as text: not every reader of JSON keeps 64 bits
    uint64_t joined_in = 0;
    friend bool operator==(const Membership&, const Membership&) = default;
  };
  struct Node {
    std::string name;
    uint32_t id = 0;
    std::string state;
    std::string address;
    std::optional<double> heard_s;
    std::string version;       // of Banyan; empty when it has not said it
    bool is_insecure = false;  // other machines reach it, and it has no keys
    bool is_member = false;
    std::optional<Membership> membership;  // of a member
    std::optional<double> up_mbps;         // what the overlay says of it
    std::optional<double> down_mbps;
    std::optional<Two<double>> place;  // latitude and longitude
    std::optional<Report> report;      // empty before the first
    // Others have gone on for so long since it last contributed to a round; empty below ten seconds.
    std::optional<double> idle_s;
    friend bool operator==(const Node&, const Node&) = default;
  };
  // What the sender has measured.
  struct Measured {
    double one_way_delay_mbps = 0;  // Eq. 14 of NETSTORM
    double clock_offset_ms = 0;     // the receiver's clock minus the sender's
    double clock_uncertainty_ms = 0;
    friend bool operator==(const Measured&, const Measured&) = default;
  };
  struct Link {
    std::string from;
    std::string to;
    double mbps = 0;
    double delay_ms = 0;
    double loss_percent = 0;
    std::optional<double> age_s;  // empty when nobody has measured it
    std::string source;           // believed, primary or auxiliary
    bool is_old = false;          // measured too long ago to rely on
    LinkCounters traffic;
    std::optional<Measured> measured;
    friend bool operator==(const Link&, const Link&) = default;
  };
  // A cap of a host, by what its links have carried together.
  struct Inferred {
    std::string node;
    std::string what;  // sends or receives
    double mbps = 0;   // at most
    friend bool operator==(const Inferred&, const Inferred&) = default;
  };
  // A link that others go by way of, as their delays say; plans reckon with it.
  struct Way {
    std::string from;
    std::string to;
    double mbps = 0;  // of all of them
    std::vector<Two<std::string>> links;
    friend bool operator==(const Way&, const Way&) = default;
  };
  // The link that was busy for the largest part of the last round, as its sender saw it.
  struct SlowestLink {
    std::string from;
    std::string to;
    double mbps = 0;
    double busy_share = 0;
    friend bool operator==(const SlowestLink&, const SlowestLink&) = default;
  };
  // The policy in use.
  struct Plan {
    std::string planner;
    double rate_mbps = 0;
    double auxiliary_rate_mbps = 0;  // with ideal use of auxiliary paths
    double bound_mbps = 0;
    std::optional<double> bound_ratio;              // that rate over the bound; empty for a single node
    std::optional<double> predicted_round_seconds;  // empty while the model's size is unknown
    std::string policy_reason;
    uint64_t live_policies = 0;               // versions that govern open rounds
    uint64_t policies_taken_back = 0;         // since the start of the scheduler, because rounds were slower under them
    std::optional<SlowestLink> slowest_link;  // empty before nodes have finished two rounds
    friend bool operator==(const Plan&, const Plan&) = default;
  };
  struct Tree {
    std::string root;
    double share = 0;
    std::vector<Named<std::string>> reduce;  // parents by node
    std::vector<Named<std::string>> broadcast;
    friend bool operator==(const Tree&, const Tree&) = default;
  };
  struct Key {
    std::string key;
    uint64_t elements = 0;
    uint64_t closed_rounds = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  std::string job;
  std::string state;    // waiting, planning, running, failed or ended
  std::string error;    // empty unless failed
  std::string version;  // of the scheduler
  uint32_t protocol = 0;
  uint64_t term = 0;
  uint64_t epoch = 0;
  uint64_t policy = 0;             // its version
  uint64_t rejected_messages = 0;  // by the scheduler
  std::vector<std::string> waiting_for;
  bool is_insecure = false;             // other machines reach the scheduler, which has no keys
  std::optional<std::string> change;    // for what the change of membership under way waits
  std::optional<std::string> transfer;  // who fetches the training state while the others wait, and from whom
  std::optional<std::string> disorder;  // how nodes differ in what they push
  std::optional<std::string> storage;   // for how long the state has not been written
  Epochs epochs;
  std::optional<OpenRound> open_round;
  std::vector<std::string> barrier_waits_for;
  std::vector<LinkOut> links_out;
  std::optional<PrecisionStatus> precision;  // where the job has a profile
  std::vector<Node> nodes;
  // At most kMostLinksListed: those with trouble first, then those that were busy for longest in the last round, then
  // those that have carried anything.
  std::vector<Link> links;
  uint64_t links_left_out = 0;
  double auxiliary_share = 0;  // of all bytes sent, those on auxiliary paths
  std::vector<Inferred> inferred;
  std::vector<Way> ways;
  std::optional<Plan> plan;
  std::vector<Tree> trees;  // those with the largest shares: at most kMostEdgesListed edges, or one tree
  std::vector<Key> keys;
  uint64_t trees_left_out = 0;
  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Change& m) {
  v(1, "epoch", m.epoch);
  v(2, "reason", m.reason);
  v(3, "members", m.members);
  v(4, "seconds", m.seconds);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Epochs& m) {
  v(1, "count", m.count);
  v(2, "reason", m.reason);
  v(3, "total_seconds", m.total_seconds);
  v(4, "longest_seconds", m.longest_seconds);
  v(5, "last", m.last);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::OpenRound& m) {
  v(1, "key", m.key);
  v(2, "round", m.round);
  v(3, "not_pushed", m.not_pushed);
  v(4, "not_held", m.not_held);
  v(5, "waits_for", m.waits_for);
  v(6, "since_s", m.since_s);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::LinkOut& m) {
  v(1, "between", m.between);
  v(2, "seconds_left", m.seconds_left);
  v(3, "why", m.why);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::NotFinite& m) {
  v(1, "key", m.key);
  v(2, "values", m.values);
  v(3, "last_round", m.last_round);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Report& m) {
  v(1, "workers", m.workers);
  v(2, "round", m.round);
  v(3, "step", m.step);
  v(4, "loss", m.loss);
  v(5, "sync_seconds", m.sync_seconds);
  InOwner(v, 6, "counters", m.counters);
  v(7, "rejected_messages", m.rejected_messages);
  v(8, "memory", m.memory);
  v(9, "not_finite", m.not_finite);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Membership& m) {
  v(1, "incarnation", m.incarnation);
  v(2, "joined_in", m.joined_in);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Node& m) {
  v(1, "name", m.name, kName);
  v(2, "id", m.id);
  v(3, "state", m.state);
  v(4, "address", m.address);
  v(5, "heard_s", m.heard_s);
  v(6, "version", m.version);
  v(7, "insecure", m.is_insecure);
  v(8, "member", m.is_member);
  InOwner(v, 9, "membership", m.membership);
  v(10, "up_mbps", UnlessDefault(m.up_mbps));
  v(11, "down_mbps", UnlessDefault(m.down_mbps));
  v(12, "place", UnlessDefault(m.place));
  InOwner(v, 13, "report", m.report);
  v(14, "idle_s", UnlessDefault(m.idle_s));
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Measured& m) {
  v(1, "one_way_delay_mbps", m.one_way_delay_mbps);
  v(2, "clock_offset_ms", m.clock_offset_ms);
  v(3, "clock_uncertainty_ms", m.clock_uncertainty_ms);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Link& m) {
  v(1, "from", m.from, kName);
  v(2, "to", m.to, kName);
  v(3, "mbps", m.mbps);
  v(4, "delay_ms", m.delay_ms);
  v(5, "loss_percent", m.loss_percent);
  v(6, "age_s", m.age_s);
  v(7, "source", m.source);
  v(8, "old", m.is_old);
  InOwner(v, 9, "traffic", m.traffic);
  InOwner(v, 10, "measured", m.measured);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Inferred& m) {
  v(1, "node", m.node);
  v(2, "what", m.what);
  v(3, "mbps", m.mbps);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Way& m) {
  v(1, "from", m.from);
  v(2, "to", m.to);
  v(3, "mbps", m.mbps);
  v(4, "links", m.links);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::SlowestLink& m) {
  v(1, "from", m.from);
  v(2, "to", m.to);
  v(3, "mbps", m.mbps);
  v(4, "busy_share", m.busy_share);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Plan& m) {
  v(1, "planner", m.planner);
  v(2, "rate_mbps", m.rate_mbps);
  v(3, "auxiliary_rate_mbps", m.auxiliary_rate_mbps);
  v(4, "bound_mbps", m.bound_mbps);
  v(5, "bound_ratio", m.bound_ratio);
  v(6, "predicted_round_seconds", m.predicted_round_seconds);
  v(7, "policy_reason", m.policy_reason);
  v(8, "live_policies", m.live_policies);
  v(9, "policies_taken_back", m.policies_taken_back);
  v(10, "slowest_link", m.slowest_link);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Tree& m) {
  v(1, "root", m.root);
  v(2, "share", m.share);
  v(3, "reduce", m.reduce);
  v(4, "broadcast", m.broadcast);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus::Key& m) {
  v(1, "key", m.key);
  v(2, "elements", m.elements);
  v(3, "closed_rounds", m.closed_rounds);
}

template <typename Visitor>
void Fields(Visitor& v, JobStatus& m) {
  v(1, "job", m.job);
  v(2, "state", m.state);
  v(3, "error", UnlessDefault(m.error));
  v(4, "version", m.version);
  v(5, "protocol", m.protocol);
  v(6, "term", m.term);
  v(7, "epoch", m.epoch);
  v(8, "policy", m.policy);
  v(9, "rejected_messages", m.rejected_messages);
  v(10, "waiting_for", m.waiting_for);
  v(11, "insecure", m.is_insecure);
  v(12, "change", m.change);
  v(13, "transfer", m.transfer);
  v(14, "disorder", m.disorder);
  v(15, "storage", m.storage);
  v(16, "epochs", m.epochs);
  v(17, "open_round", m.open_round);
  v(18, "barrier_waits_for", m.barrier_waits_for);
  v(19, "links_out", m.links_out);
  v(20, "precision", UnlessDefault(m.precision));
  v(21, "nodes", m.nodes);
  v(22, "links", m.links);
  v(23, "links_left_out", m.links_left_out);
  v(24, "auxiliary_share", m.auxiliary_share);
  v(25, "inferred", m.inferred);
  v(26, "ways", m.ways);
  InOwner(v, 27, "plan", m.plan);
  v(28, "trees", m.trees);
  v(29, "keys", m.keys);
  v(30, "trees_left_out", UnlessDefault(m.trees_left_out));
}

// Returns the status as JSON, on one line.
std::string StatusJson(const JobStatus& status);

// Answers StatusRequest. Without a job it is that of a version that sent text.
struct StatusReply {
  StatusReply(JobStatus of = {}) : status(std::make_unique<JobStatus>(std::move(of))) {}
  StatusReply(const StatusReply& other) : StatusReply(*other.status) {}
  StatusReply(StatusReply&&) = default;
  StatusReply& operator=(StatusReply other) {
    status = std::move(other.status);
    return *this;
  }
  std::unique_ptr<JobStatus> status;  // apart: the other messages have no room to give
  friend bool operator==(const StatusReply& a, const StatusReply& b) { return *a.status == *b.status; }
};

template <typename Visitor>
void Fields(Visitor& v, StatusReply& m) {
  v(2, "status", *m.status);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_STATUS_H_
