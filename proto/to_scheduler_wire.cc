#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/key_runs.h"
#include "proto/message_wire.h"

namespace banyan {
namespace {

static_assert(static_cast<int>(RoundKind::kBroadcast) == wire::ROUND_KIND_BROADCAST);

constexpr int kMaxMemoryRows = 64;
// A bit in a quarter of an hour, and a thousand times the fastest link there is.
constexpr double kLeastRateBps = 1e-3;
constexpr double kMostRateBps = 1e15;
static_assert(static_cast<int>(LinkMeasurement::Source::kAuxiliary) == wire::MEASUREMENT_SOURCE_AUXILIARY);

// Reads the type, and the parts of a group, which has as many elements as all of them.
TensorLayout ReadLayout(const wire::RegisterKeys::Key& from, FieldReader& key) {
  TensorLayout layout;
  layout.type = key.OneOf("type", static_cast<int>(from.type()), kLastElementType);
  const int count = key.Count("parts", from.parts_size());
  layout.parts.reserve(count);
  for (int i = 0; i < count; ++i) {
    FieldReader part = key.Within("parts", i);
    layout.parts.push_back(
        {part.Name("name", from.parts(i).name()),
         part.Between("elements", from.parts(i).elements(), int64_t{0}, part.limits().max_key_elements)});
  }
  key.Expect(!layout.is_group() || layout.Elements() == from.elements(), "parts",
             absl::StrCat(from.elements(), " elements in all"), absl::StrCat(layout.Elements()));
  return layout;
}

void WriteMeasurement(const LinkMeasurement& from, wire::LinkMeasurement& to) {
  to.set_source(static_cast<wire::MeasurementSource>(from.source));
  to.set_rate_bps(from.rate_bps);
  to.set_one_way_delay_rate_bps(from.one_way_delay_rate_bps);
  to.set_is_backlogged(from.is_backlogged);
  to.set_delay_ns(absl::ToInt64Nanoseconds(from.delay));
  to.set_age_ns(absl::ToInt64Nanoseconds(from.age));
  to.set_clock_offset_ns(absl::ToInt64Nanoseconds(from.clock_offset));
  to.set_clock_uncertainty_ns(absl::ToInt64Nanoseconds(from.clock_uncertainty));
}

LinkMeasurement ReadMeasurement(const wire::LinkMeasurement& from, FieldReader fields) {
  LinkMeasurement measurement;
  measurement.source = fields.OneOf("source", from.source(), LinkMeasurement::Source::kAuxiliary);
  measurement.rate_bps = fields.FiniteBetween("rate_bps", from.rate_bps(), kLeastRateBps, kMostRateBps);
  measurement.one_way_delay_rate_bps =
      fields.FiniteBetween("one_way_delay_rate_bps", from.one_way_delay_rate_bps(), 0.0, kMostRateBps);
  measurement.is_backlogged = from.is_backlogged();
  measurement.delay = fields.Duration("delay", from.delay_ns(), absl::ZeroDuration());
  measurement.age = fields.Duration("age", from.age_ns(), absl::ZeroDuration());
  // The clocks of two processes have nothing in common.
  measurement.clock_offset = absl::Nanoseconds(from.clock_offset_ns());
  measurement.clock_uncertainty =
      fields.Duration("clock_uncertainty", from.clock_uncertainty_ns(), absl::ZeroDuration());
  return measurement;
}

void WriteReportLists(const NodeReport& from, wire::NodeReport& to) {
  for (const NodeReport::Link& link : from.links) {
    wire::NodeReport::Link& written = *to.add_links();
    written.set_to(link.to.value());
    written.set_sent_bytes(link.sent_bytes);
    written.set_resent_bytes(link.resent_bytes);
    written.set_auxiliary_bytes(link.auxiliary_bytes);
    written.set_busy_share(link.busy_share);
    written.set_renewals(link.renewals);
    written.set_is_blocked(link.is_blocked);
    written.set_cut_chunks(link.cut_chunks);
    written.set_cut_bytes(link.cut_bytes);
    if (link.measurement.has_value()) WriteMeasurement(*link.measurement, *written.mutable_measurement());
  }
  for (const NodeReport::Memory& memory : from.memory) {
    wire::NodeReport::Memory& written = *to.add_memory();
    written.set_what(memory.what);
    written.set_size_bytes(memory.size_bytes);
  }
  WriteKeyRuns(from.progress, [&to](const NodeReport::KeyProgress& progress, uint32_t more_keys) {
    wire::NodeReport::KeyProgress& written = *to.add_progress();
    written.set_key(progress.key.value());
    written.set_round(progress.round.value());
    written.set_pushed(progress.pushed.value());
    written.set_more_keys(more_keys);
  });
}

void WriteMissing(const NodeReport::Missing& from, wire::NodeReport::Missing& to) {
  to.set_key(from.key.value());
  to.set_round(from.round.value());
  for (const WorkerId worker : from.workers) to.add_workers(worker.value());
}

NodeReport::Missing ReadMissing(const wire::NodeReport::Missing& from, FieldReader fields) {
  NodeReport::Missing missing{KeyId(from.key()), Round(from.round()), {}};
  const int workers = fields.Count("workers", from.workers_size(), 0, NodeReport::kMostMissingWorkers);
  for (int i = 0; i < workers; ++i) missing.workers.push_back(WorkerId(from.workers(i)));
  return missing;
}

void ReadReportLists(const wire::NodeReport& from, FieldReader& fields, NodeReport& report) {
  const int links = fields.Count("links", from.links_size());
  for (int i = 0; i < links; ++i) {
    const wire::NodeReport::Link& link = from.links(i);
    FieldReader within = fields.Within("links", i);
    NodeReport::Link read{within.NonZero<NodeId>("to", link.to()),
                          link.sent_bytes(),
                          link.resent_bytes(),
                          link.auxiliary_bytes(),
                          within.FiniteBetween("busy_share", link.busy_share(), 0.0, 1.0),
                          std::nullopt,
                          link.renewals(),
                          link.is_blocked(),
                          link.cut_chunks(),
                          link.cut_bytes()};
    if (link.has_measurement()) read.measurement = ReadMeasurement(link.measurement(), within.Within("measurement"));
    report.links.push_back(std::move(read));
  }
  const int rows = fields.Count("memory", from.memory_size(), 0, kMaxMemoryRows);
  for (int i = 0; i < rows; ++i) {
    const wire::NodeReport::Memory& memory = from.memory(i);
    report.memory.push_back({fields.Within("memory", i).Name("what", memory.what()), memory.size_bytes()});
  }
  const int keys = fields.Count("progress", from.progress_size());
  for (int i = 0; i < keys; ++i) {
    const wire::NodeReport::KeyProgress& progress = from.progress(i);
    FieldReader within = fields.Within("progress", i);
    const NodeReport::KeyProgress first = {within.NonZero<KeyId>("key", progress.key()), Round(progress.round()),
                                           Round(progress.pushed())};
    within.AddRun(first, progress.more_keys(), report.progress);
  }
}

void WriteLag(const NodeReport::Lag& from, wire::NodeReport::Lag& to) {
  to.set_key(from.key.value());
  to.set_worker(from.worker.value());
  to.set_since(from.since.value());
  to.set_pushed(from.pushed.value());
  to.set_lag(from.lag);
}

NodeReport::Lag ReadLag(const wire::NodeReport::Lag& from, FieldReader fields) {
  fields.Expect(from.since() <= from.pushed(), "pushed", absl::StrCat("round ", from.since(), " or later"),
                absl::StrCat("round ", from.pushed()));
  return {fields.NonZero<KeyId>("key", from.key()), WorkerId(from.worker()), Round(from.since()), Round(from.pushed()),
          from.lag()};
}

void WriteRefusal(const NodeReport::Refusal& from, wire::NodeReport::Refusal& to) {
  to.set_name(from.name);
  to.set_worker(from.worker.value());
  to.set_reason(SendableReason(from.reason));
}

NodeReport::Refusal ReadRefusal(const wire::NodeReport::Refusal& from, FieldReader fields) {
  return {fields.Name("name", from.name()), WorkerId(from.worker()), fields.Reason("reason", from.reason())};
}

void WriteSynchronisation(const NodeReport::Synchronisation& from, wire::NodeReport::Synchronisation& to) {
  to.set_count(from.count);
  to.set_elements(from.elements);
  to.set_duration_ns(absl::ToInt64Nanoseconds(from.duration));
}

NodeReport::Synchronisation ReadSynchronisation(const wire::NodeReport::Synchronisation& from, FieldReader fields) {
  NodeReport::Synchronisation last;
  last.count = from.count();
  last.elements = fields.Between("elements", from.elements(), int64_t{0}, std::numeric_limits<int64_t>::max());
  last.duration = fields.Duration("duration", from.duration_ns(), absl::ZeroDuration());
  return last;
}

}  // namespace

void Write(const Join& from, wire::Envelope& to) {
  wire::Join& join = *to.mutable_join();
  join.set_protocol_version(from.protocol_version);
  join.set_job(from.job);
  join.set_name(from.name);
  join.set_address(from.address);
  join.set_incarnation(from.incarnation.value());
  join.set_version(from.version);
}

Join Read(const wire::Join& from, FieldReader fields) {
  Join join;
  join.protocol_version = from.protocol_version();
  join.job = fields.Text("job", from.job());
  join.name = fields.Text("name", from.name());
  join.address = fields.Text("address", from.address());
  join.incarnation = fields.NonZero<Incarnation>("incarnation", from.incarnation());
  join.version = fields.Text("version", from.version());
  return join;
}

void Write(const Heartbeat& from, wire::Envelope& to) {
  to.mutable_heartbeat()->set_sent_at_ns(from.sent_at.nanoseconds());
}

Heartbeat Read(const wire::Heartbeat& from, FieldReader fields) {
  return Heartbeat{fields.Time("sent_at", from.sent_at_ns())};
}

void Write(const RegisterKeys& from, wire::Envelope& to) {
  wire::RegisterKeys& keys = *to.mutable_register_keys();
  for (const RegisterKeys::Key& key : from.keys) {
    wire::RegisterKeys::Key& written = *keys.add_keys();
    written.set_name(key.name);
    written.set_elements(key.elements);
    written.set_type(static_cast<uint32_t>(key.layout.type));
    for (const TensorLayout::Part& part : key.layout.parts) {
      wire::RegisterKeys::Part& added = *written.add_parts();
      added.set_name(part.name);
      added.set_elements(part.elements);
    }
  }
}

RegisterKeys Read(const wire::RegisterKeys& from, FieldReader fields) {
  RegisterKeys keys;
  const int count = fields.Count("keys", from.keys_size());
  keys.keys.reserve(count);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("keys", i);
    keys.keys.push_back(
        {within.Name("name", from.keys(i).name()),
         within.Between("elements", from.keys(i).elements(), int64_t{0}, fields.limits().max_key_elements),
         ReadLayout(from.keys(i), within)});
  }
  return keys;
}

void Write(const PolicyRequest& from, wire::Envelope& to) {
  wire::PolicyRequest& request = *to.mutable_policy_request();
  WriteKeyRuns(from.entries, [&request](const PolicyRequest::Entry& entry, uint32_t more_keys) {
    wire::PolicyRequest::Entry& written = *request.add_entries();
    written.set_key(entry.key.value());
    written.set_round(entry.round.value());
    written.set_more_keys(more_keys);
  });
}

PolicyRequest Read(const wire::PolicyRequest& from, FieldReader fields) {
  PolicyRequest request;
  const int count = fields.Count("entries", from.entries_size());
  request.entries.reserve(count);
  for (int i = 0; i < count; ++i) {
    const wire::PolicyRequest::Entry& entry = from.entries(i);
    FieldReader within = fields.Within("entries", i);
    const PolicyRequest::Entry first = {within.NonZero<KeyId>("key", entry.key()), Round(entry.round())};
    within.AddRun(first, entry.more_keys(), request.entries);
  }
  return request;
}

void Write(const CutBound& from, wire::Envelope& to) {
  wire::CutBound& bound = *to.mutable_cut_bound();
  bound.set_epoch(from.epoch.value());
  bound.set_policy(from.policy.value());
  WriteKeyRuns(from.rounds, [&bound](const CutBound::Entry& entry, uint32_t more_keys) {
    wire::CutBound::Entry& written = *bound.add_rounds();
    written.set_key(entry.key.value());
    written.set_round(entry.round.value());
    written.set_more_keys(more_keys);
  });
}

CutBound Read(const wire::CutBound& from, FieldReader fields) {
  CutBound bound;
  bound.epoch = fields.NonZero<Epoch>("epoch", from.epoch());
  bound.policy = fields.NonZero<PolicyVersion>("policy", from.policy());
  const int count = fields.Count("rounds", from.rounds_size());
  bound.rounds.reserve(count);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("rounds", i);
    const CutBound::Entry entry = {within.NonZero<KeyId>("key", from.rounds(i).key()), Round(from.rounds(i).round())};
    within.AddRun(entry, from.rounds(i).more_keys(), bound.rounds);
  }
  return bound;
}

void Write(const RoundsClosed& from, wire::Envelope& to) {
  wire::RoundsClosed& closed = *to.mutable_rounds_closed();
  for (const RoundsClosed::Entry& entry : from.entries) {
    wire::RoundsClosed::Entry& written = *closed.add_entries();
    written.set_key(entry.key.value());
    written.set_round(entry.round.value());
    written.set_hash(entry.hash);
    written.set_more_keys(entry.more_keys);
  }
}

RoundsClosed Read(const wire::RoundsClosed& from, FieldReader fields) {
  RoundsClosed closed;
  const int count = fields.Count("entries", from.entries_size());
  closed.entries.reserve(count);
  size_t keys = 0;
  for (int i = 0; i < count; ++i) {
    const wire::RoundsClosed::Entry& entry = from.entries(i);
    FieldReader within = fields.Within("entries", i);
    const KeyId key = within.NonZero<KeyId>("key", entry.key());
    const uint32_t more_keys = within.MoreKeys(key, entry.more_keys(), keys);
    closed.entries.push_back({key, Round(entry.round()), entry.hash(), more_keys});
  }
  return closed;
}

void Write(const RoundsPushed& from, wire::Envelope& to) {
  WriteProgressRuns(from.runs, *to.mutable_rounds_pushed()->mutable_runs());
}

RoundsPushed Read(const wire::RoundsPushed& from, FieldReader fields) {
  return RoundsPushed{ReadProgressRuns(from.runs(), fields)};
}

void Write(const BarrierEntered& from, wire::Envelope& to) { to.mutable_barrier_entered()->set_barrier(from.barrier); }

BarrierEntered Read(const wire::BarrierEntered& from, FieldReader) { return BarrierEntered{from.barrier()}; }

void Write(const PeerLost& from, wire::Envelope& to) {
  wire::PeerLost& lost = *to.mutable_peer_lost();
  lost.set_peer(from.peer.value());
  lost.set_reason(SendableReason(from.reason));
}

PeerLost Read(const wire::PeerLost& from, FieldReader fields) {
  return PeerLost{fields.NonZero<NodeId>("peer", from.peer()), fields.Reason("reason", from.reason())};
}

void Write(const WorkerLost& from, wire::Envelope& to) {
  wire::WorkerLost& lost = *to.mutable_worker_lost();
  lost.set_worker(from.worker.value());
  lost.set_reason(SendableReason(from.reason));
}

WorkerLost Read(const wire::WorkerLost& from, FieldReader fields) {
  return WorkerLost{WorkerId(from.worker()), fields.Reason("reason", from.reason())};
}

void Write(const CannotFollow& from, wire::Envelope& to) {
  to.mutable_cannot_follow()->set_reason(SendableReason(from.reason));
}

CannotFollow Read(const wire::CannotFollow& from, FieldReader fields) {
  return CannotFollow{fields.Reason("reason", from.reason())};
}

void Write(const RoundBroken& from, wire::Envelope& to) {
  wire::RoundBroken& broken = *to.mutable_round_broken();
  broken.set_key(from.key.value());
  broken.set_round(from.round.value());
  broken.set_culprit(from.culprit.value());
  broken.set_reason(SendableReason(from.reason));
}

RoundBroken Read(const wire::RoundBroken& from, FieldReader fields) {
  return RoundBroken{fields.NonZero<KeyId>("key", from.key()), Round(from.round()), NodeId(from.culprit()),
                     fields.Reason("reason", from.reason())};
}

void Write(const Leave& from, wire::Envelope& to) {
  wire::Leave& leave = *to.mutable_leave();
  leave.set_reason(SendableReason(from.reason));
  leave.set_asked_for(from.asked_for);
}

Leave Read(const wire::Leave& from, FieldReader fields) {
  return Leave{fields.Reason("reason", from.reason()), from.asked_for()};
}

void Write(const NodeReport& from, wire::Envelope& to) {
  wire::NodeReport& report = *to.mutable_node_report();
  report.set_workers_attached(from.workers_attached);
  report.set_rejected_messages(from.rejected_messages);
  WriteReportLists(from, report);
  report.set_step(from.step);
  report.set_loss(FiniteLoss(from.loss));
  WriteSynchronisation(from.last_sync, *report.mutable_last_sync());
  for (const NodeReport::Missing& missing : from.missing) WriteMissing(missing, *report.add_missing());
  for (const NodeReport::NotFinite& row : from.not_finite) {
    wire::NodeReport::NotFinite& written = *report.add_not_finite();
    written.set_key(row.key.value());
    written.set_values(row.values);
    written.set_last(row.last.value());
  }
  for (const NodeReport::Lag& row : from.lags) WriteLag(row, *report.add_lags());
  for (const NodeReport::Refusal& row : from.refusals) WriteRefusal(row, *report.add_refusals());
  report.set_late_rounds(from.late_rounds);
  report.set_route_violations(from.route_violations);
  if (from.precision != PrecisionReport()) WritePrecisionReport(from.precision, *report.mutable_precision());
}

NodeReport Read(const wire::NodeReport& from, FieldReader fields) {
  NodeReport report;
  report.workers_attached = from.workers_attached();
  report.rejected_messages = from.rejected_messages();
  ReadReportLists(from, fields, report);
  report.step = from.step();
  report.loss = fields.Finite("loss", from.loss());
  report.last_sync = ReadSynchronisation(from.last_sync(), fields.Within("last_sync"));
  const int missing = fields.Count("missing", from.missing_size(), 0, NodeReport::kMostMissing);
  for (int i = 0; i < missing; ++i) {
    report.missing.push_back(ReadMissing(from.missing(i), fields.Within("missing", i)));
  }
  const int not_finite = fields.Count("not_finite", from.not_finite_size(), 0, NodeReport::kMostNotFinite);
  for (int i = 0; i < not_finite; ++i) {
    const wire::NodeReport::NotFinite& row = from.not_finite(i);
    report.not_finite.push_back({KeyId(row.key()), row.values(), Round(row.last())});
  }
  const int lags = fields.Count("lags", from.lags_size(), 0, NodeReport::kMostLags);
  for (int i = 0; i < lags; ++i) report.lags.push_back(ReadLag(from.lags(i), fields.Within("lags", i)));
  const int refusals = fields.Count("refusals", from.refusals_size(), 0, NodeReport::kMostRefusals);
  for (int i = 0; i < refusals; ++i) {
    report.refusals.push_back(ReadRefusal(from.refusals(i), fields.Within("refusals", i)));
  }
  report.late_rounds = from.late_rounds();
  report.route_violations = from.route_violations();
  report.precision = ReadPrecisionReport(from.precision(), fields.Within("precision"));
  return report;
}

void Write(const StatusRequest&, wire::Envelope& to) { to.mutable_status_request(); }

StatusRequest Read(const wire::StatusRequest&, FieldReader) { return StatusRequest{}; }

void Write(const Reconfigure& from, wire::Envelope& to) {
  wire::Reconfigure& reconfigure = *to.mutable_reconfigure();
  reconfigure.set_overlay_yaml(from.overlay_yaml);
  reconfigure.set_file_name(from.file_name);
}

Reconfigure Read(const wire::Reconfigure& from, FieldReader fields) {
  // Its length is that of the header, which has been judged.
  return Reconfigure{from.overlay_yaml(), fields.Text("file_name", from.file_name())};
}

void Write(const EpochReport& from, wire::Envelope& to) {
  wire::EpochReport& report = *to.mutable_epoch_report();
  report.set_epoch(from.epoch.value());
  report.set_lacks_replica(from.lacks_replica);
  for (const EpochReport::Progress& progress : from.progress) {
    wire::EpochReport::Progress& written = *report.add_progress();
    written.set_first_key(progress.first_key.value());
    written.set_last_key(progress.last_key.value());
    written.set_next(progress.next.value());
  }
}

EpochReport Read(const wire::EpochReport& from, FieldReader fields) {
  EpochReport report;
  report.epoch = fields.NonZero<Epoch>("epoch", from.epoch());
  report.lacks_replica = from.lacks_replica();
  const int count = fields.Count("progress", from.progress_size());
  for (int i = 0; i < count; ++i) {
    const wire::EpochReport::Progress& progress = from.progress(i);
    const KeyId before = report.progress.empty() ? KeyId() : report.progress.back().last_key;
    const KeyRun keys = fields.Within("progress", i).Keys(progress.first_key(), progress.last_key(), before);
    report.progress.push_back({keys.first, keys.last, Round(progress.next())});
  }
  return report;
}

void Write(const StopJob& from, wire::Envelope& to) { to.mutable_stop_job()->set_reason(SendableReason(from.reason)); }

StopJob Read(const wire::StopJob& from, FieldReader fields) { return StopJob{fields.Reason("reason", from.reason())}; }

void Write(const RemoveNode& from, wire::Envelope& to) { to.mutable_remove_node()->set_name(from.name); }

RemoveNode Read(const wire::RemoveNode& from, FieldReader fields) {
  return RemoveNode{fields.Name("name", from.name())};
}

void Write(const WaitQuestion& from, wire::Envelope& to) {
  to.mutable_wait_question()->set_key(from.key.value());
  to.mutable_wait_question()->set_round(from.round.value());
}

WaitQuestion Read(const wire::WaitQuestion& from, FieldReader) {
  return WaitQuestion{KeyId(from.key()), Round(from.round())};
}

}  // namespace banyan
