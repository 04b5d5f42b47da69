#include "tools/doctor/whole_view.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/check.h"
#include "tools/doctor/doctor_site.h"
#include "tools/doctor/path_checks.h"

namespace banyan {
namespace {

constexpr char kUnknown[] = "?";
constexpr char kNotSeen[] = "-";
constexpr char kReached[] = "yes";
// Of these both ends of a path find the same fault.
constexpr std::array kOfBothEnds = {"round-trip", "large", "loss", "clock", "idle"};

// A column of the table: the check that it shows, its head, and its name in JSON.
struct Column {
  const char* check;
  const char* head;
  const char* json;
};
constexpr std::array<Column, 6> kColumns = {
    Column{"reach", "reached", "reach"},     Column{"round-trip", "round trip", "round_trip"},
    Column{"large", "packets", "packets"},   Column{"loss", "sent again", "loss"},
    Column{"idle", "after a pause", "idle"}, Column{"rate-there", "rate", "rate"}};

std::string NameOf(absl::string_view check, absl::string_view other) { return absl::StrCat(check, ":", other); }

// What `from` has found under `check` about its path to `to`; null when nothing.
const CheckResult* Find(const WholeView& view, const std::string& from, absl::string_view check,
                        const std::string& to) {
  const auto report = view.reports.find(from);
  if (report == view.reports.end()) return nullptr;
  const std::string name = NameOf(check, to);
  const auto found = std::find_if(report->second.begin(), report->second.end(),
                                  [&name](const CheckResult& result) { return result.name == name; });
  return found == report->second.end() ? nullptr : &*found;
}

bool HasFault(const WholeView& view, const std::string& from, absl::string_view check, const std::string& to) {
  const CheckResult* const found = Find(view, from, check, to);
  return found != nullptr && !found->ok;
}

bool IsMissing(const WholeView& view, const std::string& site) { return !view.reports.contains(site); }

// How `from` reaches `to`: by its own word, or by that of the other end.
std::string ReachOf(const WholeView& view, const std::string& from, const std::string& to) {
  for (const char* check : {"name", "reach"}) {
    if (const CheckResult* const found = Find(view, from, check, to); found != nullptr) return found->value;
  }
  const CheckResult* const called = Find(view, to, "call-back", from);
  return called == nullptr ? kUnknown : called->value;
}

std::string ValueOf(const WholeView& view, const std::string& from, const std::string& to, const Column& column) {
  if (absl::string_view(column.check) == "reach") return ReachOf(view, from, to);
  const CheckResult* const found = Find(view, from, column.check, to);
  if (found != nullptr) return found->value;
  return IsMissing(view, from) ? kUnknown : kNotSeen;
}

// Whether a check of a path is about its other direction.
bool IsOfWayBack(absl::string_view check) { return check == "call-back" || check == "rate-back"; }

bool IsPathOk(const WholeView& view, const std::string& from, const std::string& to) {
  if (HasFault(view, to, "call-back", from) || HasFault(view, to, "rate-back", from)) return false;
  const auto report = view.reports.find(from);
  if (report == view.reports.end()) return ReachOf(view, from, to) == kReached;
  return std::none_of(report->second.begin(), report->second.end(), [&to](const CheckResult& result) {
    absl::string_view check = result.name;
    return !result.ok && absl::ConsumeSuffix(&check, absl::StrCat(":", to)) && !IsOfWayBack(check);
  });
}

// Why there is no report of `site`, in the words of the collector.
std::string WhyMissing(const WholeView& view, const std::string& site) {
  const CheckResults& own = view.reports.at(view.collector);
  const bool is_deaf =
      std::any_of(own.begin(), own.end(), [](const CheckResult& one) { return one.name == "port" && !one.ok; });
  if (is_deaf) return absl::StrCat("could not report, since the doctor of ", view.collector, " does not listen");
  for (const char* check : {"name", "reach"}) {
    const CheckResult* const found = Find(view, view.collector, check, site);
    if (found == nullptr) continue;
    if (!found->ok || found->value == kDaemon) return absl::StrCat("has not reported: ", found->text);
  }
  return absl::StrCat("its doctor answers and has not reported: it has ended early, or cannot call ", view.collector,
                      ", or is of an older version");
}

// Returns whether another line tells the fault that `site` has found under `check` about `other`.
bool IsToldElsewhere(const WholeView& view, const std::string& site, const std::string& check,
                     const CheckResult& result, const std::string& other) {
  const CheckResult* const of_collector = Find(view, view.collector, check, other);
  const bool is_as_the_collectors = of_collector != nullptr && of_collector->value == result.value;
  if (check == "reach" && IsMissing(view, other) && is_as_the_collectors) return true;
  if (check == "name" && site == view.collector && IsMissing(view, other)) return true;
  if (check == "call-back") return HasFault(view, other, "name", site) || HasFault(view, other, "reach", site);
  const bool is_of_both = std::find(kOfBothEnds.begin(), kOfBothEnds.end(), check) != kOfBothEnds.end();
  return is_of_both && other < site && HasFault(view, other, check, site);
}

// The direction in which a fault of `check` lies.
std::string PlaceOf(const WholeView& view, const std::string& site, const std::string& check,
                    const std::string& other) {
  if (IsOfWayBack(check)) return absl::StrCat(other, " -> ", site);
  return absl::StrCat(site, HasFault(view, other, check, site) ? " <-> " : " -> ", other);
}

// The name of a check of a path, and the other site; that is empty for a check of the machine alone.
std::pair<std::string, std::string> SplitName(const WholeView& view, const std::string& name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string::npos) return {name, ""};
  std::string other = name.substr(colon + 1);
  const bool is_site =
      std::any_of(view.paths.begin(), view.paths.end(), [&other](const auto& path) { return path.second == other; });
  return is_site ? std::pair(name.substr(0, colon), std::move(other)) : std::pair(name, std::string());
}

void AddFaultsOf(const WholeView& view, const std::string& site, std::vector<WholeFault>& faults) {
  for (const CheckResult& result : view.reports.at(site)) {
    if (result.ok) continue;
    const auto [check, other] = SplitName(view, result.name);
    if (other.empty() || other == site) {
      faults.push_back({site, check, result.text});
    } else if (!IsToldElsewhere(view, site, check, result, other)) {
      faults.push_back({PlaceOf(view, site, check, other), check, result.text});
    }
  }
}

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppendFormat(&line, "%-*s  ", static_cast<int>(widths[i]), row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

// Returns whether anybody has looked at it.
bool IsShown(const WholeView& view, const Column& column) {
  return std::any_of(view.paths.begin(), view.paths.end(), [&](const auto& path) {
    const std::string value = ValueOf(view, path.first, path.second, column);
    return value != kUnknown && value != kNotSeen;
  });
}

void AddPath(const WholeView& view, const std::string& from, const std::string& to, JsonWriter& json) {
  json.BeginObject().Name("from").String(from).Name("to").String(to);
  json.Name("ok").Boolean(IsPathOk(view, from, to));
  for (const Column& column : kColumns) {
    const std::string value = ValueOf(view, from, to, column);
    json.Name(column.json);
    if (value == kUnknown || value == kNotSeen) {
      json.Null();
    } else {
      json.String(value);
    }
  }
  json.EndObject();
}

}  // namespace

WholeView MakeWholeView(const OverlayConfig& overlay, const std::string& collector,
                        std::map<std::string, CheckResults> reports) {
  WholeView view = {.collector = collector, .sites = {collector}, .paths = {}, .reports = std::move(reports)};
  for (const NodeConfig& node : overlay.nodes) view.sites.push_back(node.name);
  for (const std::string& site : view.sites) {
    const absl::StatusOr<DoctorSite> known = MakeDoctorSite(overlay, site, {});
    // The overlay has it.
    BANYAN_CHECK(known.ok());
    for (const DoctorSite::Path& path : known->paths) view.paths.emplace_back(site, path.name);
  }
  return view;
}

std::vector<std::string> MissingSites(const WholeView& view) {
  std::vector<std::string> missing;
  for (const std::string& site : view.sites) {
    if (IsMissing(view, site)) missing.push_back(site);
  }
  return missing;
}

std::vector<WholeFault> FindFaults(const WholeView& view) {
  std::vector<WholeFault> faults;
  for (const std::string& site : view.sites) {
    if (IsMissing(view, site)) {
      faults.push_back({site, "report", WhyMissing(view, site)});
    } else {
      AddFaultsOf(view, site, faults);
    }
  }
  return faults;
}

std::string FormatView(const WholeView& view) {
  std::vector<std::vector<std::string>> rows = {{"from", "to"}};
  for (const Column& column : kColumns) {
    if (IsShown(view, column)) rows.front().push_back(column.head);
  }
  rows.front().push_back("");
  for (const auto& [from, to] : view.paths) {
    std::vector<std::string> row = {from, to};
    for (const Column& column : kColumns) {
      if (IsShown(view, column)) row.push_back(ValueOf(view, from, to, column));
    }
    row.push_back(IsPathOk(view, from, to) ? "" : "fix");
    rows.push_back(std::move(row));
  }
  std::string text = absl::StrCat(Table(rows), "\n");
  const std::vector<WholeFault> faults = FindFaults(view);
  for (const WholeFault& fault : faults) {
    absl::StrAppend(&text, "fix: ", fault.where, ": ", fault.what, ": ", fault.text, "\n");
  }
  if (faults.empty()) absl::StrAppend(&text, "ok: all ", view.sites.size(), " sites and their paths\n");
  return text;
}

std::string ViewJson(const WholeView& view) {
  const std::vector<WholeFault> faults = FindFaults(view);
  JsonWriter json;
  json.BeginObject().Name("ok").Boolean(faults.empty()).Name("missing").BeginArray();
  for (const std::string& site : MissingSites(view)) json.String(site);
  json.EndArray().Name("paths").BeginArray();
  for (const auto& [from, to] : view.paths) AddPath(view, from, to, json);
  json.EndArray().Name("faults").BeginArray();
  for (const WholeFault& fault : faults) {
    json.BeginObject().Name("where").String(fault.where).Name("what").String(fault.what);
    json.Name("text").String(fault.text).EndObject();
  }
  json.EndArray().Name("sites").BeginArray();
  for (const auto& [site, checks] : view.reports) {
    json.BeginObject().Name("name").String(site).Name("checks");
    WriteChecks(checks, json);
    json.EndObject();
  }
  return json.EndArray().EndObject().text();
}

void WriteChecks(const CheckResults& checks, JsonWriter& json) {
  json.BeginArray();
  for (const CheckResult& check : checks) {
    json.BeginObject().Name("name").String(check.name).Name("ok").Boolean(check.ok);
    json.Name("text").String(check.text).EndObject();
  }
  json.EndArray();
}

}  // namespace banyan
