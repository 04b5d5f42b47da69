#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/message_wire.h"
#include "proto/wire_limits.h"

namespace banyan {
namespace {

void WriteTraffic(const PrecisionReport::Traffic& from, wire::PrecisionReport::Traffic& to) {
  to.set_sent_bytes(from.sent_bytes);
  to.set_full_bytes(from.full_bytes);
}

PrecisionReport::Traffic ReadTraffic(const wire::PrecisionReport::Traffic& from) {
  return {from.sent_bytes(), from.full_bytes()};
}

// Whatever digits it is written with, it can be read again.
constexpr double kLargestLoss = 1e308;

// Undoes FiniteLoss, but for the sign of what is no number. Who smooths losses would not get over a very large one.
double OriginalLoss(double loss) {
  return std::abs(loss) < kLargestLoss ? loss : std::copysign(std::numeric_limits<double>::infinity(), loss);
}

// Times the mean magnitude of a slice: beyond it hardly anything is left to vote on.
constexpr double kMostSenderThreshold = 1e3;

static_assert(static_cast<int>(LowBitFamily::kTernary) == wire::LOW_BIT_FAMILY_TERNARY);
static_assert(static_cast<int>(ZeroGate::kResult) == wire::ZERO_GATE_RESULT);
static_assert(static_cast<int>(VoteAggregate::kMean) == wire::VOTE_AGGREGATE_MEAN);
static_assert(static_cast<int>(TieRule::kPositive) == wire::TIE_RULE_POSITIVE);

}  // namespace

void WritePrecisionReport(const PrecisionReport& from, wire::PrecisionReport& to) {
  WriteTraffic(from.all, *to.mutable_all());
  WriteTraffic(from.low_bit, *to.mutable_low_bit());
  for (const PrecisionReport::Service& service : from.services) {
    wire::PrecisionReport::Service& written = *to.add_services();
    written.set_kind(static_cast<uint32_t>(service.kind));
    written.set_bytes(service.bytes);
    written.set_time_ns(absl::ToInt64Nanoseconds(service.time));
  }
  to.set_threads(from.threads);
}

PrecisionReport ReadPrecisionReport(const wire::PrecisionReport& from, FieldReader fields) {
  PrecisionReport report{ReadTraffic(from.all()), ReadTraffic(from.low_bit()), {}, 1};
  const int services = fields.Count("services", from.services_size(), 0, PrecisionReport::kMostServices);
  for (int i = 0; i < services; ++i) {
    const wire::PrecisionReport::Service& service = from.services(i);
    FieldReader row = fields.Within("services", i);
    const auto kind = row.Between("kind", service.kind(), 0u, static_cast<uint32_t>(kLastServiceKind));
    report.services.push_back({static_cast<ServiceKind>(kind), service.bytes(),
                               row.Duration("time_ns", service.time_ns(), absl::ZeroDuration())});
  }
  report.threads = std::max(1u, fields.Between("threads", from.threads(), 0u, PrecisionReport::kMostThreads));
  return report;
}

double FiniteLoss(double loss) {
  if (std::isnan(loss)) return kLargestLoss;
  return std::clamp(loss, -kLargestLoss, kLargestLoss);
}

void Write(const HealthReport& from, wire::Envelope& to) {
  wire::HealthReport& report = *to.mutable_health_report();
  report.set_worker(from.worker.value());
  report.set_step(from.health.step);
  report.set_loss(FiniteLoss(from.health.loss));
  report.set_progress(from.health.progress);
  report.set_learning_rate_fraction(from.health.learning_rate_fraction);
  if (from.health.metric.has_value()) report.set_metric(FiniteLoss(*from.health.metric));
}

HealthReport Read(const wire::HealthReport& from, FieldReader fields) {
  HealthReport report;
  report.worker = WorkerId(fields.Between("worker", from.worker(), 0u, kMaxWorkersPerNode - 1));
  report.health.step = fields.Between("step", from.step(), int64_t{0}, std::numeric_limits<int64_t>::max());
  report.health.loss = OriginalLoss(fields.FiniteBetween("loss", from.loss(), -kLargestLoss, kLargestLoss));
  report.health.progress = fields.FiniteBetween("progress", from.progress(), 0, 1);
  report.health.learning_rate_fraction =
      fields.FiniteBetween("learning_rate_fraction", from.learning_rate_fraction(), 0, 1);
  if (from.has_metric()) {
    report.health.metric = fields.FiniteBetween("metric", from.metric(), -kLargestLoss, kLargestLoss);
  }
  return report;
}

void Write(const VetoLowBit& from, wire::Envelope& to) {
  wire::VetoLowBit& veto = *to.mutable_veto_low_bit();
  for (const std::string& scope : from.scopes) veto.add_scopes(scope);
  veto.set_is_lifted(from.is_lifted);
}

VetoLowBit Read(const wire::VetoLowBit& from, FieldReader fields) {
  VetoLowBit veto;
  const int scopes = fields.Count("scopes", from.scopes_size(), 0, VetoLowBit::kMostScopes);
  for (int i = 0; i < scopes; ++i) veto.scopes.push_back(fields.Name("scopes", from.scopes(i)));
  veto.is_lifted = from.is_lifted();
  return veto;
}

void WriteVoteRules(const VoteRules& from, wire::VoteRules& to) {
  to.set_family(static_cast<wire::LowBitFamily>(from.family));
  to.set_gate(static_cast<wire::ZeroGate>(from.gate));
  to.set_sender_threshold(from.sender_threshold);
  to.set_result_margin(from.result_margin);
  to.set_aggregate(static_cast<wire::VoteAggregate>(from.aggregate));
  to.set_tie(static_cast<wire::TieRule>(from.tie));
}

VoteRules ReadVoteRules(const wire::VoteRules& from, FieldReader fields) {
  VoteRules rules;
  rules.family = fields.OneOf("family", from.family(), kLastLowBitFamily);
  rules.gate = fields.OneOf("gate", from.gate(), kLastZeroGate);
  rules.sender_threshold = fields.FiniteBetween("sender_threshold", from.sender_threshold(), 0, kMostSenderThreshold);
  rules.result_margin = fields.FiniteBetween("result_margin", from.result_margin(), 0, 1);
  rules.aggregate = fields.OneOf("aggregate", from.aggregate(), kLastVoteAggregate);
  rules.tie = fields.OneOf("tie", from.tie(), kLastTieRule);
  return rules;
}

}  // namespace banyan
