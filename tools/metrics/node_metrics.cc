#include "tools/metrics/node_metrics.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/version.h"

namespace banyan {
namespace {

using Kind = MetricFamily::Kind;

MetricFamily Make(const std::string& name, const char* help, Kind kind = Kind::kGauge) {
  return {absl::StrCat("banyan_node_", name), help, kind, {}};
}

MetricFamily Make(const std::string& name, const char* help, double value, Kind kind = Kind::kGauge) {
  MetricFamily family = Make(name, help, kind);
  family.Add({}, value);
  return family;
}

template <typename Id>
std::string NameOf(const std::map<Id, std::string>& names, Id id) {
  const auto found = names.find(id);
  return found == names.end() ? absl::StrCat(id.value()) : found->second;
}

const char* NameOf(LinkMeasurement::Source source) {
  return source == LinkMeasurement::Source::kPrimary ? "primary" : "auxiliary";
}

// Makes a family of each number that a description calls a metric.
class DescribedFamilies {
 public:
  static constexpr bool kReads = false;

  explicit DescribedFamilies(const char* prefix) : prefix_(prefix) {}

  // Adds a sample to each.
  template <typename Counters>
  void Add(MetricFamily::Labels labels, Counters counters) {
    labels_ = std::move(labels);
    at_ = 0;
    Fields(*this, counters);
  }
  template <typename Member, typename... Limits>
  void operator()(int, const char* name, Member& member, Metric metric, Limits...) {
    if (at_ == families_.size()) {
      constexpr bool kRises = std::is_same_v<Member, uint64_t>;
      families_.push_back(
          Make(absl::StrCat(prefix_, metric.name == nullptr ? name : metric.name, kRises ? "_total" : ""), metric.help,
               kRises ? Kind::kCounter : Kind::kGauge));
    }
    families_[at_++].Add(labels_, static_cast<double>(member));
  }
  void AppendTo(std::vector<MetricFamily>& families) { std::ranges::move(families_, std::back_inserter(families)); }

 private:
  const char* const prefix_;
  std::vector<MetricFamily> families_;
  MetricFamily::Labels labels_;
  size_t at_ = 0;  // of the families, while their numbers are visited
};

void AppendCounters(const NodeSnapshot& from, std::vector<MetricFamily>& families) {
  DescribedFamilies of_node("");
  of_node.Add<NodeCounters>({}, from.report);
  of_node.AppendTo(families);
  DescribedFamilies of_links("link_");
  for (const NodeReport::Link& link : from.report.links) {
    of_links.Add<LinkCounters>({{"to", NameOf(from.nodes, link.to)}}, link);
  }
  of_links.AppendTo(families);
}

void AppendMeasurements(const NodeSnapshot& from, std::vector<MetricFamily>& families) {
  MetricFamily rates = Make("link_rate_bits_per_second", "Measured throughput to a neighbour.");
  MetricFamily delay_rates =
      Make("link_one_way_delay_rate_bits_per_second", "The same by one-way delays alone (NETSTORM, Eq. 14).");
  MetricFamily delays = Make("link_delay_seconds", "Measured propagation delay to a neighbour, one way.");
  MetricFamily ages = Make("link_age_seconds", "Age of the newest sample of a link when it was reported.");
  MetricFamily offsets = Make("clock_offset_seconds", "The neighbour's clock minus this node's.");
  MetricFamily uncertainties = Make("clock_uncertainty_seconds", "Of the clock offset, to either side.");
  for (const NodeReport::Link& link : from.report.links) {
    if (!link.measurement.has_value()) continue;
    const LinkMeasurement& measured = *link.measurement;
    const MetricFamily::Labels labels = {{"to", NameOf(from.nodes, link.to)}};
    MetricFamily::Labels with_source = labels;
    with_source.emplace_back("source", NameOf(measured.source));
    rates.Add(with_source, measured.rate_bps);
    if (measured.one_way_delay_rate_bps > 0) delay_rates.Add(with_source, measured.one_way_delay_rate_bps);
    delays.Add(with_source, absl::ToDoubleSeconds(measured.delay));
    ages.Add(with_source, absl::ToDoubleSeconds(measured.age));
    offsets.Add(labels, absl::ToDoubleSeconds(measured.clock_offset));
    uncertainties.Add(labels, absl::ToDoubleSeconds(measured.clock_uncertainty));
  }
  for (MetricFamily* family : {&rates, &delay_rates, &delays, &ages, &offsets, &uncertainties}) {
    families.push_back(std::move(*family));
  }
}

}  // namespace

void WatchedNode::OnEvent(Event& event) {
  const auto* const received = std::get_if<MessageReceived>(&event);
  if (received == nullptr || received->connection != scheduler_) return;
  if (const auto* published = std::get_if<PolicyPublished>(&received->message)) {
    for (const NeighbourSlice& neighbour : published->slice.neighbours) latest_.nodes[neighbour.node] = neighbour.name;
  } else if (const auto* assigned = std::get_if<KeysAssigned>(&received->message)) {
    for (const KeySlice& key : assigned->keys) latest_.keys[key.key] = key.name;
  }
}

bool WatchedNode::OnAction(Action& action) {
  const auto* const connect = std::get_if<Connect>(&action);
  if (connect != nullptr && !scheduler_.has_value()) scheduler_ = connect->connection;
  const auto* const send = std::get_if<Send>(&action);
  const auto* const report = send == nullptr ? nullptr : std::get_if<NodeReport>(&send->message);
  if (report == nullptr) return true;
  const uint64_t before = latest_.report.last_sync.count;
  if (report->last_sync.count > before) {
    latest_.round_times.Add(absl::ToDoubleSeconds(report->last_sync.duration), report->last_sync.count - before);
  }
  latest_.report = *report;
  snapshot_->Set(latest_);
  return true;
}

MetricFamily MakeInsecureMetric(bool is_insecure) {
  return Make("insecure", "1 while other machines reach the node, which has no keys.", is_insecure ? 1 : 0);
}

MetricFamily MakeRoundTimesMetric(absl::string_view process, const Histogram& round_times) {
  return round_times.Family(
      absl::StrCat("banyan_", process, "_round_seconds"),
      "Synchronisation times of rounds. Those that ended within one second count as the last of them.");
}

MetricFamily MakeBuildInfoMetric() {
  MetricFamily family = {"banyan_build_info", "1, with the release of the daemon.", Kind::kGauge, {}};
  family.Add({{"version", kVersion}}, 1);
  return family;
}

std::vector<MetricFamily> MakeNodeMetrics(const NodeSnapshot& from) {
  const NodeReport& report = from.report;
  std::vector<MetricFamily> families;
  families.push_back(Make("workers", "Attached training processes.", report.workers_attached));
  families.push_back(Make("rejected_messages_total", "Messages that the node refused.",
                          static_cast<double>(report.rejected_messages), Kind::kCounter));
  families.push_back(Make("last_sync_seconds",
                          "Synchronisation time of the last round: of all tensors that were pushed together.",
                          absl::ToDoubleSeconds(report.last_sync.duration)));
  families.push_back(MakeRoundTimesMetric("node", from.round_times));
  families.push_back(
      Make("training_step", "Step of the last loss that a worker reported.", static_cast<double>(report.step)));
  families.push_back(Make("training_loss", "The last loss that a worker reported.", report.loss));
  MetricFamily rounds = Make("rounds_done_total", "Rounds of a key whose result is complete here.", Kind::kCounter);
  for (const NodeReport::KeyProgress& key : report.progress) {
    rounds.AddOfKey(NameOf(from.keys, key.key), static_cast<double>(key.round.value()));
  }
  families.push_back(std::move(rounds));
  MetricFamily not_finite =
      Make("not_finite_total", "NaN and infinities that workers of this node have pushed.", Kind::kCounter);
  for (const NodeReport::NotFinite& row : report.not_finite) {
    const std::string key = row.key == KeyId() ? "other keys" : NameOf(from.keys, row.key);
    not_finite.Add({{"key", key}}, static_cast<double>(row.values));
  }
  families.push_back(std::move(not_finite));
  // A report may name a kind twice.
  std::map<std::string, uint64_t> sizes;
  for (const NodeReport::Memory& row : report.memory) sizes[row.what] += row.size_bytes;
  MetricFamily memory = Make("memory_bytes", "Memory by what it holds.");
  for (const auto& [what, size_bytes] : sizes) memory.Add({{"what", what}}, static_cast<double>(size_bytes));
  families.push_back(std::move(memory));
  AppendCounters(from, families);
  AppendMeasurements(from, families);
  return families;
}

}  // namespace banyan
