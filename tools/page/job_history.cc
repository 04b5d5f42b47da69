#include "tools/page/job_history.h"

#include <algorithm>

#include "proto/field_json.h"
#include "tools/reports/status_text.h"

namespace banyan {
namespace {

JobStatus::Plan PlanOf(const JobStatus& status) { return status.plan.value_or(JobStatus::Plan()); }

double LongestSync(const JobStatus& status) {
  double longest_s = 0;
  for (const JobStatus::Node& node : status.nodes) {
    if (node.report.has_value()) longest_s = std::max(longest_s, node.report->sync_seconds);
  }
  return longest_s;
}

// Of the nodes whose workers have told one.
std::optional<double> MeanLoss(const JobStatus& status) {
  double sum = 0;
  int count = 0;
  for (const JobStatus::Node& node : status.nodes) {
    if (!node.report.has_value() || node.report->step == 0 || !node.report->loss.has_value()) continue;
    sum += *node.report->loss;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional<double>(sum / count);
}

uint64_t SentBytes(const JobStatus& status) {
  uint64_t bytes = 0;
  for (const JobStatus::Link& link : status.links) bytes += link.traffic.sent_bytes;
  return bytes;
}

// The first entry after `change`.
template <typename Entries>
typename Entries::const_iterator FirstAfter(const Entries& entries, uint64_t change) {
  return std::upper_bound(entries.begin(), entries.end(), change,
                          [](uint64_t value, const auto& entry) { return value < entry.change; });
}

}  // namespace

bool JobHistory::IsOfAnotherJob(const JobStatus& status) const {
  if (!policies_.empty() && status.policy > 0 && status.policy < policies_.back().policy) return true;
  // Nodes that have fallen out may have been a little ahead.
  const uint64_t round = NewestRound(status);
  return !rounds_.empty() && round > 0 && round < rounds_.back().round / 2;
}

void JobHistory::Add(const JobStatus& status, absl::Time now, uint64_t change) {
  if (began_with_ == 0 || IsOfAnotherJob(status)) {
    began_with_ = change;
    rounds_.clear();
    policies_.clear();
    last_of_former_ = 0;
  }
  if (!policies_.empty() && status.policy != policies_.back().policy) {
    former_prediction_ = prediction_;
    last_of_former_ = NewestRound(status) + (status.open_round.has_value() ? 1 : 0);
  }
  prediction_ = PlanOf(status).predicted_round_seconds;
  const double at_s = absl::ToDoubleSeconds(now - absl::UnixEpoch());
  AddRound(status, at_s, change);
  AddPolicy(status, at_s, change);
}

void JobHistory::AddRound(const JobStatus& status, double at_s, uint64_t change) {
  const uint64_t round = NewestRound(status);
  const double seconds = LongestSync(status);
  if (round == 0 || seconds == 0 || (!rounds_.empty() && round <= rounds_.back().round)) return;
  round_times_.Add(seconds, rounds_.empty() ? 1 : round - rounds_.back().round);
  rounds_.push_back(
      {change, at_s, round, seconds, PredictionOf(round), MeanLoss(status), SentBytes(status), status.policy});
  if (rounds_.size() > kMostRounds) rounds_.pop_front();
}

std::optional<double> JobHistory::PredictionOf(uint64_t round) const {
  return round <= last_of_former_ ? former_prediction_ : prediction_;
}

void JobHistory::AddPolicy(const JobStatus& status, double at_s, uint64_t change) {
  if (status.policy == 0 || (!policies_.empty() && status.policy == policies_.back().policy)) return;
  const JobStatus::Plan plan = PlanOf(status);
  policies_.push_back({change, at_s, status.policy, plan.planner, plan.rate_mbps, plan.bound_mbps,
                       plan.predicted_round_seconds, status.trees.size() + status.trees_left_out, plan.policy_reason});
  if (policies_.size() > kMostPolicies) policies_.pop_front();
}

std::string JobHistory::JsonSince(uint64_t change) const {
  const bool all = change < began_with_;
  const auto first_round = FirstAfter(rounds_, change);
  const auto first_policy = FirstAfter(policies_, change);
  if (!all && first_round == rounds_.end() && first_policy == policies_.end()) return "";
  return JsonOf(JobNews{all, {first_round, rounds_.end()}, {first_policy, policies_.end()}});
}

}  // namespace banyan
