#include "tools/supervision/process_record.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/json_writer.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = "banyan";
constexpr char kEnding[] = ".json";
constexpr char kRankFlag[] = "--rank";

struct KindName {
  ProcessKind kind;
  const char* name;
};

constexpr KindName kKindNames[] = {{ProcessKind::kNode, "node"},
                                   {ProcessKind::kScheduler, "scheduler"},
                                   {ProcessKind::kTraining, "training"},
                                   {ProcessKind::kOther, "other"}};

const char* NameOf(ProcessKind kind) {
  return std::find_if(std::begin(kKindNames), std::end(kKindNames),
                      [kind](const KindName& entry) { return entry.kind == kind; })
      ->name;
}

absl::StatusOr<ProcessKind> ParseKind(const std::string& name) {
  for (const KindName& entry : kKindNames) {
    if (name == entry.name) return entry.kind;
  }
  return absl::InvalidArgumentError(absl::StrCat("expected a kind of process, got '", name, "'"));
}

bool Lives(pid_t pid) { return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM); }

absl::StatusOr<ProcessRecord> ReadRecord(const YAML::Node& json) {
  ProcessRecord record;
  record.name = json["name"].as<std::string>();
  const absl::StatusOr<ProcessKind> kind = ParseKind(json["kind"].as<std::string>());
  if (!kind.ok()) return kind.status();
  record.kind = *kind;
  record.node = json["node"].as<std::string>();
  if (json["rank"] && !json["rank"].IsNull()) record.rank = json["rank"].as<int>();
  record.pid = json["pid"].as<pid_t>();
  record.supervisor = json["supervisor"].as<pid_t>();
  record.starts = json["starts"].as<int>();
  return record;
}

}  // namespace

ProcessKind KindOf(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return ProcessKind::kOther;
  if (fs::path(arguments[0]).filename() != kProgram) return ProcessKind::kTraining;
  if (arguments.size() > 1 && arguments[1] == "node") return ProcessKind::kNode;
  if (arguments.size() > 1 && arguments[1] == "scheduler") return ProcessKind::kScheduler;
  return ProcessKind::kOther;
}

std::optional<int> RankOf(const std::vector<std::string>& arguments) {
  const std::string with_value = absl::StrCat(kRankFlag, "=");
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view text;
    if (arguments[i] == kRankFlag && i + 1 < arguments.size()) text = arguments[i + 1];
    if (absl::StartsWith(arguments[i], with_value)) text = absl::string_view(arguments[i]).substr(with_value.size());
    int rank = 0;
    if (absl::SimpleAtoi(text, &rank)) return rank;
  }
  return std::nullopt;
}

std::string FormatProcessRecord(const ProcessRecord& record) {
  JsonWriter json;
  json.BeginObject().Name("name").String(record.name).Name("kind").String(NameOf(record.kind));
  json.Name("node").String(record.node).Name("rank");
  if (record.rank.has_value()) {
    json.Integer(static_cast<uint64_t>(*record.rank));
  } else {
    json.Null();
  }
  json.Name("pid").Integer(static_cast<uint64_t>(record.pid));
  json.Name("supervisor").Integer(static_cast<uint64_t>(record.supervisor));
  json.Name("starts").Integer(static_cast<uint64_t>(record.starts));
  return json.EndObject().text();
}

absl::StatusOr<ProcessRecord> ParseProcessRecord(absl::string_view json) {
  try {
    return ReadRecord(YAML::Load(std::string(json)));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("expected the record of a process: ", error.what()));
  }
}

// Names may hold spaces and anything else that a user types.
std::string ProcessRecords::FileOf(const ProcessRecord& record) const {
  std::string name = record.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  }
  return absl::StrCat(path_, "/", name, "-", record.supervisor, kEnding);
}

absl::Status ProcessRecords::Write(const ProcessRecord& record) const {
  if (path_.empty()) return absl::OkStatus();
  std::error_code error;
  fs::create_directory(path_, error);
  const std::string file = FileOf(record);
  const std::string next = file + ".next";
  std::ofstream stream(next, std::ios::trunc);
  stream << FormatProcessRecord(record) << "\n";
  stream.close();
  if (stream && std::rename(next.c_str(), file.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", file));
}

void ProcessRecords::Remove(const ProcessRecord& record) const {
  if (path_.empty()) return;
  unlink(FileOf(record).c_str());
  rmdir(path_.c_str());
}

std::vector<ProcessRecord> ProcessRecords::ReadAll() const {
  std::vector<ProcessRecord> records;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().extension() != kEnding) continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    absl::StatusOr<ProcessRecord> record = ParseProcessRecord(text);
    if (record.ok() && Lives(record->supervisor)) records.push_back(*std::move(record));
  }
  std::sort(records.begin(), records.end(),
            [](const ProcessRecord& a, const ProcessRecord& b) { return a.name < b.name; });
  return records;
}

}  // namespace banyan
