#include "tools/reports/status_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/field_json_reader.h"

namespace banyan {
namespace {

double Megabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// --- low-bit rounds ---

constexpr size_t kMostRoutesShown = 5;

// Those that were low-bit or fell back most often.
std::string KeysText(const std::vector<AuditStatus::Key>& all) {
  const auto routed = [](const AuditStatus::Key& key) { return key.counts.low_bit + key.counts.fallback; };
  std::vector<AuditStatus::Key> keys;
  std::ranges::copy_if(all, std::back_inserter(keys), [&](const AuditStatus::Key& key) { return routed(key) > 0; });
  std::ranges::stable_sort(keys, std::greater(), routed);
  const size_t more = keys.size() - std::min(keys.size(), kMostRoutesShown);
  keys.resize(keys.size() - more);
  std::string text = absl::StrJoin(keys, "; ", [](std::string* out, const AuditStatus::Key& key) {
    absl::StrAppendFormat(out, "%s %d/%d/%d", key.key, key.counts.low_bit, key.counts.fallback, key.counts.plain);
  });
  if (more > 0) absl::StrAppend(&text, "; and ", more, " more");
  return text;
}

std::string PrecisionText(const PrecisionStatus& precision) {
  const RouteStatus& candidates = precision.audit.candidates;
  std::string text = absl::StrFormat(
      "low-bit rounds (%s): %s, %.1f %% of the candidates' low-bit, %.1f %% of admitted ones vetoed, veto %s (%d so "
      "far)",
      precision.profile, precision.state, 100 * candidates.low_bit_share, 100 * candidates.veto_share, precision.veto,
      precision.vetoes);
  if (!precision.ordered.empty()) {
    absl::StrAppend(&text, ", vetoed by order: ", absl::StrJoin(precision.ordered, ", "));
  }
  absl::StrAppendFormat(
      &text,
      "\n  MGTR %.3f at %.3g bits per element; really sent %.2f MB, %.2f MB as FP32; %d violations, %d "
      "mixed rounds\n",
      precision.audit.all.traffic_ratio, precision.audit.bits_per_element, Megabytes(precision.sent.sent_bytes),
      Megabytes(precision.sent.full_bytes), precision.violations, candidates.mixed);
  const std::string keys = KeysText(precision.audit.keys);
  if (!keys.empty()) absl::StrAppend(&text, "  rounds low-bit/fallback/plain: ", keys, "\n");
  return text;
}

// --- the status ---

// In one line.
constexpr size_t kMostKeysShown = 3;
// Unless all are asked for.
constexpr size_t kMostLinksShown = 40;
// That is shown with all its digits.
constexpr double kLargestLoss = 10000;

// Of a training that diverges in few characters.
std::string LossText(double loss) {
  return std::abs(loss) < kLargestLoss ? absl::StrFormat("%.4f", loss) : absl::StrFormat("%.2g", loss);
}

void AppendNodes(const JobStatus& status, std::string& text) {
  absl::StrAppendFormat(&text, "\n%-12s %-9s %7s %8s %9s %9s %10s  %s\n", "node", "state", "workers", "round", "loss",
                        "sync ms", "memory MB", "address");
  for (const JobStatus::Node& node : status.nodes) {
    const JobStatus::Report report = node.report.value_or(JobStatus::Report());
    const std::string loss = report.step > 0 && report.loss.has_value() ? LossText(*report.loss) : "-";
    uint64_t memory_bytes = 0;
    for (const Named<uint64_t>& row : report.memory) memory_bytes += row.value;
    absl::StrAppendFormat(&text, "%-12s %-9s %7d %8s %9s %9.1f %10.1f  %s\n", node.name, node.state, report.workers,
                          report.round ? absl::StrCat(*report.round) : "-", loss, report.sync_seconds * 1e3,
                          Megabytes(memory_bytes), node.address);
  }
}

// Who runs with --insecure.
void AppendInsecure(const JobStatus& status, std::string& text) {
  std::vector<std::string> names;
  if (status.is_insecure) names.push_back("the scheduler");
  for (const JobStatus::Node& node : status.nodes) {
    if (node.is_insecure) names.push_back(node.name);
  }
  if (names.empty()) return;
  absl::StrAppend(&text, "insecure, reached by other machines without keys: ", absl::StrJoin(names, ", "), "\n");
}

// Members that have contributed to no round for long.
void AppendIdle(const JobStatus& status, std::string& text) {
  std::vector<std::string> names;
  for (const JobStatus::Node& node : status.nodes) {
    if (node.idle_s.has_value()) names.push_back(absl::StrFormat("%s (%.0f s)", node.name, *node.idle_s));
  }
  if (names.empty()) return;
  absl::StrAppend(&text, "contributed nothing while others did: ", absl::StrJoin(names, ", "), "\n");
}

// What waiting for late workers costs and gains, where some were late.
void AppendGrace(const JobStatus& status, std::string& text) {
  for (const JobStatus::Node& node : status.nodes) {
    const NodeCounters counters = node.report.value_or(JobStatus::Report()).counters;
    if (counters.gained_gradients == 0 && counters.late_rounds == 0) continue;
    absl::StrAppendFormat(&text, "%s waits %.3g s for late workers: %d gradients gained in %.1f s, %d rounds without\n",
                          node.name, counters.grace_seconds, counters.gained_gradients,
                          static_cast<double>(counters.waited_ms) / 1e3, counters.late_rounds);
  }
}

// Nodes of another version than the scheduler's.
void AppendVersions(const JobStatus& status, std::string& text) {
  for (const JobStatus::Node& node : status.nodes) {
    if (node.version.empty() || node.version == status.version) continue;
    absl::StrAppend(&text, node.name, " runs banyan ", node.version, "\n");
  }
}

// What nodes have pushed that is no number: the keys with most of it.
void AppendNotFinite(const JobStatus& status, std::string& text) {
  for (const JobStatus::Node& node : status.nodes) {
    if (!node.report.has_value() || node.report->not_finite.empty()) continue;
    std::vector<JobStatus::NotFinite> all = node.report->not_finite;
    std::ranges::stable_sort(all, std::greater(), &JobStatus::NotFinite::values);
    const size_t shown = std::min(all.size(), kMostKeysShown);
    const absl::Span<const JobStatus::NotFinite> rows(all.data(), shown);
    absl::StrAppend(&text, node.name, " has pushed NaN or infinity: ",
                    absl::StrJoin(rows, ", ",
                                  [](std::string* out, const JobStatus::NotFinite& row) {
                                    absl::StrAppendFormat(out, "%d of key '%s', last in round %d", row.values, row.key,
                                                          row.last_round);
                                  }),
                    shown < all.size() ? ", and more keys" : "", "\n");
  }
}

double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// Links whose connections stop carrying without a word.
void AppendRenewals(const JobStatus& status, std::string& text) {
  for (const JobStatus::Link& link : status.links) {
    const uint64_t renewals = link.traffic.renewals;
    if (renewals == 0 && !link.traffic.is_blocked) continue;
    absl::StrAppendFormat(&text, "%s > %s: %d %s made anew because nothing passed%s\n", link.from, link.to, renewals,
                          renewals == 1 ? "connection was" : "connections were",
                          link.traffic.is_blocked ? "; it connects, but large messages do not pass (path MTU?)" : "");
  }
}

// Links whose packets overtake each other often enough to matter.
void AppendOvertakings(const JobStatus& status, std::string& text) {
  constexpr uint64_t kBytesPerNotable = 1'000'000;  // some 700 packets
  for (const JobStatus::Link& link : status.links) {
    if (link.traffic.overtakings * kBytesPerNotable <= link.traffic.sent_bytes) continue;
    absl::StrAppendFormat(&text,
                          "%s > %s: packets overtook each other %d times, as over a bundle of links, which may "
                          "cost rate\n",
                          link.from, link.to, link.traffic.overtakings);
  }
}

// Links that carry less than they were given.
void AppendCuts(const JobStatus& status, std::string& text) {
  for (const JobStatus::Link& link : status.links) {
    if (link.traffic.cut_chunks == 0) continue;
    absl::StrAppendFormat(&text, "%s > %s: %d chunks were trimmed by %.2f MB in all\n", link.from, link.to,
                          link.traffic.cut_chunks, Megabytes(link.traffic.cut_bytes));
  }
}

// The links to show, in their order.
std::vector<JobStatus::Link> ShownLinks(const JobStatus& status, bool shows_all) {
  std::vector<size_t> order(status.links.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!shows_all && order.size() > kMostLinksShown) {
    std::ranges::stable_sort(order, {}, [&status](size_t link) {
      return std::pair(-status.links[link].traffic.busy_share, status.links[link].mbps);
    });
    order.resize(kMostLinksShown);
    std::ranges::sort(order);
  }
  std::vector<JobStatus::Link> shown;
  for (const size_t link : order) shown.push_back(status.links[link]);
  return shown;
}

void AppendLinks(const JobStatus& status, bool shows_all, std::string& text) {
  const std::vector<JobStatus::Link> shown = ShownLinks(status, shows_all);
  absl::StrAppendFormat(&text, "\n%-20s %9s %9s %7s %-10s %11s %11s %8s %9s\n", "link", "Mbit/s", "delay ms", "age s",
                        "source", "sent MB", "resent MB", "auxiliary path %", "clock ms");
  for (const JobStatus::Link& link : shown) {
    const std::string source = link.source + (link.is_old ? "!" : "");
    absl::StrAppendFormat(&text, "%-20s %9.1f %9.1f %7s %-10s %11.2f %11.2f %8.1f %9s\n",
                          absl::StrCat(link.from, " > ", link.to), link.mbps, link.delay_ms,
                          link.age_s ? absl::StrFormat("%.1f", *link.age_s) : "-", source,
                          Megabytes(link.traffic.sent_bytes), Megabytes(link.traffic.resent_bytes),
                          Percent(link.traffic.auxiliary_bytes, link.traffic.sent_bytes),
                          link.measured ? absl::StrFormat("%.1f", link.measured->clock_offset_ms) : "-");
  }
  if (std::any_of(shown.begin(), shown.end(), [](const JobStatus::Link& link) { return link.is_old; })) {
    absl::StrAppend(&text, "! measured too long ago to rely on\n");
  }
  if (shown.size() < status.links.size()) {
    absl::StrAppend(&text, "these are the slowest; --links shows ", status.links.size() - shown.size(), " more\n");
  }
  if (status.links_left_out > 0) {
    absl::StrAppend(&text, "the scheduler leaves out ", status.links_left_out, " others, which do less\n");
  }
  AppendRenewals(status, text);
  AppendOvertakings(status, text);
  AppendCuts(status, text);
}

void AppendEpochs(const JobStatus& status, std::string& text) {
  if (status.storage.has_value()) absl::StrAppend(&text, *status.storage, "\n");
  const JobStatus::Epochs& epochs = status.epochs;
  if (status.change.has_value()) {
    absl::StrAppend(&text, "membership waits (last change because ", epochs.reason, "): ", *status.change, "\n");
  } else if (epochs.count > 0) {
    absl::StrAppendFormat(&text, "%d changes of membership, %.1f s on average; the last because %s\n", epochs.count,
                          epochs.total_seconds / static_cast<double>(epochs.count), epochs.reason);
  }
  if (status.open_round.has_value()) {
    const JobStatus::OpenRound& open = *status.open_round;
    absl::StrAppendFormat(&text, "round %d of %s waits for %s; nothing was closed for %.1f s\n", open.round, open.key,
                          open.waits_for, open.since_s);
  }
  if (status.disorder.has_value()) absl::StrAppend(&text, *status.disorder, "\n");
  for (const JobStatus::LinkOut& link : status.links_out) {
    absl::StrAppend(&text, "link out: ", link.between.first, " - ", link.between.second, ": ", link.why, "\n");
  }
}

void AppendPlan(const JobStatus& status, const JobStatus::Plan& plan, std::string& text) {
  if (!plan.policy_reason.empty()) {
    absl::StrAppendFormat(&text, "policy %d: because of %s", status.policy, plan.policy_reason);
    if (plan.live_policies > 1) absl::StrAppend(&text, "; ", plan.live_policies, " versions still govern rounds");
    if (plan.policies_taken_back > 0) absl::StrAppend(&text, "; ", plan.policies_taken_back, " taken back so far");
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppendFormat(&text, "plan: %s, %.1f Mbit/s", plan.planner, plan.rate_mbps);
  if (plan.auxiliary_rate_mbps > plan.rate_mbps) {
    absl::StrAppendFormat(&text, " (%.1f with auxiliary paths)", plan.auxiliary_rate_mbps);
  }
  absl::StrAppendFormat(&text, " of at most %.1f", plan.bound_mbps);
  if (plan.bound_ratio) absl::StrAppendFormat(&text, ", ratio %.3f", *plan.bound_ratio);
  if (plan.predicted_round_seconds) absl::StrAppendFormat(&text, ", %.3g s a round", *plan.predicted_round_seconds);
  absl::StrAppend(&text, "\n");
  if (plan.slowest_link.has_value()) {
    absl::StrAppendFormat(&text, "slowest link: %s > %s, %.1f Mbit/s, busy for %.0f %% of the last round\n",
                          plan.slowest_link->from, plan.slowest_link->to, plan.slowest_link->mbps,
                          plan.slowest_link->busy_share * 100);
  }
}

void AppendPolicy(const JobStatus& status, std::string& text) {
  if (status.plan.has_value()) AppendPlan(status, *status.plan, text);
  for (const JobStatus::Inferred& inferred : status.inferred) {
    absl::StrAppendFormat(&text, "inferred: %s %s at most %.1f Mbit/s\n", inferred.node, inferred.what, inferred.mbps);
  }
  for (const JobStatus::Way& way : status.ways) {
    absl::StrAppendFormat(&text, "inferred: %s > %s carries %.1f Mbit/s with %s\n", way.from, way.to, way.mbps,
                          absl::StrJoin(way.links, ", ", [](std::string* out, const Two<std::string>& link) {
                            absl::StrAppend(out, link.first, " > ", link.second);
                          }));
  }
  if (status.auxiliary_share > 0) {
    absl::StrAppendFormat(&text, "auxiliary paths: %.1f %% of all bytes\n", status.auxiliary_share * 100);
  }
  if (!status.trees.empty()) {
    absl::StrAppend(&text, "trees: ",
                    absl::StrJoin(status.trees, ", ",
                                  [](std::string* out, const JobStatus::Tree& tree) {
                                    absl::StrAppendFormat(out, "%s %.1f %%", tree.root, tree.share * 100);
                                  }),
                    status.trees_left_out > 0 ? absl::StrCat(" and ", status.trees_left_out, " more") : "", "\n");
  }
}

}  // namespace

absl::StatusOr<JobStatus> ParseStatus(absl::string_view json) {
  return ParseJsonFields<JobStatus>(json, "the status of a scheduler", "job");
}

std::string FormatStatus(const JobStatus& status, bool shows_all_links) {
  std::string text =
      absl::StrFormat("job %s: %s, epoch %d, policy %d", status.job, status.state, status.epoch, status.policy);
  absl::StrAppend(&text, status.version.empty() ? "" : ", banyan ", status.version, "\n");
  if (!status.error.empty()) absl::StrAppend(&text, "error: ", status.error, "\n");
  AppendInsecure(status, text);
  AppendIdle(status, text);
  if (!status.waiting_for.empty())
    absl::StrAppend(&text, "waiting for ", absl::StrJoin(status.waiting_for, ", "), "\n");
  AppendEpochs(status, text);
  AppendNotFinite(status, text);
  AppendPolicy(status, text);
  if (status.precision.has_value()) absl::StrAppend(&text, PrecisionText(*status.precision));
  AppendNodes(status, text);
  AppendVersions(status, text);
  AppendGrace(status, text);
  AppendLinks(status, shows_all_links, text);
  return text;
}

uint64_t NewestRound(const JobStatus& status) {
  uint64_t newest = 0;
  for (const JobStatus::Node& node : status.nodes) {
    if (node.report.has_value()) newest = std::max(newest, node.report->round.value_or(0));
  }
  return newest;
}

}  // namespace banyan
