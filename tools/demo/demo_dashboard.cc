#include "tools/demo/demo_dashboard.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace banyan {

// --- words ---

namespace {

constexpr int kLinksPerRow = 3;
constexpr char kJoined[] = "joined";
constexpr int kLongestBar = 8;

double Milliseconds(absl::Duration time) { return absl::ToDoubleMilliseconds(time); }
double Megabytes(uint64_t size_bytes) { return static_cast<double>(size_bytes) / 1e6; }

std::string Bar(int64_t done, int64_t all, int width) {
  const int full = all > 0 ? static_cast<int>(done * width / all) : 0;
  return absl::StrCat("[", std::string(full, '#'), std::string(width - full, '.'), "]");
}

std::string NameOf(const DemoLink& link) { return absl::StrCat(link.from, ">", link.to); }

// In the order of the overlay, so that a link stays where it is on the screen.
std::vector<DemoLink> Busiest(std::vector<DemoLink> links, size_t count) {
  if (links.size() <= count) return links;
  std::vector<uint64_t> bytes;
  for (const DemoLink& link : links) bytes.push_back(link.sent_bytes);
  std::sort(bytes.rbegin(), bytes.rend());
  // Those as busy as the least busy one that is shown: the first ones in the order.
  size_t ties = count - static_cast<size_t>(
                            std::lower_bound(bytes.begin(), bytes.end(), bytes[count - 1], std::greater<uint64_t>()) -
                            bytes.begin());
  std::erase_if(links, [&ties, least = bytes[count - 1]](const DemoLink& link) {
    if (link.sent_bytes != least) return link.sent_bytes < least;
    return ties == 0 || ties-- == 0;
  });
  return links;
}

// The table of links: how wide its columns are.
class LinkTable {
 public:
  LinkTable(const std::vector<DemoLink>& links, bool is_wan, int width) : is_wan_(is_wan) {
    for (const DemoLink& link : links) {
      name_width_ = std::max(name_width_, static_cast<int>(NameOf(link).size()));
      most_bytes_ = std::max(most_bytes_, link.sent_bytes);
    }
    const int room = width / kLinksPerRow - static_cast<int>(Columns("", "", "", "").size()) - 1;
    bar_width_ = std::clamp(room, 0, kLongestBar);
  }

  std::string Header() const { return Pad(Columns("link", "WAN", "seen", "MB")); }

  std::string Cell(const DemoLink& link) const {
    std::string now = link.wan_mbps.has_value() ? absl::StrFormat("%.0f", *link.wan_mbps) : "";
    if (link.is_cut) now = "cut";
    const std::string seen = absl::StrFormat("%.0f", link.mbps);
    const std::string text = Columns(NameOf(link), now, link.is_measured ? seen : seen + "?",
                                     absl::StrFormat("%.0f", Megabytes(link.sent_bytes)));
    const auto full = most_bytes_ > 0 ? link.sent_bytes * static_cast<uint64_t>(bar_width_) / most_bytes_ : 0;
    return Pad(absl::StrCat(text, " ", std::string(full, '=')));
  }

 private:
  std::string Columns(const std::string& name, const std::string& now, const std::string& seen,
                      const std::string& megabytes) const {
    return absl::StrFormat("  %-*s%s%6s%7s", name_width_, name, is_wan_ ? absl::StrFormat("%5s", now) : "", seen,
                           megabytes);
  }

  std::string Pad(const std::string& text) const {
    const int width = static_cast<int>(Columns("", "", "", "").size()) + 1 + bar_width_;
    return absl::StrFormat("%-*s", width, text);
  }

  const bool is_wan_;
  int name_width_ = 5;
  int bar_width_ = 0;
  uint64_t most_bytes_ = 0;
};

void AppendLinks(const DemoNetworkState& network, int width, int link_rows, std::vector<std::string>& lines) {
  const std::vector<DemoLink> all = network.links();
  const std::vector<DemoLink> links = Busiest(all, static_cast<size_t>(link_rows) * kLinksPerRow);
  if (links.empty()) return;
  lines.push_back(absl::StrFormat(
      "links: Mbit/s %sseen by Banyan (? not yet); MB sent, %.1f in all%s", network.is_wan() ? "of the WAN, " : "",
      Megabytes(network.wire_bytes()),
      links.size() < all.size() ? absl::StrCat("; the ", links.size(), " busiest of ", all.size()) : ""));
  const LinkTable table(links, network.is_wan(), width);
  std::string header;
  for (int i = 0; i < kLinksPerRow; ++i) absl::StrAppend(&header, table.Header());
  lines.push_back(header);
  // From top to bottom, column by column.
  const size_t rows = (links.size() + kLinksPerRow - 1) / kLinksPerRow;
  for (size_t row = 0; row < rows; ++row) {
    std::string line;
    for (size_t i = row; i < links.size(); i += rows) absl::StrAppend(&line, table.Cell(links[i]));
    lines.push_back(line);
  }
}

// "packed, 14 trees from 5 roots; 96.1 of at most 103.2 Mbit/s (0.93)"
std::string DescribePlan(const JobStatus& status) {
  std::set<std::string> roots;
  for (const JobStatus::Tree& tree : status.trees) roots.insert(tree.root);
  const JobStatus::Plan plan = status.plan.value_or(JobStatus::Plan());
  std::string text = absl::StrFormat("%s, %d tree%s from %d root%s; ", plan.planner, status.trees.size(),
                                     status.trees.size() == 1 ? "" : "s", roots.size(), roots.size() == 1 ? "" : "s");
  absl::StrAppendFormat(&text, "%.1f of at most %.1f Mbit/s", plan.auxiliary_rate_mbps, plan.bound_mbps);
  if (plan.bound_ratio.has_value()) absl::StrAppendFormat(&text, " (%.2f)", *plan.bound_ratio);
  return text;
}

// Adds the text in lines of at most `width` characters, broken at spaces.
void AppendWrapped(absl::string_view text, int width, std::vector<std::string>& lines) {
  std::string line;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > static_cast<size_t>(width)) {
      lines.push_back(std::exchange(line, " "));
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  lines.push_back(line);
}

void AppendPolicy(const DemoNetworkState& network, absl::Duration elapsed, int width, std::vector<std::string>& lines) {
  const JobStatus& status = network.status();
  if (!status.plan.has_value()) return;
  const double age_s = absl::ToDoubleSeconds(elapsed - network.policy_since());
  AppendWrapped(absl::StrFormat("policy %d, %.0f s old: %s", status.policy, age_s, DescribePlan(status)), width, lines);
  if (!status.plan->policy_reason.empty()) {
    AppendWrapped(absl::StrCat("because of ", status.plan->policy_reason), width, lines);
  }
}

void AppendRates(const DemoNetworkState& network, absl::Duration elapsed, std::vector<std::string>& lines) {
  const std::optional<int> known = network.links_known();
  if (!known.has_value()) return;
  std::string text = "the WAN's rates are those of the start";
  if (network.rate_changes() > 0) {
    text =
        absl::StrFormat("the WAN's rates have changed %d time%s, %.0f s ago", network.rate_changes(),
                        network.rate_changes() == 1 ? "" : "s", absl::ToDoubleSeconds(elapsed - network.rates_since()));
  }
  absl::StrAppendFormat(&text, "; %d of %d are known to a fifth", *known, network.status().links.size());
  lines.push_back(text);
}

std::string Times(int count) { return count == 1 ? "once" : absl::StrCat(count, " times"); }

void AppendProcesses(const DemoProgress& progress, int width, std::vector<std::string>& lines) {
  if (progress.processes().empty()) return;
  const auto append = [](std::string* out, const DemoProcess& process) {
    absl::StrAppend(out, process.name, " ", Times(process.failures), process.is_up ? "" : " (down)");
  };
  AppendWrapped(absl::StrCat("died and started again: ", absl::StrJoin(progress.processes(), ", ", append)), width,
                lines);
}

// Who has been in the job and is not now, as the scheduler sees it.
void AppendMissing(const DemoNetworkState& network, int width, std::vector<std::string>& lines) {
  std::vector<std::string> missing;
  for (const JobStatus::Node& node : network.status().nodes) {
    if (node.state != kJoined) missing.push_back(absl::StrCat(node.name, " (", node.state, ")"));
  }
  if (missing.empty()) return;
  AppendWrapped(absl::StrCat("epoch ", network.status().epoch, ", without ", absl::StrJoin(missing, ", ")), width,
                lines);
}

std::string FormatAccuracy(const DemoProgress& progress, const char* unknown) {
  return progress.accuracy() ? absl::StrFormat("%.4f", *progress.accuracy()) : unknown;
}

const char* NetworkName(const DemoNetworkState& network) { return network.is_wan() ? "wan" : "loopback"; }

std::string LinkJson(const DemoLink& link) {
  std::string text = absl::StrFormat(R"({"from":"%s","to":"%s","bytes":%d,"mbps":%.3f)", link.from, link.to,
                                     link.sent_bytes, link.mbps);
  if (link.wan_mbps.has_value()) absl::StrAppendFormat(&text, R"(,"wan_mbps":%.3f)", *link.wan_mbps);
  return text + "}";
}

}  // namespace

std::vector<std::string> DrawDashboard(const DemoProgress& progress, const DemoNetworkState& network,
                                       absl::string_view state, absl::Duration elapsed, int width, int link_rows) {
  std::vector<std::string> lines;
  const int64_t done = progress.finished_rounds();
  lines.push_back(absl::StrFormat("%s round %d of %d, %.0f s", Bar(done, progress.rounds(), 30), done,
                                  progress.rounds(), absl::ToDoubleSeconds(elapsed)));
  if (done == 0) {
    lines.push_back(std::string(state));
  } else {
    lines.push_back(absl::StrFormat("loss %.4f   synchronisation %.1f ms, median %.1f ms", progress.loss(),
                                    Milliseconds(progress.sync_time()), Milliseconds(progress.median_sync_time())));
  }
  AppendProcesses(progress, width, lines);
  if (done > 0) AppendMissing(network, width, lines);
  AppendPolicy(network, elapsed, width, lines);
  AppendRates(network, elapsed, lines);
  AppendLinks(network, width, link_rows, lines);
  for (std::string& line : lines) {
    if (line.size() > static_cast<size_t>(width)) line.resize(width);
  }
  return lines;
}

std::string ProgressLine(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed) {
  std::string text = absl::StrFormat("round %d/%d  loss %.3f  sync %.1f ms (median %.1f)  wire %.1f MB  %.0f s",
                                     progress.finished_rounds(), progress.rounds(), progress.loss(),
                                     Milliseconds(progress.sync_time()), Milliseconds(progress.median_sync_time()),
                                     Megabytes(network.wire_bytes()), absl::ToDoubleSeconds(elapsed));
  const std::optional<int> known = network.links_known();
  if (known.has_value()) absl::StrAppendFormat(&text, "  rates known %d/%d", *known, network.status().links.size());
  return text;
}

std::string PolicyLine(const DemoNetworkState& network) {
  const JobStatus& status = network.status();
  return absl::StrFormat("policy %d: %s; because of %s", status.policy, DescribePlan(status),
                         status.plan.value_or(JobStatus::Plan()).policy_reason);
}

std::string ProcessLine(const DemoProcess& process, absl::Duration elapsed) {
  return absl::StrFormat("%s %s, %.0f s", process.name,
                         process.is_up ? absl::StrCat("runs again after it has died ", Times(process.failures))
                                       : absl::StrCat("ended with ", process.failure),
                         absl::ToDoubleSeconds(elapsed));
}

std::string SummaryLine(const DemoProgress& progress, const DemoNetworkState& network) {
  return absl::StrFormat(
      "demo: nodes=%d rounds=%d accuracy=%s replicas=%s sync_ms_p50=%.1f wire_mb=%.1f network=%s policies=%d "
      "replicas_finished=%d failures=%d",
      progress.nodes(), progress.finished_rounds(), FormatAccuracy(progress, "unknown"),
      progress.replicas_identical() ? "identical" : "different", Milliseconds(progress.median_sync_time()),
      Megabytes(network.wire_bytes()), NetworkName(network), network.status().policy, progress.finished_workers(),
      progress.failures());
}

std::string SummaryJson(const DemoProgress& progress, const DemoNetworkState& network) {
  std::string links;
  for (const DemoLink& link : network.links()) absl::StrAppend(&links, links.empty() ? "" : ",", LinkJson(link));
  return absl::StrFormat(
      R"({"nodes":%d,"rounds":%d,"accuracy":%s,"replicas_identical":%s,"sync_seconds_p50":%.6f,"wire_bytes":%d,)"
      R"("network":"%s","policies":%d,"rate_changes":%d,"replicas_finished":%d,"failures":%d,"links":[%s]})",
      progress.nodes(), progress.finished_rounds(), FormatAccuracy(progress, "null"),
      progress.replicas_identical() ? "true" : "false", absl::ToDoubleSeconds(progress.median_sync_time()),
      network.wire_bytes(), NetworkName(network), network.status().policy, network.rate_changes(),
      progress.finished_workers(), progress.failures(), links);
}

// --- the screen ---

namespace {

constexpr absl::Duration kDrawInterval = absl::Milliseconds(250);
constexpr absl::Duration kLineInterval = absl::Seconds(5);
constexpr int kLinkRows = 9;
constexpr int kUsualWidth = 80;

}  // namespace

void DemoScreen::Update(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
                        absl::Duration elapsed) {
  if (width_ == 0) WriteNews(progress, network, elapsed);
  if (elapsed < next_update_) return;
  if (width_ > 0) {
    next_update_ = elapsed + kDrawInterval;
    Draw(progress, network, state, elapsed);
  } else {
    WriteLines(progress, network, state, elapsed);
  }
}

void DemoScreen::Finish(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed) {
  if (width_ > 0) {
    Draw(progress, network, "", elapsed);
    drawn_lines_ = 0;
  } else {
    out_ << ProgressLine(progress, network, elapsed) << std::endl;
  }
}

void DemoScreen::WriteNews(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed) {
  for (const DemoProcess& process : progress.processes()) {
    const bool is_news = std::find(last_processes_.begin(), last_processes_.end(), process) == last_processes_.end();
    if (is_news) out_ << ProcessLine(process, elapsed) << std::endl;
  }
  last_processes_ = progress.processes();
  if (network.rate_changes() > last_rate_changes_) {
    last_rate_changes_ = network.rate_changes();
    out_ << absl::StrFormat("the WAN's rates change, %.0f s", absl::ToDoubleSeconds(elapsed)) << std::endl;
  }
  const JobStatus& status = network.status();
  if (status.policy > last_policy_ && status.plan.has_value()) {
    last_policy_ = status.policy;
    out_ << PolicyLine(network) << std::endl;
  }
}

void DemoScreen::WriteLines(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
                            absl::Duration elapsed) {
  if (progress.finished_rounds() > 0) {
    next_update_ = elapsed + kLineInterval;
    out_ << ProgressLine(progress, network, elapsed) << std::endl;
  } else if (state != last_state_) {
    last_state_ = std::string(state);
    out_ << state << std::endl;
  }
}

void DemoScreen::Draw(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
                      absl::Duration elapsed) {
  // To the first line drawn before, then each line is cleared from its end; what is left below goes too.
  std::string text = drawn_lines_ > 0 ? absl::StrCat("\x1b[", drawn_lines_, "A") : "";
  const std::vector<std::string> lines = DrawDashboard(progress, network, state, elapsed, width_, kLinkRows);
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\x1b[K\n");
  absl::StrAppend(&text, "\x1b[J");
  drawn_lines_ = static_cast<int>(lines.size());
  out_ << text << std::flush;
}

int TerminalWidth(int fd) {
  if (isatty(fd) == 0) return 0;
  winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

}  // namespace banyan
