#include "tools/metrics/scheduler_metrics.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace banyan {
namespace {

constexpr double kMega = 1e6;
constexpr double kMilli = 1e-3;

using FamilyKind = MetricFamily::Kind;

MetricFamily MakeFamily(const char* name, const char* help, FamilyKind kind = FamilyKind::kGauge) {
  return {absl::StrCat("banyan_scheduler_", name), help, kind, {}};
}

MetricFamily MakeFamily(const char* name, const char* help, double value, FamilyKind kind = FamilyKind::kGauge) {
  MetricFamily family = MakeFamily(name, help, kind);
  family.Add({}, value);
  return family;
}

MetricFamily MakeMembers(const JobStatus& status) {
  // States that nobody is in count as 0, so that a graph has no holes.
  std::map<std::string, int> members = {{"absent", 0}, {"expected", 0}, {"joined", 0}, {"silent", 0},
                                        {"left", 0},   {"out", 0},      {"removed", 0}};
  for (const JobStatus::Node& node : status.nodes) ++members[node.state];
  MetricFamily family =
      MakeFamily("members", "Nodes of the job by their state: absent, expected, joined, silent, out, removed or left.");
  for (const auto& [state, count] : members) family.Add({{"state", state}}, count);
  return family;
}

void AppendLinks(const JobStatus& status, std::vector<MetricFamily>& families) {
  MetricFamily rates = MakeFamily("link_rate_bits_per_second", "Throughput that the scheduler plans a link with.");
  MetricFamily delays = MakeFamily("link_delay_seconds", "Propagation delay of a link, one way.");
  MetricFamily ages = MakeFamily("link_age_seconds", "Time since the newest sample of a link; none before the first.");
  for (const JobStatus::Link& link : status.links) {
    const MetricFamily::Labels labels = {{"from", link.from}, {"to", link.to}, {"source", link.source}};
    rates.Add(labels, link.mbps * kMega);
    delays.Add(labels, link.delay_ms * kMilli);
    if (link.age_s.has_value()) ages.Add(labels, *link.age_s);
  }
  for (MetricFamily* family : {&rates, &delays, &ages}) families.push_back(std::move(*family));
}

void AppendPlan(const JobStatus& status, std::vector<MetricFamily>& families) {
  if (!status.plan.has_value()) return;
  families.push_back(MakeFamily("plan_rate_bits_per_second",
                                "All-reduce rate that the most loaded link of the plan allows.",
                                status.plan->rate_mbps * kMega));
  families.push_back(MakeFamily("plan_bound_bits_per_second", "All-reduce rate that no plan can beat on these links.",
                                status.plan->bound_mbps * kMega));
  // Several trees may have the same root.
  std::map<std::string, double> shares;
  for (const JobStatus::Tree& tree : status.trees) shares[tree.root] += tree.share;
  MetricFamily family = MakeFamily("tree_share_ratio", "Part of the chunks that the trees on a root aggregate.");
  for (const auto& [root, share] : shares) family.Add({{"root", root}}, share);
  families.push_back(std::move(family));
}

void AppendPrecision(const PrecisionStatus& precision, std::vector<MetricFamily>& families) {
  MetricFamily rounds = MakeFamily("candidate_rounds_total",
                                   "Rounds of keys that may go low-bit, by their route: low-bit, fallback or plain.",
                                   FamilyKind::kCounter);
  const RouteStatus& candidates = precision.audit.candidates;
  rounds.Add({{"route", "low-bit"}}, static_cast<double>(candidates.low_bit));
  rounds.Add({{"route", "fallback"}}, static_cast<double>(candidates.fallback));
  rounds.Add({{"route", "plain"}}, static_cast<double>(candidates.plain));
  families.push_back(std::move(rounds));
  families.push_back(MakeFamily("vetoes_total", "Vetoes of low-bit rounds that began.",
                                static_cast<double>(precision.vetoes), FamilyKind::kCounter));
  families.push_back(MakeFamily("route_violations", "Chunks of another route than their round's.",
                                static_cast<double>(precision.violations)));
  families.push_back(MakeFamily("modelled_traffic_ratio",
                                "MGTR: modelled gradient traffic, as a part of FP32's (`docs/precision.md`).",
                                precision.audit.all.traffic_ratio));
  families.push_back(MakeFamily("gradient_sent_bytes", "Gradients and results that members have sent.",
                                static_cast<double>(precision.sent.sent_bytes)));
  families.push_back(MakeFamily("gradient_fp32_bytes", "What FP32 would have sent in their place.",
                                static_cast<double>(precision.sent.full_bytes)));
}

}  // namespace

std::vector<MetricFamily> MakeSchedulerMetrics(const JobStatus& status) {
  std::vector<MetricFamily> families;
  const JobStatus::Plan plan = status.plan.value_or(JobStatus::Plan());
  families.push_back(MakeMembers(status));
  families.push_back(MakeFamily("term", "Starts of the scheduler so far.", static_cast<double>(status.term)));
  families.push_back(MakeFamily("epoch", "Changes of membership so far.", static_cast<double>(status.epoch)));
  families.push_back(MakeFamily("policy_version", "Version of the newest policy; 0 before the first.",
                                static_cast<double>(status.policy)));
  families.push_back(MakeFamily("policy_changes_total", "Policies that took the place of another.",
                                static_cast<double>(std::max<uint64_t>(status.policy, 1) - 1), FamilyKind::kCounter));
  families.push_back(MakeFamily("policies_taken_back_total",
                                "Policies taken back because rounds were slower under them.",
                                static_cast<double>(plan.policies_taken_back), FamilyKind::kCounter));
  families.push_back(
      MakeFamily("live_policies", "Versions that still govern rounds.", static_cast<double>(plan.live_policies)));
  families.push_back(MakeFamily("auxiliary_share_ratio",
                                "Of all bytes that nodes have sent, the part on auxiliary paths.",
                                status.auxiliary_share));
  families.push_back(MakeFamily("rejected_messages_total", "Messages that the scheduler refused.",
                                static_cast<double>(status.rejected_messages), FamilyKind::kCounter));
  families.push_back(MakeFamily("insecure",
                                "1 while other machines reach the scheduler, which has no keys (`--insecure`).",
                                status.is_insecure ? 1 : 0));
  families.push_back(MakeFamily("insecure_nodes", "Nodes that other machines reach and that have no keys.",
                                static_cast<double>(std::count_if(status.nodes.begin(), status.nodes.end(),
                                                                  [](const auto& node) { return node.is_insecure; }))));
  families.push_back(MakeFamily("recoveries_total", "Changes of membership that have ended.",
                                static_cast<double>(status.epochs.count), FamilyKind::kCounter));
  families.push_back(MakeFamily("recovery_seconds_total",
                                "Time from the causes of changes of membership to their plans.",
                                status.epochs.total_seconds, FamilyKind::kCounter));
  families.push_back(MakeFamily("recovery_longest_seconds", "The longest time of a change of membership.",
                                status.epochs.longest_seconds));
  families.push_back(MakeFamily("changing", "1 while membership changes.", status.change.has_value() ? 1 : 0));
  families.push_back(
      MakeFamily("links_out", "Links that are planned without.", static_cast<double>(status.links_out.size())));
  families.push_back(MakeFamily("open_round_seconds", "Time since a round was closed, while one waits.",
                                status.open_round.has_value() ? status.open_round->since_s : 0));
  MetricFamily closed =
      MakeFamily("closed_rounds_total", "Rounds of a key that are closed everywhere.", FamilyKind::kCounter);
  for (const JobStatus::Key& key : status.keys) {
    closed.AddOfKey(key.key, static_cast<double>(key.closed_rounds));
  }
  families.push_back(std::move(closed));
  AppendLinks(status, families);
  AppendPlan(status, families);
  if (status.precision.has_value()) AppendPrecision(*status.precision, families);
  return families;
}

}  // namespace banyan
