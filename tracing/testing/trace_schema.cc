#include "tracing/testing/trace_schema.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

using TrackId = std::pair<int64_t, int64_t>;

template <typename T>
std::optional<T> Field(const YAML::Node& event, const char* name) {
  T value;
  const YAML::Node field = event[name];
  if (!field.IsDefined() || !YAML::convert<T>::decode(field, value)) return std::nullopt;
  return value;
}

class SchemaCheck {
 public:
  void Check(const YAML::Node& event) {
    if (!event.IsMap()) return Fault("is no object");
    const auto name = Field<std::string>(event, "name");
    const auto phase = Field<std::string>(event, "ph");
    const auto process = Field<int64_t>(event, "pid");
    const auto thread = Field<int64_t>(event, "tid");
    if (!name.has_value() || name->empty()) Fault("has no name");
    if (!process.has_value() || !thread.has_value()) return Fault("has no pid or tid");
    if (phase == "M") {
      CheckName(event, *name, {*process, *thread});
    } else if (phase == "X") {
      CheckSlice(event, {*process, *thread});
    } else {
      Fault("has a phase that is not M or X");
    }
    ++index_;
  }

  std::vector<std::string> Finish() {
    for (const auto& [track, slices] : slices_) {
      if (!processes_.contains(track.first)) faults_.push_back(absl::StrCat("process ", track.first, " has no name"));
      if (!threads_.contains(track)) faults_.push_back(absl::StrCat("track ", track.second, " has no name"));
      int64_t end = 0;
      for (const auto& [slice_begin, slice_end] : slices) {
        if (slice_begin < end) faults_.push_back(absl::StrCat("slices overlap at ", slice_begin, " us"));
        end = slice_end;
      }
    }
    return std::move(faults_);
  }

 private:
  void Fault(const std::string& what) { faults_.push_back(absl::StrCat("event ", index_, " ", what)); }

  void CheckName(const YAML::Node& event, const std::string& what, TrackId track) {
    const YAML::Node args = event["args"];
    if (!args.IsDefined() || !Field<std::string>(args, "name").has_value()) return Fault("names nothing");
    if (what == "process_name") {
      processes_.insert(track.first);
    } else if (what == "thread_name") {
      threads_.insert(track);
    } else {
      Fault("is no name of a process or track");
    }
  }

  void CheckSlice(const YAML::Node& event, TrackId track) {
    const auto begin = Field<int64_t>(event, "ts");
    const auto duration = Field<int64_t>(event, "dur");
    if (!begin.has_value() || *begin < 0) return Fault("has no time");
    if (!duration.has_value() || *duration < 0) return Fault("has no duration");
    if (!Field<std::string>(event, "cat").has_value()) Fault("has no category");
    if (!event["args"].IsDefined() || !event["args"].IsMap()) Fault("has no arguments");
    slices_[track].emplace(*begin, *begin + *duration);
  }

  size_t index_ = 0;
  std::vector<std::string> faults_;
  std::set<int64_t> processes_;
  std::set<TrackId> threads_;
  std::map<TrackId, std::multiset<std::pair<int64_t, int64_t>>> slices_;
};

}  // namespace

std::vector<std::string> TraceFaults(const std::string& json) {
  YAML::Node trace;
  try {
    trace = YAML::Load(json);
  } catch (const YAML::Exception& error) {
    return {absl::StrCat("is no JSON: ", error.what())};
  }
  if (!trace.IsMap() || !trace["traceEvents"].IsSequence()) return {"has no array of traceEvents"};
  if (trace["displayTimeUnit"].as<std::string>("") != "ms") return {"has no displayTimeUnit ms"};
  SchemaCheck check;
  for (const YAML::Node& event : trace["traceEvents"]) check.Check(event);
  return check.Finish();
}

}  // namespace banyan
