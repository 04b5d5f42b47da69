#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/key_runs.h"
#include "proto/message_wire.h"

namespace banyan {
namespace {

constexpr int kMaxWaitedFor = 16;
// Whoever gets a binding may walk through its rounds.
constexpr uint64_t kMaxBoundRounds = 65536;

// The first round past the last one wraps around to a large number.
void CheckRounds(uint64_t first_round, uint64_t last_round, FieldReader& fields) {
  if (last_round - first_round < kMaxBoundRounds) return;
  fields.Refuse("last_round", absl::StrCat("0 to ", kMaxBoundRounds - 1, " rounds after round ", first_round),
                absl::StrCat("round ", last_round));
}

KeyRoutes ReadKeyRoutes(uint64_t bits, FieldReader fields) {
  if (KeyRoutes::IsRoutes(bits)) return KeyRoutes::OfBits(bits);
  fields.Refuse("route", "a precision route for each slice", absl::StrCat(bits));
  return KeyRoutes();
}

PolicyAnswer::Binding ReadBinding(const wire::PolicyAnswer::Binding& from, FieldReader fields) {
  PolicyAnswer::Binding binding;
  binding.key = fields.NonZero<KeyId>("key", from.key());
  binding.first_round = Round(from.first_round());
  binding.last_round = Round(from.last_round());
  binding.policy = fields.NonZero<PolicyVersion>("policy", from.policy());
  binding.attempt = Attempt(from.attempt());
  binding.chunk_max_elements =
      fields.Between("chunk_max_elements", from.chunk_max_elements(), int64_t{0}, fields.limits().max_chunk_elements);
  binding.route = ReadKeyRoutes(from.route(), fields);
  CheckRounds(from.first_round(), from.last_round(), fields);
  return binding;
}

EpochPlan::Frontier ReadFrontier(const wire::EpochPlan::Frontier& from, KeyId before, FieldReader fields) {
  const KeyRun keys = fields.Keys(from.first_key(), from.last_key(), before);
  return EpochPlan::Frontier{keys.first, keys.last, Round(from.first_open())};
}

EpochPlan::Binding ReadEpochBinding(const wire::EpochPlan::Binding& from, FieldReader fields) {
  EpochPlan::Binding binding;
  // A key has a binding for each chunk size of its open rounds.
  const KeyRun keys = fields.Keys(from.first_key(), from.last_key(), KeyId());
  binding.first_key = keys.first;
  binding.last_key = keys.last;
  binding.first_round = Round(from.first_round());
  binding.last_round = Round(from.last_round());
  CheckRounds(from.first_round(), from.last_round(), fields);
  binding.attempt = Attempt(from.attempt());
  binding.chunk_max_elements =
      fields.Between("chunk_max_elements", from.chunk_max_elements(), int64_t{1}, fields.limits().max_chunk_elements);
  binding.route = ReadKeyRoutes(from.route(), fields);
  return binding;
}

}  // namespace

void Write(const JoinAccepted& from, wire::Envelope& to) {
  wire::JoinAccepted& accepted = *to.mutable_join_accepted();
  accepted.set_term(from.term.value());
  accepted.set_node(from.node.value());
  WriteJobConfig(from.config, *accepted.mutable_config());
  accepted.set_start(from.start.value());
  accepted.set_is_first_join(from.is_first_join);
}

JoinAccepted Read(const wire::JoinAccepted& from, FieldReader fields) {
  JoinAccepted accepted;
  accepted.term = fields.NonZero<Term>("term", from.term());
  accepted.node = fields.NonZero<NodeId>("node", from.node());
  accepted.config = ReadJobConfig(from.config(), fields.Within("config"));
  accepted.start = StartId(from.start());
  accepted.is_first_join = from.is_first_join();
  return accepted;
}

void Write(const JoinRefused& from, wire::Envelope& to) {
  wire::JoinRefused& refused = *to.mutable_join_refused();
  refused.set_term(from.term.value());
  refused.set_reason(SendableReason(from.reason));
  refused.set_fell_out(from.fell_out);
  refused.set_job_is_over(from.job_is_over);
}

JoinRefused Read(const wire::JoinRefused& from, FieldReader fields) {
  return JoinRefused{fields.NonZero<Term>("term", from.term()), fields.Reason("reason", from.reason()), from.fell_out(),
                     from.job_is_over()};
}

void Write(const MembershipUpdate& from, wire::Envelope& to) {
  wire::MembershipUpdate& update = *to.mutable_membership_update();
  update.set_term(from.term.value());
  update.set_epoch(from.epoch.value());
  update.set_joined(from.joined);
  update.set_expected(from.expected);
  update.set_started(from.started);
  for (const std::string& name : from.waiting_for) update.add_waiting_for(name);
}

MembershipUpdate Read(const wire::MembershipUpdate& from, FieldReader fields) {
  MembershipUpdate update;
  update.term = fields.NonZero<Term>("term", from.term());
  update.epoch = Epoch(from.epoch());
  update.joined = from.joined();
  update.expected = from.expected();
  update.started = from.started();
  const int count = fields.Count("waiting_for", from.waiting_for_size(), 0, kMaxWaitedFor);
  for (int i = 0; i < count; ++i) update.waiting_for.push_back(fields.Name("waiting_for", from.waiting_for(i)));
  return update;
}

void Write(const AccessList& from, wire::Envelope& to) {
  wire::AccessList& list = *to.mutable_access_list();
  list.set_term(from.term.value());
  for (const ListedKey& key : from.keys) {
    wire::AccessList::Entry& entry = *list.add_keys();
    entry.set_public_key(key.public_key);
    entry.set_role(static_cast<uint32_t>(key.role));
    entry.set_name(key.name);
    entry.set_node(key.node.value());
  }
}

AccessList Read(const wire::AccessList& from, FieldReader fields) {
  AccessList list;
  list.term = fields.NonZero<Term>("term", from.term());
  const int count = fields.Count("keys", from.keys_size());
  list.keys.reserve(count);
  for (int i = 0; i < count; ++i) {
    const wire::AccessList::Entry& entry = from.keys(i);
    FieldReader within = fields.Within("keys", i);
    within.Expect(IsKeyText(entry.public_key()), "public_key", "40 characters of Z85", "another text");
    list.keys.push_back({within.Name("public_key", entry.public_key()),
                         within.OneOf("role", static_cast<int>(entry.role()), Role::kObserver),
                         within.Name("name", entry.name()), NodeId(entry.node())});
  }
  return list;
}

void Write(const HeartbeatReply& from, wire::Envelope& to) {
  wire::HeartbeatReply& reply = *to.mutable_heartbeat_reply();
  reply.set_term(from.term.value());
  reply.set_sent_at_ns(from.sent_at.nanoseconds());
}

HeartbeatReply Read(const wire::HeartbeatReply& from, FieldReader fields) {
  return HeartbeatReply{fields.NonZero<Term>("term", from.term()), fields.Time("sent_at", from.sent_at_ns())};
}

void Write(const KeysAssigned& from, wire::Envelope& to) {
  wire::KeysAssigned& assigned = *to.mutable_keys_assigned();
  assigned.set_term(from.term.value());
  assigned.set_version(from.version.value());
  for (const KeySlice& key : from.keys) WriteKeySlice(key, *assigned.add_keys());
}

KeysAssigned Read(const wire::KeysAssigned& from, FieldReader fields) {
  KeysAssigned assigned;
  assigned.term = fields.NonZero<Term>("term", from.term());
  assigned.version = KeyTableVersion(from.version());
  const int count = fields.Count("keys", from.keys_size());
  assigned.keys.reserve(count);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("keys", i);
    assigned.keys.push_back(ReadKeySlice(from.keys(i), within));
    if (i > 0 && assigned.keys[i].key != assigned.keys[i - 1].key.Next()) {
      within.Refuse("key", absl::StrCat(assigned.keys[i - 1].key.Next().value(), ", without a gap"),
                    absl::StrCat(from.keys(i).key()));
    }
  }
  return assigned;
}

void Write(const KeyRefused& from, wire::Envelope& to) {
  wire::KeyRefused& refused = *to.mutable_key_refused();
  refused.set_term(from.term.value());
  refused.set_name(from.name);
  refused.set_reason(SendableReason(from.reason));
}

KeyRefused Read(const wire::KeyRefused& from, FieldReader fields) {
  KeyRefused refused;
  refused.term = fields.NonZero<Term>("term", from.term());
  refused.name = fields.Name("name", from.name());
  refused.reason = fields.Reason("reason", from.reason());
  return refused;
}

void Write(const PolicyAnswer& from, wire::Envelope& to) {
  wire::PolicyAnswer& answer = *to.mutable_policy_answer();
  answer.set_term(from.term.value());
  answer.set_epoch(from.epoch.value());
  WriteKeyRuns(from.bindings, [&answer](const PolicyAnswer::Binding& binding, uint32_t more_keys) {
    wire::PolicyAnswer::Binding& written = *answer.add_bindings();
    written.set_key(binding.key.value());
    written.set_first_round(binding.first_round.value());
    written.set_last_round(binding.last_round.value());
    written.set_policy(binding.policy.value());
    written.set_attempt(binding.attempt.value());
    written.set_more_keys(more_keys);
    written.set_chunk_max_elements(binding.chunk_max_elements);
    written.set_route(binding.route.bits());
  });
}

PolicyAnswer Read(const wire::PolicyAnswer& from, FieldReader fields) {
  PolicyAnswer answer;
  answer.term = fields.NonZero<Term>("term", from.term());
  answer.epoch = Epoch(from.epoch());
  const int count = fields.Count("bindings", from.bindings_size());
  answer.bindings.reserve(count);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("bindings", i);
    within.AddRun(ReadBinding(from.bindings(i), within), from.bindings(i).more_keys(), answer.bindings);
  }
  return answer;
}

void Write(const CutSought& from, wire::Envelope& to) {
  wire::CutSought& sought = *to.mutable_cut_sought();
  sought.set_term(from.term.value());
  sought.set_epoch(from.epoch.value());
  sought.set_policy(from.policy.value());
}

CutSought Read(const wire::CutSought& from, FieldReader fields) {
  return CutSought{fields.NonZero<Term>("term", from.term()), fields.NonZero<Epoch>("epoch", from.epoch()),
                   fields.NonZero<PolicyVersion>("policy", from.policy())};
}

void Write(const PolicyPublished& from, wire::Envelope& to) {
  wire::PolicyPublished& published = *to.mutable_policy_published();
  published.set_term(from.term.value());
  WritePolicySlice(from.slice, *published.mutable_slice());
}

PolicyPublished Read(const wire::PolicyPublished& from, FieldReader fields) {
  PolicyPublished published;
  published.term = fields.NonZero<Term>("term", from.term());
  published.slice = ReadPolicySlice(from.slice(), fields.Within("slice"));
  return published;
}

void Write(const ClosedEverywhere& from, wire::Envelope& to) {
  wire::ClosedEverywhere& closed = *to.mutable_closed_everywhere();
  closed.set_term(from.term.value());
  WriteKeyRuns(from.entries, [&closed](const ClosedEverywhere::Entry& entry, uint32_t more_keys) {
    wire::ClosedEverywhere::Entry& written = *closed.add_entries();
    written.set_key(entry.key.value());
    written.set_round(entry.round.value());
    written.set_more_keys(more_keys);
  });
}

ClosedEverywhere Read(const wire::ClosedEverywhere& from, FieldReader fields) {
  ClosedEverywhere closed;
  closed.term = fields.NonZero<Term>("term", from.term());
  const int count = fields.Count("entries", from.entries_size());
  closed.entries.reserve(count);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("entries", i);
    const ClosedEverywhere::Entry entry = {within.NonZero<KeyId>("key", from.entries(i).key()),
                                           Round(from.entries(i).round())};
    within.AddRun(entry, from.entries(i).more_keys(), closed.entries);
  }
  return closed;
}

void Write(const QuorumReached& from, wire::Envelope& to) {
  to.mutable_quorum_reached()->set_term(from.term.value());
  WriteProgressRuns(from.runs, *to.mutable_quorum_reached()->mutable_runs());
}

QuorumReached Read(const wire::QuorumReached& from, FieldReader fields) {
  QuorumReached reached;
  reached.term = fields.NonZero<Term>("term", from.term());
  reached.runs = ReadProgressRuns(from.runs(), fields);
  return reached;
}

void Write(const BarrierReleased& from, wire::Envelope& to) {
  wire::BarrierReleased& released = *to.mutable_barrier_released();
  released.set_term(from.term.value());
  released.set_barrier(from.barrier);
}

BarrierReleased Read(const wire::BarrierReleased& from, FieldReader fields) {
  return BarrierReleased{fields.NonZero<Term>("term", from.term()), from.barrier()};
}

void Write(const JobFailed& from, wire::Envelope& to) {
  wire::JobFailed& failed = *to.mutable_job_failed();
  failed.set_term(from.term.value());
  failed.set_code(static_cast<uint32_t>(from.code));
  failed.set_reason(SendableReason(from.reason));
  failed.set_asked_for(from.asked_for);
}

JobFailed Read(const wire::JobFailed& from, FieldReader fields) {
  JobFailed failed;
  failed.term = fields.NonZero<Term>("term", from.term());
  failed.code = static_cast<absl::StatusCode>(
      fields.Between("code", from.code(), static_cast<uint32_t>(absl::StatusCode::kCancelled),
                     static_cast<uint32_t>(absl::StatusCode::kUnauthenticated)));
  failed.reason = fields.Reason("reason", from.reason());
  failed.asked_for = from.asked_for();
  return failed;
}

void Write(const StatusReply& from, wire::Envelope& to) { to.mutable_status_reply()->set_json(from.json); }

StatusReply Read(const wire::StatusReply& from, FieldReader) { return StatusReply{from.json()}; }

void Write(const PoliciesRetired& from, wire::Envelope& to) {
  wire::PoliciesRetired& retired = *to.mutable_policies_retired();
  retired.set_term(from.term.value());
  retired.set_oldest(from.oldest.value());
}

PoliciesRetired Read(const wire::PoliciesRetired& from, FieldReader fields) {
  return PoliciesRetired{fields.NonZero<Term>("term", from.term()),
                         fields.NonZero<PolicyVersion>("oldest", from.oldest())};
}

void Write(const EpochBegin& from, wire::Envelope& to) {
  wire::EpochBegin& begin = *to.mutable_epoch_begin();
  begin.set_term(from.term.value());
  begin.set_epoch(from.epoch.value());
  begin.set_reason(SendableReason(from.reason));
}

EpochBegin Read(const wire::EpochBegin& from, FieldReader fields) {
  return EpochBegin{fields.NonZero<Term>("term", from.term()), fields.NonZero<Epoch>("epoch", from.epoch()),
                    fields.Reason("reason", from.reason())};
}

void Write(const EpochPlan& from, wire::Envelope& to) {
  wire::EpochPlan& plan = *to.mutable_epoch_plan();
  plan.set_term(from.term.value());
  plan.set_epoch(from.epoch.value());
  plan.set_policy(from.policy.value());
  plan.set_part(from.part);
  plan.set_has_more(from.has_more);
  for (const EpochPlan::Frontier& frontier : from.frontiers) {
    wire::EpochPlan::Frontier& written = *plan.add_frontiers();
    written.set_first_key(frontier.first_key.value());
    written.set_last_key(frontier.last_key.value());
    written.set_first_open(frontier.first_open.value());
  }
  for (const EpochPlan::Binding& binding : from.bindings) {
    wire::EpochPlan::Binding& written = *plan.add_bindings();
    written.set_first_key(binding.first_key.value());
    written.set_last_key(binding.last_key.value());
    written.set_first_round(binding.first_round.value());
    written.set_last_round(binding.last_round.value());
    written.set_attempt(binding.attempt.value());
    written.set_chunk_max_elements(binding.chunk_max_elements);
    written.set_route(binding.route.bits());
  }
}

EpochPlan Read(const wire::EpochPlan& from, FieldReader fields) {
  EpochPlan plan;
  plan.term = fields.NonZero<Term>("term", from.term());
  plan.epoch = fields.NonZero<Epoch>("epoch", from.epoch());
  plan.policy = fields.NonZero<PolicyVersion>("policy", from.policy());
  plan.part = from.part();
  plan.has_more = from.has_more();
  const int frontiers = fields.Count("frontiers", from.frontiers_size());
  for (int i = 0; i < frontiers; ++i) {
    const KeyId before = plan.frontiers.empty() ? KeyId() : plan.frontiers.back().last_key;
    plan.frontiers.push_back(ReadFrontier(from.frontiers(i), before, fields.Within("frontiers", i)));
  }
  const int bindings = fields.Count("bindings", from.bindings_size());
  for (int i = 0; i < bindings; ++i) {
    plan.bindings.push_back(ReadEpochBinding(from.bindings(i), fields.Within("bindings", i)));
  }
  return plan;
}

void Write(const OperatorReply& from, wire::Envelope& to) {
  wire::OperatorReply& reply = *to.mutable_operator_reply();
  reply.set_accepted(from.accepted);
  reply.set_text(SendableReason(from.text));
}

OperatorReply Read(const wire::OperatorReply& from, FieldReader fields) {
  return OperatorReply{from.accepted(), fields.Reason("text", from.text())};
}

void Write(const WaitAnswer& from, wire::Envelope& to) {
  wire::WaitAnswer& answer = *to.mutable_wait_answer();
  answer.set_term(from.term.value());
  answer.set_key(from.key.value());
  answer.set_round(from.round.value());
  answer.set_text(SendableReason(from.text));
}

WaitAnswer Read(const wire::WaitAnswer& from, FieldReader fields) {
  return WaitAnswer{fields.NonZero<Term>("term", from.term()), KeyId(from.key()), Round(from.round()),
                    fields.Reason("text", from.text())};
}

}  // namespace banyan
