#include "scheduler/status_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "access/exposure.h"
#include "core/version.h"
#include "proto/peer_messages.h"

namespace banyan {
namespace {

constexpr double kMega = 1e6;

// By position in the table of links; nullptr where the sender has not reported the link.
using LinkReports = std::vector<const LinkCounters*>;

const char* NameOf(MemberState state) {
  switch (state) {
    case MemberState::kAbsent:
      return "absent";
    case MemberState::kExpected:
      return "expected";
    case MemberState::kJoined:
      return "joined";
    case MemberState::kSilent:
      return "silent";
    case MemberState::kLeft:
      return "left";
    case MemberState::kOut:
      return "out";
  }
  return "unknown";
}

const char* NameOf(LinkSource source) {
  switch (source) {
    case LinkSource::kBelieved:
      return "believed";
    case LinkSource::kPrimary:
      return "primary";
    case LinkSource::kAuxiliary:
      return "auxiliary";
  }
  return "unknown";
}

std::optional<double> FiniteOrNone(double value) {
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

std::optional<double> Megabits(const std::optional<double>& cap_bps) {
  return cap_bps.has_value() ? std::optional<double>(*cap_bps / kMega) : std::nullopt;
}

std::optional<std::string> TextOrNone(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

JobStatus::Report ReportOf(const NodeReport& report, const KeyTable& keys) {
  JobStatus::Report status;
  status.workers = report.workers_attached;
  // Some keys are used in few steps, or in none.
  const auto newest = std::ranges::max_element(report.progress, {}, &NodeReport::KeyProgress::round);
  if (newest != report.progress.end()) status.round = newest->round.value();
  status.step = report.step;
  status.loss = FiniteOrNone(report.loss);
  status.sync_seconds = absl::ToDoubleSeconds(report.last_sync.duration);
  status.counters = report;
  status.rejected_messages = report.rejected_messages;
  std::map<std::string, uint64_t> memory;
  for (const NodeReport::Memory& row : report.memory) memory[row.what] += row.size_bytes;
  for (const auto& [what, size_bytes] : memory) {
    if (size_bytes > 0) status.memory.push_back({what, size_bytes});
  }
  for (const NodeReport::NotFinite& row : report.not_finite) {
    status.not_finite.push_back(
        {keys.Contains(row.key) ? keys.NameOf(row.key) : "other keys", row.values, row.last.value()});
  }
  return status;
}

// Whether other machines reach this address, in a job without keys. A process refuses that without --insecure.
bool IsInsecure(const StatusSources& from, const std::string& address) {
  return !from.keyless_address.empty() && !address.empty() && !IsLoopback(address);
}

constexpr absl::Duration kIdleShownAfter = absl::Seconds(10);

JobStatus::Node NodeOf(const StatusSources& from, const Member& member) {
  JobStatus::Node status;
  status.name = member.name;
  status.id = member.id.value();
  status.state = member.is_removed ? "removed" : NameOf(member.state);
  status.address = member.address;
  if (member.state != MemberState::kAbsent && member.state != MemberState::kExpected) {
    status.heard_s = absl::ToDoubleSeconds(from.now - member.last_heard);
  }
  status.version = member.version;
  status.is_insecure = IsInsecure(from, member.address);
  status.is_member = member.is_member;
  if (member.is_member) status.membership = {absl::StrCat(member.incarnation.value()), member.joined_in.value()};
  if (const NetworkNode* node = from.links.believed().FindNode(member.id); node != nullptr) {
    status.up_mbps = Megabits(node->up_cap_bps);
    status.down_mbps = Megabits(node->down_cap_bps);
    if (node->position.has_value())
      status.place = {node->position->latitude_degrees, node->position->longitude_degrees};
  }
  if (const NodeReport* report = from.reports.Find(member.id); report != nullptr) {
    status.report = ReportOf(*report, from.keys);
    const absl::Duration idle = from.reports.IdleFor(member.id);
    if (idle >= kIdleShownAfter && member.is_member) status.idle_s = absl::ToDoubleSeconds(idle);
  }
  return status;
}

LinkReports CollectTraffic(const StatusSources& from) {
  const std::vector<LinkTable::Entry>& entries = from.links.entries();
  LinkReports traffic(entries.size(), nullptr);
  const auto ends = [](const LinkTable::Entry& entry) { return std::pair(entry.link.from, entry.link.to); };
  for (const Member& member : from.membership.all()) {
    const NodeReport* report = from.reports.Find(member.id);
    if (report == nullptr) continue;
    for (const NodeReport::Link& link : report->links) {
      const auto found = std::ranges::lower_bound(entries, std::pair(member.id, link.to), {}, ends);
      if (found != entries.end() && ends(*found) == std::pair(member.id, link.to)) {
        traffic[static_cast<size_t>(found - entries.begin())] = &link;
      }
    }
  }
  return traffic;
}

// The positions of the links that are listed, ascending.
std::vector<size_t> ListedLinks(const LinkReports& traffic) {
  std::vector<size_t> listed(traffic.size());
  std::iota(listed.begin(), listed.end(), size_t{0});
  if (listed.size() <= kMostLinksListed) return listed;
  const auto rank = [&traffic](size_t link) {
    const LinkCounters none;
    const LinkCounters& of = traffic[link] == nullptr ? none : *traffic[link];
    const bool has_trouble = of.is_blocked || of.renewals > 0 || of.cut_chunks > 0;
    return std::tuple(!has_trouble, -of.busy_share, of.sent_bytes == 0, link);
  };
  std::ranges::nth_element(listed, listed.begin() + kMostLinksListed, {}, rank);
  listed.resize(kMostLinksListed);
  std::ranges::sort(listed);
  return listed;
}

JobStatus::Link LinkOf(const StatusSources& from, const LinkTable::Entry& entry) {
  const NetworkLink& link = entry.link;
  JobStatus::Link status;
  status.from = from.links.believed().NameOf(link.from);
  status.to = from.links.believed().NameOf(link.to);
  status.mbps = link.throughput_bps / kMega;
  status.delay_ms = absl::ToDoubleMilliseconds(link.delay);
  status.loss_percent = 100 * link.loss_fraction;
  const std::optional<absl::Duration> age = from.links.AgeOf(entry, from.now);
  if (age.has_value()) status.age_s = absl::ToDoubleSeconds(*age);
  status.source = NameOf(link.source);
  status.is_old = from.links.IsOld(entry, from.now);
  if (entry.reported.has_value()) {
    status.measured = {entry.reported->one_way_delay_rate_bps / kMega,
                       absl::ToDoubleMilliseconds(entry.reported->clock_offset),
                       absl::ToDoubleMilliseconds(entry.reported->clock_uncertainty)};
  }
  return status;
}

void FillLinks(const StatusSources& from, const LinkReports& traffic, JobStatus& status) {
  for (const size_t link : ListedLinks(traffic)) {
    status.links.push_back(LinkOf(from, from.links.entries()[link]));
    if (traffic[link] != nullptr) status.links.back().traffic = *traffic[link];
  }
  status.links_left_out = traffic.size() - status.links.size();
  uint64_t sent_bytes = 0;
  uint64_t auxiliary_bytes = 0;
  for (const LinkCounters* const link : traffic) {
    sent_bytes += link == nullptr ? 0 : link->sent_bytes;
    auxiliary_bytes += link == nullptr ? 0 : link->auxiliary_bytes;
  }
  if (sent_bytes > 0) status.auxiliary_share = static_cast<double>(auxiliary_bytes) / static_cast<double>(sent_bytes);
}

void FillInferred(const StatusSources& from, JobStatus& status) {
  const NetworkView& view = from.links.believed();
  for (const SharedGroup& group : from.inferred) {
    const bool sends = group.kind == SharedGroup::Kind::kSent;
    status.inferred.push_back({view.NameOf(group.host), sends ? "sends" : "receives", group.capacity_bps / kMega});
  }
  for (const SharedWay& way : from.ways) {
    const NetworkLink& link = view.links()[way.link];
    status.ways.push_back({view.NameOf(link.from), view.NameOf(link.to), way.rate_bps / kMega, {}});
    for (const size_t number : way.over) {
      const NetworkLink& over = view.links()[number];
      status.ways.back().links.push_back({view.NameOf(over.from), view.NameOf(over.to)});
    }
  }
}

std::optional<JobStatus::SlowestLink> SlowestLinkOf(const StatusSources& from, const LinkReports& traffic) {
  std::optional<size_t> slowest;
  for (size_t i = 0; i < traffic.size(); ++i) {
    const double busiest = slowest.has_value() ? traffic[*slowest]->busy_share : 0;
    if (traffic[i] != nullptr && traffic[i]->busy_share > busiest) slowest = i;
  }
  if (!slowest.has_value()) return std::nullopt;
  const NetworkView& names = from.links.believed();
  const NetworkLink& link = from.links.entries()[*slowest].link;
  return JobStatus::SlowestLink{names.NameOf(link.from), names.NameOf(link.to), link.throughput_bps / kMega,
                                traffic[*slowest]->busy_share};
}

std::vector<Named<std::string>> Parents(const std::map<NodeId, NodeId>& parents, const NetworkView& view) {
  std::vector<Named<std::string>> named;
  for (const auto& [node, parent] : parents) named.push_back({view.NameOf(node), view.NameOf(parent)});
  return named;
}

// How many trees of the policy the status lists, each with two edges to each member but its root.
size_t TreesListed(const Policy& policy) {
  const size_t edges = std::max<size_t>(1, 2 * policy.members.size());
  return std::min(policy.trees.size(), std::max<size_t>(1, kMostEdgesListed / edges));
}

void FillPlan(const StatusSources& from, const LinkReports& traffic, JobStatus& status) {
  const Policy* const policy = from.policies.Current();
  if (policy == nullptr) return;
  status.policy = policy->version.value();
  JobStatus::Plan& plan = status.plan.emplace();
  plan.planner = policy->planner;
  plan.rate_mbps = policy->rate_bps / kMega;
  plan.auxiliary_rate_mbps = policy->auxiliary_rate_bps / kMega;
  plan.bound_mbps = policy->bound_bps / kMega;
  plan.bound_ratio = FiniteOrNone(BoundRatio(*policy));
  if (from.predicted_round > absl::ZeroDuration()) {
    plan.predicted_round_seconds = FiniteOrNone(absl::ToDoubleSeconds(from.predicted_round));
  }
  plan.policy_reason = from.policies.CurrentReason();
  plan.live_policies = from.policies.size();
  plan.policies_taken_back = from.policies_taken_back;
  plan.slowest_link = SlowestLinkOf(from, traffic);
  const NetworkView& view = from.links.believed();
  std::vector<const Tree*> trees;
  for (const Tree& tree : policy->trees) trees.push_back(&tree);
  const size_t listed = TreesListed(*policy);
  if (listed < trees.size())
    std::ranges::stable_sort(trees, std::greater(), [](const Tree* tree) { return tree->share; });
  status.trees_left_out = trees.size() - listed;
  trees.resize(listed);
  for (const Tree* tree : trees) {
    status.trees.push_back({view.NameOf(tree->root), tree->share, Parents(tree->reduce_parent, view),
                            Parents(tree->broadcast_parent, view)});
  }
}

std::vector<std::string> Names(const StatusSources& from, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId node : nodes) names.push_back(from.membership.Find(node).name);
  return names;
}

void FillEpochs(const StatusSources& from, JobStatus& status) {
  if (from.history == nullptr) return;
  JobStatus::Epochs& epochs = status.epochs;
  epochs.count = from.history->count();
  epochs.reason = from.epoch_reason;
  epochs.total_seconds = absl::ToDoubleSeconds(from.history->total());
  epochs.longest_seconds = absl::ToDoubleSeconds(from.history->longest());
  for (const EpochHistory::Change& change : from.history->changes()) {
    epochs.last.push_back({change.epoch.value(), change.reason, static_cast<uint32_t>(change.members),
                           absl::ToDoubleSeconds(change.took)});
  }
}

void FillWaits(const StatusSources& from, JobStatus& status) {
  status.change = TextOrNone(from.change_waits_for);
  status.transfer = TextOrNone(from.transfer);
  status.disorder = TextOrNone(from.disorder);
  status.storage = TextOrNone(from.storage);
  if (const std::optional<OpenRound>& open = from.open_round; open.has_value()) {
    status.open_round = {from.keys.NameOf(open->key),   open->round.value(),
                         Names(from, open->not_pushed), Names(from, open->not_held),
                         from.open_round_waits_for,     absl::ToDoubleSeconds(from.now - from.last_progress)};
  }
  status.barrier_waits_for = Names(from, from.barrier_waits_for);
  for (const LinkOutages::Outage& outage : from.outages) {
    status.links_out.push_back({{from.membership.Find(outage.a).name, from.membership.Find(outage.b).name},
                                absl::ToDoubleSeconds(outage.until - from.now),
                                outage.why});
  }
}

}  // namespace

JobStatus MakeStatus(const StatusSources& from) {
  JobStatus status;
  status.job = from.job;
  status.state = from.state;
  status.error = from.error;
  status.version = kVersion;
  status.protocol = kProtocolVersion;
  status.term = from.term.value();
  status.epoch = from.epoch.value();
  status.rejected_messages = from.rejected_messages;
  status.waiting_for = from.membership.WaitingFor();
  status.is_insecure = IsInsecure(from, from.keyless_address);
  FillEpochs(from, status);
  FillWaits(from, status);
  if (from.precision != nullptr) status.precision = from.precision->Status(from.rounds, from.reports);
  for (const Member& member : from.membership.all()) status.nodes.push_back(NodeOf(from, member));
  const LinkReports traffic = CollectTraffic(from);
  FillLinks(from, traffic, status);
  FillInferred(from, status);
  FillPlan(from, traffic, status);
  for (KeyId key(1); from.keys.Contains(key); key = key.Next()) {
    // Init is round 0, and no round of the training.
    const uint64_t open = from.rounds.FirstOpen(key).value();
    status.keys.push_back(
        {from.keys.NameOf(key), static_cast<uint64_t>(from.keys.ElementsOf(key)), open == 0 ? 0 : open - 1});
  }
  return status;
}

}  // namespace banyan
