#include "scheduler/policy/link_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

// Reports of one sample come with ages that differ by what messages take.
constexpr absl::Duration kSameSample = absl::Milliseconds(100);

bool IsDuration(absl::Duration duration, absl::Duration longest) {
  return duration >= absl::ZeroDuration() && duration <= longest;
}

// The nodes of `from` and what is shared there, with these links.
NetworkView MakeView(const NetworkView& from, std::vector<NetworkLink> links) {
  absl::StatusOr<NetworkView> view = from.WithLinks(std::move(links));
  BANYAN_CHECK(view.ok());
  return *std::move(view);
}

}  // namespace

LinkTable::LinkTable(NetworkView believed) : believed_(std::move(believed)) {
  for (const NetworkLink& link : believed_.links()) entries_.emplace_back(link);
  MarkPlanned();
}

absl::Status LinkTable::Accept(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links) {
  absl::Status first_error;
  for (const NodeReport::Link& link : links) {
    if (!link.measurement.has_value()) continue;
    Entry* const entry = Find(from, link.to);
    absl::Status status = entry == nullptr ? absl::InvalidArgumentError("there is no such link in the overlay")
                                           : Check(*link.measurement);
    if (status.ok()) {
      Take(now, now + -link.measurement->age, Plausible(*link.measurement, entry->link), *entry);
    } else if (first_error.ok()) {
      first_error = absl::InvalidArgumentError(absl::StrCat("a measurement of the link from ", believed_.NameOf(from),
                                                            " to ", believed_.NameOf(link.to), ": ", status.message()));
    }
  }
  return first_error;
}

absl::Status LinkTable::Check(const LinkMeasurement& measurement) {
  if (!(measurement.rate_bps >= kLowestLinkBps && measurement.rate_bps <= kHighestLinkBps)) {
    return absl::InvalidArgumentError(absl::StrCat("a rate from ", kLowestLinkBps, " to ", kHighestLinkBps,
                                                   " bit/s was expected, and ", measurement.rate_bps, " came"));
  }
  if (!IsDuration(measurement.delay, kLongestLinkDelay)) {
    return absl::InvalidArgumentError(absl::StrCat("a delay of at most ", absl::FormatDuration(kLongestLinkDelay),
                                                   " was expected, and ", absl::FormatDuration(measurement.delay),
                                                   " came"));
  }
  if (!IsDuration(measurement.age, absl::Hours(24 * 365))) {
    return absl::InvalidArgumentError(absl::StrCat("an age of ", absl::FormatDuration(measurement.age)));
  }
  return absl::OkStatus();
}

LinkMeasurement LinkTable::Plausible(const LinkMeasurement& measurement, const NetworkLink& link) const {
  const std::optional<double>& up = believed_.FindNode(link.from)->up_cap_bps;
  const std::optional<double>& down = believed_.FindNode(link.to)->down_cap_bps;
  LinkMeasurement plausible = measurement;
  plausible.rate_bps = std::min({measurement.rate_bps, up.value_or(kHighestLinkBps), down.value_or(kHighestLinkBps)});
  return plausible;
}

bool LinkTable::IsHeldByCap(const NetworkLink& link, double rate_bps) const {
  const auto capped = capped_rates_.find({link.from, link.to});
  return capped != capped_rates_.end() && rate_bps >= kHeldByCap * capped->second;
}

void LinkTable::Take(Timestamp now, Timestamp sampled_at, const LinkMeasurement& measurement, Entry& entry) {
  entry.reported = measurement;
  NetworkLink& link = entry.link;
  // Zero: nothing is known of it yet.
  if (measurement.delay > absl::ZeroDuration()) link.delay = measurement.delay;
  if (entry.sampled_at.has_value() && sampled_at < *entry.sampled_at) return;
  const bool is_new = !entry.sampled_at.has_value() || sampled_at - *entry.sampled_at > kSameSample;
  const absl::Duration since = entry.sampled_at.has_value() ? sampled_at - *entry.sampled_at : absl::ZeroDuration();
  const bool is_its_rate = measurement.is_backlogged && !IsHeldByCap(link, measurement.rate_bps);
  const bool is_first = link.is_guessed && is_its_rate;
  if (is_first) entry.rate = RateFilter(measurement.rate_bps);
  const bool has_changed =
      is_first || (is_new && (is_its_rate ? entry.rate.Add(measurement.rate_bps, since)
                                          : entry.rate.AddLowerBound(measurement.rate_bps, since)));
  if (has_changed) last_change_ = now;
  const bool confirms = is_its_rate || measurement.rate_bps >= entry.rate.rate_bps();
  if (!has_changed && !confirms) return;
  link.throughput_bps = entry.rate.rate_bps();
  link.is_guessed = link.is_guessed && !is_its_rate;
  link.source = measurement.source == LinkMeasurement::Source::kPrimary ? LinkSource::kPrimary : LinkSource::kAuxiliary;
  entry.sampled_at = sampled_at;
}

NetworkView LinkTable::View() const {
  std::vector<NetworkLink> links;
  links.reserve(entries_.size());
  for (const Entry& entry : entries_) links.push_back(entry.link);
  return MakeView(believed_, std::move(links));
}

std::optional<absl::Duration> LinkTable::AgeOf(const Entry& entry, Timestamp now) const {
  if (!entry.sampled_at.has_value()) return std::nullopt;
  return now - *entry.sampled_at;
}

bool LinkTable::IsOld(const Entry& entry, Timestamp now) const {
  if (entry.link.source == LinkSource::kBelieved) return false;
  return AgeOf(entry, now).value_or(absl::InfiniteDuration()) > kOldAfter;
}

void LinkTable::MarkPlanned() {
  has_returned_ = false;
  planned_bps_.clear();
  for (const Entry& entry : entries_) planned_bps_.push_back(entry.link.throughput_bps);
}

bool LinkTable::ChangedBeyond(double fraction) const {
  if (has_returned_) return true;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto [low, high] = std::minmax({entries_[i].link.throughput_bps, planned_bps_[i]});
    if (high - low > fraction * low) return true;
  }
  return false;
}

void LinkTable::Restore(const std::vector<NetworkLink>& measured) {
  for (const NetworkLink& link : measured) {
    Entry* const entry = Find(link.from, link.to);
    if (entry == nullptr) continue;
    if (link.source == LinkSource::kBelieved) {
      entry->link.delay = link.delay;
      continue;
    }
    const NetworkLink believed = entry->link;
    *entry = Entry(link);
    entry->link.loss_fraction = believed.loss_fraction;
    entry->link.price_per_gb = believed.price_per_gb;
  }
  MarkPlanned();
}

void LinkTable::Believe(NetworkView believed) {
  std::vector<Entry> entries;
  entries.reserve(believed.links().size());
  for (const NetworkLink& is : believed.links()) {
    Entry& entry = entries.emplace_back(is);
    const NetworkLink* const was = believed_.FindLink(is.from, is.to);
    if (was == nullptr) continue;
    const Entry& old = *Find(is.from, is.to);
    if (was->throughput_bps == is.throughput_bps && was->delay == is.delay) entry = old;
    entry.reported = old.reported;
    entry.link.loss_fraction = is.loss_fraction;
    entry.link.price_per_gb = is.price_per_gb;
  }
  entries_ = std::move(entries);
  believed_ = std::move(believed);
  planned_bps_.clear();
  for (const Entry& entry : entries_) planned_bps_.push_back(entry.link.throughput_bps);
}

LinkTable::Entry* LinkTable::Find(NodeId from, NodeId to) {
  const NetworkLink* const link = believed_.FindLink(from, to);
  return link == nullptr ? nullptr : &entries_[static_cast<size_t>(link - believed_.links().data())];
}

std::vector<NetworkLink> MeasuredLinks(const NetworkView& view, const NetworkView& believed) {
  std::vector<NetworkLink> measured;
  std::copy_if(view.links().begin(), view.links().end(), std::back_inserter(measured), [&](const NetworkLink& link) {
    const NetworkLink* const was = believed.FindLink(link.from, link.to);
    return link.source != LinkSource::kBelieved || (was != nullptr && was->delay != link.delay);
  });
  return measured;
}

std::vector<std::pair<NodeId, NodeId>> MissingLinks(const NetworkView& view, const NetworkView& believed) {
  std::vector<std::pair<NodeId, NodeId>> missing;
  for (const NetworkLink& link : believed.links()) {
    if (view.FindLink(link.from, link.to) == nullptr) missing.emplace_back(link.from, link.to);
  }
  return missing;
}

NetworkView WithoutLinks(const NetworkView& view, const std::vector<std::pair<NodeId, NodeId>>& left_out) {
  std::vector<NetworkLink> links;
  std::copy_if(view.links().begin(), view.links().end(), std::back_inserter(links), [&](const NetworkLink& link) {
    return std::find(left_out.begin(), left_out.end(), std::pair(link.from, link.to)) == left_out.end();
  });
  return MakeView(view, std::move(links));
}

NetworkView WithMeasured(const NetworkView& believed, const std::vector<NetworkLink>& measured) {
  LinkTable table(believed);
  table.Restore(measured);
  return table.View();
}

}  // namespace banyan
