#include "tools/page/job_history.h"

#include <algorithm>

#include "core/json_writer.h"

namespace banyan {
namespace {

int64_t NewestRound(const StatusView& status) {
  int64_t newest = 0;
  for (const StatusView::Node& node : status.nodes) newest = std::max(newest, node.round.value_or(0));
  return newest;
}

double LongestSync(const StatusView& status) {
  double longest_s = 0;
  for (const StatusView::Node& node : status.nodes) longest_s = std::max(longest_s, node.sync_s);
  return longest_s;
}

std::optional<double> MeanLoss(const StatusView& status) {
  double sum = 0;
  int count = 0;
  for (const StatusView::Node& node : status.nodes) {
    if (!node.loss.has_value()) continue;
    sum += *node.loss;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional<double>(sum / count);
}

uint64_t SentBytes(const StatusView& status) {
  uint64_t bytes = 0;
  for (const StatusView::Link& link : status.links) bytes += link.sent_bytes;
  return bytes;
}

void WriteOptional(const char* name, const std::optional<double>& value, JsonWriter& json) {
  json.Name(name);
  if (value.has_value()) {
    json.Number(*value);
  } else {
    json.Null();
  }
}

// The first entry after `change`.
template <typename Entries>
typename Entries::const_iterator FirstAfter(const Entries& entries, uint64_t change) {
  return std::upper_bound(entries.begin(), entries.end(), change,
                          [](uint64_t value, const auto& entry) { return value < entry.change; });
}

}  // namespace

bool JobHistory::IsOfAnotherJob(const StatusView& status) const {
  if (!policies_.empty() && status.policy > 0 && status.policy < policies_.back().policy) return true;
  // Nodes that have fallen out may have been a little ahead.
  const int64_t round = NewestRound(status);
  return !rounds_.empty() && round > 0 && round < rounds_.back().round / 2;
}

void JobHistory::Add(const StatusView& status, absl::Time now, uint64_t change) {
  if (began_with_ == 0 || IsOfAnotherJob(status)) {
    began_with_ = change;
    rounds_.clear();
    policies_.clear();
  }
  const double at_s = absl::ToDoubleSeconds(now - absl::UnixEpoch());
  AddRound(status, at_s, change);
  AddPolicy(status, at_s, change);
}

void JobHistory::AddRound(const StatusView& status, double at_s, uint64_t change) {
  const int64_t round = NewestRound(status);
  const double seconds = LongestSync(status);
  if (round == 0 || seconds == 0 || (!rounds_.empty() && round <= rounds_.back().round)) return;
  rounds_.push_back(
      {change, at_s, round, seconds, status.predicted_round_s, MeanLoss(status), SentBytes(status), status.policy});
  if (rounds_.size() > kMostRounds) rounds_.pop_front();
}

void JobHistory::AddPolicy(const StatusView& status, double at_s, uint64_t change) {
  if (status.policy == 0 || (!policies_.empty() && status.policy == policies_.back().policy)) return;
  policies_.push_back({change, at_s, status.policy, status.planner, status.rate_mbps, status.bound_mbps,
                       status.predicted_round_s, status.trees.size(), status.policy_reason});
  if (policies_.size() > kMostPolicies) policies_.pop_front();
}

std::string JobHistory::JsonSince(uint64_t change) const {
  const bool all = change < began_with_;
  const auto first_round = FirstAfter(rounds_, change);
  const auto first_policy = FirstAfter(policies_, change);
  if (!all && first_round == rounds_.end() && first_policy == policies_.end()) return "";
  JsonWriter json;
  json.BeginObject().Name("all").Boolean(all).Name("rounds").BeginArray();
  for (auto entry = first_round; entry != rounds_.end(); ++entry) {
    json.BeginObject().Name("at_s").Number(entry->at_s).Name("round").Integer(static_cast<uint64_t>(entry->round));
    json.Name("seconds").Number(entry->seconds);
    WriteOptional("predicted_seconds", entry->predicted_s, json);
    WriteOptional("loss", entry->loss, json);
    json.Name("bytes").Integer(entry->sent_bytes).Name("policy").Integer(static_cast<uint64_t>(entry->policy));
    json.EndObject();
  }
  json.EndArray().Name("policies").BeginArray();
  for (auto entry = first_policy; entry != policies_.end(); ++entry) {
    json.BeginObject().Name("at_s").Number(entry->at_s).Name("policy").Integer(static_cast<uint64_t>(entry->policy));
    json.Name("planner").String(entry->planner).Name("rate_mbps").Number(entry->rate_mbps);
    json.Name("bound_mbps").Number(entry->bound_mbps);
    WriteOptional("predicted_seconds", entry->predicted_s, json);
    json.Name("trees").Integer(entry->trees).Name("reason").String(entry->reason).EndObject();
  }
  return json.EndArray().EndObject().text();
}

}  // namespace banyan
