#include "tools/reports/status_view.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/json_value.h"

namespace banyan {
namespace {

// --- low-bit rounds ---

constexpr size_t kMostRoutesShown = 5;

PrecisionView::Rounds ParseRounds(const JsonValue& object) {
  return {object["key"] ? object["key"].as<std::string>() : "", object["low_bit"].as<int64_t>(),
          object["fallback"].as<int64_t>(), object["plain"].as<int64_t>(), object["mixed"].as<int64_t>()};
}

std::string KeysText(std::vector<PrecisionView::Rounds> keys) {
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto& a, const auto& b) { return a.low_bit + a.fallback > b.low_bit + b.fallback; });
  const size_t more = keys.size() - std::min(keys.size(), kMostRoutesShown);
  keys.resize(keys.size() - more);
  std::string text = absl::StrJoin(keys, "; ", [](std::string* out, const PrecisionView::Rounds& rounds) {
    absl::StrAppendFormat(out, "%s %d/%d/%d", rounds.key, rounds.low_bit, rounds.fallback, rounds.plain);
  });
  if (more > 0) absl::StrAppend(&text, "; and ", more, " more");
  return text;
}

// Throws JsonMismatch where `object` is not what a scheduler writes.
PrecisionView ParsePrecision(const JsonValue& object) {
  PrecisionView view;
  view.profile = object["profile"].as<std::string>();
  view.state = object["state"].as<std::string>();
  view.veto = object["veto"].as<std::string>();
  view.vetoes = object["vetoes"].as<int64_t>();
  view.ordered = object["vetoed_by_order"].as<std::vector<std::string>>();
  view.violations = object["violations"].as<int64_t>();
  const JsonValue& audit = object["audit"];
  view.candidates = ParseRounds(audit["candidates"]);
  view.low_bit_share = audit["candidates"]["low_bit_share"].as<double>();
  view.veto_share = audit["candidates"]["veto_share"].as<double>();
  view.bits_per_element = audit["bits_per_element"].as<double>();
  view.traffic_ratio = audit["all"]["traffic_ratio"].as<double>();
  view.sent_bytes = object["sent"]["bytes"].as<double>();
  view.full_bytes = object["sent"]["fp32_bytes"].as<double>();
  for (const JsonValue& key : audit["keys"]) {
    const PrecisionView::Rounds rounds = ParseRounds(key);
    if (rounds.low_bit + rounds.fallback > 0) view.keys.push_back(rounds);
  }
  return view;
}

std::string PrecisionText(const PrecisionView& precision) {
  std::string text = absl::StrFormat(
      "low-bit rounds (%s): %s, %.1f %% of the candidates' low-bit, %.1f %% of admitted ones vetoed, veto %s (%d so "
      "far)",
      precision.profile, precision.state, 100 * precision.low_bit_share, 100 * precision.veto_share, precision.veto,
      precision.vetoes);
  if (!precision.ordered.empty()) {
    absl::StrAppend(&text, ", vetoed by order: ", absl::StrJoin(precision.ordered, ", "));
  }
  absl::StrAppendFormat(
      &text,
      "\n  MGTR %.3f at %.3g bits per element; really sent %.2f MB, %.2f MB as FP32; %d violations, %d "
      "mixed rounds\n",
      precision.traffic_ratio, precision.bits_per_element, precision.sent_bytes / 1e6, precision.full_bytes / 1e6,
      precision.violations, precision.candidates.mixed);
  if (!precision.keys.empty()) {
    absl::StrAppend(&text, "  rounds low-bit/fallback/plain: ", KeysText(precision.keys), "\n");
  }
  return text;
}

// --- the status ---

// In one line.
constexpr size_t kMostKeysShown = 3;
// Unless all are asked for.
constexpr size_t kMostLinksShown = 40;
// That is shown with all its digits.
constexpr double kLargestLoss = 10000;

template <typename Value>
Value Get(const JsonValue& object, const char* name) {
  return object[name] && !object[name].IsNull() ? object[name].as<Value>() : Value();
}

template <typename Value>
std::optional<Value> GetOptional(const JsonValue& object, const char* name) {
  if (!object[name] || object[name].IsNull()) return std::nullopt;
  return object[name].as<Value>();
}

StatusView::Node ParseNode(const JsonValue& object) {
  StatusView::Node node;
  node.name = object["name"].as<std::string>();
  node.state = Get<std::string>(object, "state");
  node.address = Get<std::string>(object, "address");
  node.heard_s = GetOptional<double>(object, "heard_s");
  node.version = Get<std::string>(object, "version");
  node.is_insecure = Get<bool>(object, "insecure");
  node.workers = Get<int64_t>(object, "workers");
  node.round = GetOptional<int64_t>(object, "round");
  if (Get<int64_t>(object, "step") > 0) node.loss = GetOptional<double>(object, "loss");
  node.sync_s = Get<double>(object, "sync_seconds");
  node.rejected_messages = Get<int64_t>(object, "rejected_messages");
  for (const auto& row : object["memory"]) node.memory_bytes += row.as<int64_t>();
  for (const JsonValue& row : object["not_finite"]) {
    node.not_finite.push_back(
        {Get<std::string>(row, "key"), Get<int64_t>(row, "values"), Get<int64_t>(row, "last_round")});
  }
  return node;
}

StatusView::Link ParseLink(const JsonValue& object) {
  StatusView::Link link;
  link.from = object["from"].as<std::string>();
  link.to = object["to"].as<std::string>();
  link.mbps = Get<double>(object, "mbps");
  link.delay_ms = Get<double>(object, "delay_ms");
  link.age_s = GetOptional<double>(object, "age_s");
  link.source = Get<std::string>(object, "source");
  link.is_old = Get<bool>(object, "old");
  link.clock_offset_ms = GetOptional<double>(object, "clock_offset_ms");
  link.busy_share = Get<double>(object, "busy_share");
  link.sent_bytes = Get<uint64_t>(object, "bytes");
  link.resent_bytes = Get<uint64_t>(object, "resent_bytes");
  link.auxiliary_bytes = Get<uint64_t>(object, "auxiliary_bytes");
  link.renewals = Get<uint64_t>(object, "renewals");
  link.cut_chunks = Get<uint64_t>(object, "cut_chunks");
  link.cut_bytes = Get<uint64_t>(object, "cut_bytes");
  link.overtakings = Get<uint64_t>(object, "overtakings");
  link.is_blocked = Get<bool>(object, "blocked");
  return link;
}

void ParsePolicy(const JsonValue& object, StatusView& status) {
  status.policy = object["policy"].as<int64_t>();
  status.policy_reason = Get<std::string>(object, "policy_reason");
  status.live_policies = Get<int64_t>(object, "live_policies");
  status.policies_taken_back = Get<int64_t>(object, "policies_taken_back");
  status.planner = Get<std::string>(object, "planner");
  status.rate_mbps = Get<double>(object, "rate_mbps");
  status.auxiliary_rate_mbps = Get<double>(object, "auxiliary_rate_mbps");
  status.bound_mbps = Get<double>(object, "bound_mbps");
  status.bound_ratio = GetOptional<double>(object, "bound_ratio");
  status.predicted_round_s = GetOptional<double>(object, "predicted_round_seconds");
  status.auxiliary_share = Get<double>(object, "auxiliary_share");
  if (const JsonValue& link = object["slowest_link"]; link && !link.IsNull()) {
    status.slowest_link = {Get<std::string>(link, "from"), Get<std::string>(link, "to"), Get<double>(link, "mbps"),
                           Get<double>(link, "busy_share")};
  }
}

void ParseEpochs(const JsonValue& object, StatusView& status) {
  if (const JsonValue& change = object["change"]; change && !change.IsNull()) status.change = change.as<std::string>();
  if (const JsonValue& disorder = object["disorder"]; disorder && !disorder.IsNull()) {
    status.disorder = disorder.as<std::string>();
  }
  if (const JsonValue& storage = object["storage"]; storage && !storage.IsNull()) {
    status.storage = storage.as<std::string>();
  }
  if (const JsonValue& epochs = object["epochs"]; epochs) {
    status.changes = Get<int64_t>(epochs, "count");
    status.epoch_reason = Get<std::string>(epochs, "reason");
    status.changes_s = Get<double>(epochs, "total_seconds");
    status.longest_change_s = Get<double>(epochs, "longest_seconds");
  }
  if (const JsonValue& open = object["open_round"]; open && !open.IsNull()) {
    status.open_round = {Get<std::string>(open, "key"), Get<int64_t>(open, "round"),
                         Get<std::string>(open, "waits_for"), Get<double>(open, "since_s")};
  }
  for (const JsonValue& link : object["links_out"]) {
    status.links_out.push_back(absl::StrCat(absl::StrJoin(Get<std::vector<std::string>>(link, "between"), " - "), ": ",
                                            Get<std::string>(link, "why")));
  }
}

StatusView ParseJob(const JsonValue& object) {
  StatusView status;
  status.job = Get<std::string>(object, "job");
  status.state = Get<std::string>(object, "state");
  status.error = Get<std::string>(object, "error");
  status.version = Get<std::string>(object, "version");
  status.term = Get<int64_t>(object, "term");
  status.rejected_messages = Get<int64_t>(object, "rejected_messages");
  status.epoch = object["epoch"].as<int64_t>();
  ParsePolicy(object, status);
  ParseEpochs(object, status);
  status.waiting_for = Get<std::vector<std::string>>(object, "waiting_for");
  status.is_insecure = Get<bool>(object, "insecure");
  for (const JsonValue& node : object["nodes"]) status.nodes.push_back(ParseNode(node));
  for (const JsonValue& link : object["links"]) status.links.push_back(ParseLink(link));
  status.links_left_out = Get<int64_t>(object, "links_left_out");
  for (const JsonValue& group : object["inferred"]) {
    status.inferred.push_back(
        {Get<std::string>(group, "node"), Get<std::string>(group, "what"), Get<double>(group, "mbps")});
  }
  for (const JsonValue& way : object["ways"]) {
    status.ways.push_back({Get<std::string>(way, "from"), Get<std::string>(way, "to"), Get<double>(way, "mbps"),
                           Get<std::vector<std::pair<std::string, std::string>>>(way, "links")});
  }
  for (const JsonValue& tree : object["trees"]) {
    status.trees.push_back({Get<std::string>(tree, "root"), Get<double>(tree, "share")});
  }
  for (const JsonValue& key : object["keys"]) {
    status.keys.push_back({Get<std::string>(key, "key"), Get<int64_t>(key, "closed_rounds")});
  }
  if (object["precision"]) status.precision = ParsePrecision(object["precision"]);
  return status;
}

// Of a training that diverges in few characters.
std::string LossText(double loss) {
  return std::abs(loss) < kLargestLoss ? absl::StrFormat("%.4f", loss) : absl::StrFormat("%.2g", loss);
}

void AppendNodes(const StatusView& status, std::string& text) {
  absl::StrAppendFormat(&text, "\n%-12s %-9s %7s %8s %9s %9s %10s  %s\n", "node", "state", "workers", "round", "loss",
                        "sync ms", "memory MB", "address");
  for (const StatusView::Node& node : status.nodes) {
    absl::StrAppendFormat(&text, "%-12s %-9s %7d %8s %9s %9.1f %10.1f  %s\n", node.name, node.state, node.workers,
                          node.round ? absl::StrCat(*node.round) : "-", node.loss ? LossText(*node.loss) : "-",
                          node.sync_s * 1e3, static_cast<double>(node.memory_bytes) / 1e6, node.address);
  }
}

// Who runs with --insecure.
void AppendInsecure(const StatusView& status, std::string& text) {
  std::vector<std::string> names;
  if (status.is_insecure) names.push_back("the scheduler");
  for (const StatusView::Node& node : status.nodes) {
    if (node.is_insecure) names.push_back(node.name);
  }
  if (names.empty()) return;
  absl::StrAppend(&text, "insecure, reached by other machines without keys: ", absl::StrJoin(names, ", "), "\n");
}

// Nodes of another version than the scheduler's.
void AppendVersions(const StatusView& status, std::string& text) {
  for (const StatusView::Node& node : status.nodes) {
    if (node.version.empty() || node.version == status.version) continue;
    absl::StrAppend(&text, node.name, " runs banyan ", node.version, "\n");
  }
}

// What nodes have pushed that is no number: the keys with most of it.
void AppendNotFinite(const StatusView& status, std::string& text) {
  for (StatusView::Node node : status.nodes) {
    if (node.not_finite.empty()) continue;
    std::stable_sort(node.not_finite.begin(), node.not_finite.end(),
                     [](const auto& a, const auto& b) { return a.values > b.values; });
    const size_t shown = std::min(node.not_finite.size(), kMostKeysShown);
    const absl::Span<const StatusView::NotFinite> rows(node.not_finite.data(), shown);
    absl::StrAppend(&text, node.name, " has pushed NaN or infinity: ",
                    absl::StrJoin(rows, ", ",
                                  [](std::string* out, const StatusView::NotFinite& row) {
                                    absl::StrAppendFormat(out, "%d of key '%s', last in round %d", row.values, row.key,
                                                          row.last_round);
                                  }),
                    shown < node.not_finite.size() ? ", and more keys" : "", "\n");
  }
}

double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// Links whose connections stop carrying without a word.
void AppendRenewals(const StatusView& status, std::string& text) {
  for (const StatusView::Link& link : status.links) {
    if (link.renewals == 0 && !link.is_blocked) continue;
    absl::StrAppendFormat(&text, "%s > %s: %d %s made anew because nothing passed%s\n", link.from, link.to,
                          link.renewals, link.renewals == 1 ? "connection was" : "connections were",
                          link.is_blocked ? "; it connects, but large messages do not pass (path MTU?)" : "");
  }
}

// Links whose packets overtake each other often enough to matter.
void AppendOvertakings(const StatusView& status, std::string& text) {
  constexpr uint64_t kBytesPerNotable = 1'000'000;  // some 700 packets
  for (const StatusView::Link& link : status.links) {
    if (link.overtakings * kBytesPerNotable <= link.sent_bytes) continue;
    absl::StrAppendFormat(&text,
                          "%s > %s: packets overtook each other %d times, as over a bundle of links, which may "
                          "cost rate\n",
                          link.from, link.to, link.overtakings);
  }
}

// Links that carry less than they were given.
void AppendCuts(const StatusView& status, std::string& text) {
  for (const StatusView::Link& link : status.links) {
    if (link.cut_chunks == 0) continue;
    absl::StrAppendFormat(&text, "%s > %s: %d chunks were cut by %.2f MB in all\n", link.from, link.to, link.cut_chunks,
                          static_cast<double>(link.cut_bytes) / 1e6);
  }
}

// The links to show, in their order.
std::vector<StatusView::Link> ShownLinks(const StatusView& status, bool shows_all) {
  std::vector<size_t> order(status.links.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!shows_all && order.size() > kMostLinksShown) {
    std::ranges::stable_sort(order, {}, [&status](size_t link) {
      return std::pair(-status.links[link].busy_share, status.links[link].mbps);
    });
    order.resize(kMostLinksShown);
    std::ranges::sort(order);
  }
  std::vector<StatusView::Link> shown;
  for (const size_t link : order) shown.push_back(status.links[link]);
  return shown;
}

void AppendLinks(const StatusView& status, bool shows_all, std::string& text) {
  const std::vector<StatusView::Link> shown = ShownLinks(status, shows_all);
  absl::StrAppendFormat(&text, "\n%-20s %9s %9s %7s %-10s %11s %11s %8s %9s\n", "link", "Mbit/s", "delay ms", "age s",
                        "source", "sent MB", "resent MB", "auxiliary path %", "clock ms");
  for (const StatusView::Link& link : shown) {
    const std::string source = link.source + (link.is_old ? "!" : "");
    absl::StrAppendFormat(&text, "%-20s %9.1f %9.1f %7s %-10s %11.2f %11.2f %8.1f %9s\n",
                          absl::StrCat(link.from, " > ", link.to), link.mbps, link.delay_ms,
                          link.age_s ? absl::StrFormat("%.1f", *link.age_s) : "-", source,
                          static_cast<double>(link.sent_bytes) / 1e6, static_cast<double>(link.resent_bytes) / 1e6,
                          Percent(link.auxiliary_bytes, link.sent_bytes),
                          link.clock_offset_ms ? absl::StrFormat("%.1f", *link.clock_offset_ms) : "-");
  }
  if (std::any_of(shown.begin(), shown.end(), [](const StatusView::Link& link) { return link.is_old; })) {
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

void AppendEpochs(const StatusView& status, std::string& text) {
  if (!status.storage.empty()) absl::StrAppend(&text, status.storage, "\n");
  if (!status.change.empty()) {
    absl::StrAppend(&text, "membership waits (last change because ", status.epoch_reason, "): ", status.change, "\n");
  } else if (status.changes > 0) {
    absl::StrAppendFormat(&text, "%d changes of membership, %.1f s in the mean; the last because %s\n", status.changes,
                          status.changes_s / static_cast<double>(status.changes), status.epoch_reason);
  }
  if (status.open_round.has_value()) {
    const StatusView::OpenRound& open = *status.open_round;
    absl::StrAppendFormat(&text, "round %d of %s waits for %s; nothing was closed for %.1f s\n", open.round, open.key,
                          open.waits_for, open.since_s);
  }
  if (!status.disorder.empty()) absl::StrAppend(&text, status.disorder, "\n");
  for (const std::string& link : status.links_out) absl::StrAppend(&text, "link out: ", link, "\n");
}

void AppendPolicy(const StatusView& status, std::string& text) {
  if (!status.policy_reason.empty()) {
    absl::StrAppendFormat(&text, "policy %d: because of %s", status.policy, status.policy_reason);
    if (status.live_policies > 1) absl::StrAppend(&text, "; ", status.live_policies, " versions still govern rounds");
    if (status.policies_taken_back > 0) absl::StrAppend(&text, "; ", status.policies_taken_back, " taken back so far");
    absl::StrAppend(&text, "\n");
  }
  if (!status.planner.empty()) {
    absl::StrAppendFormat(&text, "plan: %s, %.1f Mbit/s", status.planner, status.rate_mbps);
    if (status.auxiliary_rate_mbps > status.rate_mbps) {
      absl::StrAppendFormat(&text, " (%.1f with auxiliary paths)", status.auxiliary_rate_mbps);
    }
    absl::StrAppendFormat(&text, " of at most %.1f", status.bound_mbps);
    if (status.bound_ratio) absl::StrAppendFormat(&text, ", ratio %.3f", *status.bound_ratio);
    if (status.predicted_round_s) absl::StrAppendFormat(&text, ", %.3g s a round", *status.predicted_round_s);
    absl::StrAppend(&text, "\n");
  }
  if (status.slowest_link.has_value()) {
    absl::StrAppendFormat(&text, "slowest link: %s > %s, %.1f Mbit/s, busy for %.0f %% of the last round\n",
                          status.slowest_link->from, status.slowest_link->to, status.slowest_link->mbps,
                          status.slowest_link->busy_share * 100);
  }
  for (const StatusView::Inferred& inferred : status.inferred) {
    absl::StrAppendFormat(&text, "inferred: %s %s at most %.1f Mbit/s\n", inferred.node, inferred.what, inferred.mbps);
  }
  for (const StatusView::Way& way : status.ways) {
    absl::StrAppendFormat(&text, "inferred: %s > %s carries %.1f Mbit/s with %s\n", way.from, way.to, way.mbps,
                          absl::StrJoin(way.links, ", ", absl::PairFormatter(" > ")));
  }
  if (status.auxiliary_share > 0) {
    absl::StrAppendFormat(&text, "auxiliary paths: %.1f %% of all bytes\n", status.auxiliary_share * 100);
  }
  if (!status.trees.empty()) {
    absl::StrAppend(&text, "trees: ",
                    absl::StrJoin(status.trees, ", ",
                                  [](std::string* out, const StatusView::Tree& tree) {
                                    absl::StrAppendFormat(out, "%s %.1f %%", tree.root, tree.share * 100);
                                  }),
                    "\n");
  }
}

// That were low-bit or fell back most often.

}  // namespace

absl::StatusOr<StatusView> ParseStatus(absl::string_view json) {
  constexpr char kExpected[] = "expected the status of a scheduler as JSON: ";
  const absl::StatusOr<JsonValue> object = JsonValue::Parse(json);
  if (!object.ok()) return absl::InvalidArgumentError(absl::StrCat(kExpected, object.status().message()));
  try {
    return ParseJob(*object);
  } catch (const JsonMismatch& mismatch) {
    return absl::InvalidArgumentError(absl::StrCat(kExpected, mismatch.what()));
  }
}

std::string FormatStatus(const StatusView& status, bool shows_all_links) {
  std::string text =
      absl::StrFormat("job %s: %s, epoch %d, policy %d", status.job, status.state, status.epoch, status.policy);
  absl::StrAppend(&text, status.version.empty() ? "" : ", banyan ", status.version, "\n");
  if (!status.error.empty()) absl::StrAppend(&text, "error: ", status.error, "\n");
  AppendInsecure(status, text);
  if (!status.waiting_for.empty())
    absl::StrAppend(&text, "waiting for ", absl::StrJoin(status.waiting_for, ", "), "\n");
  AppendEpochs(status, text);
  AppendNotFinite(status, text);
  AppendPolicy(status, text);
  if (status.precision.has_value()) absl::StrAppend(&text, PrecisionText(*status.precision));
  AppendNodes(status, text);
  AppendVersions(status, text);
  AppendLinks(status, shows_all_links, text);
  return text;
}

}  // namespace banyan
