#include "tools/keygen/job_keys.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "access/key_file.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

// --- an overlay with keys ---

namespace {

using Lines = std::vector<std::string>;

std::string Field(const std::string& key) { return absl::StrCat("public_key: '", key, "'"); }

std::string Indent(const std::string& line) { return line.substr(0, line.find_first_not_of(' ')); }

bool IsBlank(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string::npos || line[first] == '#';
}

// Writes the key into the map that begins at `place`: with a brace there, or with its first field.
void AddToEntry(Lines& lines, const FilePlace& place, const std::string& key) {
  std::string& line = lines[place.line - 1];
  const size_t at = std::min<size_t>(place.column - 1, line.size());
  if (line[at] == '{') {
    line.insert(at + 1, Field(key) + ", ");
  } else {
    line.insert(at, absl::StrCat(Field(key), "\n", std::string(at, ' ')));
  }
}

// Writes the key into the map behind the field `name` at `place`, or into the map that begins there.
void AddBehindField(Lines& lines, const FilePlace& place, absl::string_view name, const std::string& key) {
  size_t row = place.line - 1;
  if (!absl::StartsWith(absl::string_view(lines[row]).substr(place.column - 1), name)) {
    return AddToEntry(lines, place, key);
  }
  const size_t brace = lines[row].find('{', place.column - 1);
  if (brace != std::string::npos) {
    lines[row].insert(brace + 1, Field(key) + ", ");
    return;
  }
  do {
    ++row;
  } while (row < lines.size() && IsBlank(lines[row]));
  if (row < lines.size()) lines[row].insert(0, absl::StrCat(Indent(lines[row]), Field(key), "\n"));
}

// Finds whether this has come out as it should, whatever the text is like.
absl::Status Check(const std::string& text, const std::string& file_name, const JobPublicKeys& keys) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, file_name);
  if (overlay.ok() && overlay->scheduler.public_key == keys.scheduler && overlay->operators.size() == 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      file_name,
      ": the keys could not be written into a file of this form; write each `nodes` entry and `scheduler` on "
      "lines of their own"));
}

}  // namespace

absl::StatusOr<std::string> WithPublicKeys(absl::string_view text, const std::string& file_name,
                                           const JobPublicKeys& keys) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, file_name);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  if (!overlay->scheduler.public_key.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        file_name, ": has keys already; `banyan keygen NAME` makes a new one for one of its nodes or people"));
  }
  Lines lines = absl::StrSplit(text, '\n');
  // From the last to the first: what is added moves what comes behind.
  std::vector<NodeConfig> nodes = overlay->nodes;
  std::sort(nodes.begin(), nodes.end(), [](const NodeConfig& a, const NodeConfig& b) {
    return std::pair(a.place.line, a.place.column) > std::pair(b.place.line, b.place.column);
  });
  for (const NodeConfig& node : nodes) AddToEntry(lines, node.place, keys.nodes.at(node.name));
  AddBehindField(lines, overlay->scheduler.place, "scheduler", keys.scheduler);
  std::string with = absl::StrJoin(lines, "\n");
  if (!with.empty() && with.back() != '\n') with += "\n";
  absl::StrAppend(&with, "operators:\n  - {name: operator, ", Field(keys.operator_key), "}\n",
                  "observers:\n  - {name: observer, ", Field(keys.observer_key), "}\n");
  if (absl::Status status = Check(with, file_name, keys); !status.ok()) return status;
  return with;
}

// --- the keys of a job ---

namespace {

void AddIfThere(const std::string& path, std::vector<std::string>& paths) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) paths.push_back(path);
}

// Leaves no part of it.
absl::Status WriteOverlay(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  std::error_code error;
  std::filesystem::remove(path, error);
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

}  // namespace

absl::StatusOr<std::string> MakeJobKeys(absl::string_view text, const std::string& file_name,
                                        const std::string& folder) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, file_name);
  if (!overlay.ok()) return overlay.status();
  std::vector<std::string> owners = {kSchedulerKeyOwner, kOperatorKeyOwner, kObserverKeyOwner};
  for (const NodeConfig& node : overlay->nodes) owners.push_back(node.name);
  std::map<std::string, CurveKeys> made;
  for (const std::string& owner : owners) {
    if (made.emplace(owner, MakeCurveKeys()).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": a node is called ", owner, ", as is another file of keys; name it otherwise"));
  }
  JobPublicKeys listed{
      made[kSchedulerKeyOwner].public_key, {}, made[kOperatorKeyOwner].public_key, made[kObserverKeyOwner].public_key};
  for (const NodeConfig& node : overlay->nodes) listed.nodes[node.name] = made[node.name].public_key;
  absl::StatusOr<std::string> with = WithPublicKeys(text, file_name, listed);
  if (!with.ok()) return with.status();
  const auto path_of = [&folder](const std::string& owner) { return absl::StrCat(folder, "/", owner, ".key"); };
  std::string list = absl::StrCat(folder, "/overlay.yaml");
  std::vector<std::string> in_the_way;
  for (const std::string& owner : owners) AddIfThere(path_of(owner), in_the_way);
  AddIfThere(list, in_the_way);
  if (!in_the_way.empty()) {
    return absl::AlreadyExistsError(
        absl::StrCat(absl::StrJoin(in_the_way, ", "), in_the_way.size() == 1 ? " is" : " are",
                     " there already, and a key is not made again; choose another folder, or move them away"));
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot be made: ", error.message()));
  std::vector<std::string> written;
  absl::Status status = WriteOverlay(list, *with);
  if (status.ok()) written.push_back(list);
  for (const std::string& owner : owners) {
    KeyFile file{made[owner], {}};
    if (owner != kSchedulerKeyOwner) file.scheduler_keys.push_back(listed.scheduler);
    if (status.ok()) status = WriteKeyFile(path_of(owner), file, owner);
    if (status.ok()) written.push_back(path_of(owner));
  }
  if (status.ok()) return list;
  for (const std::string& path : written) std::filesystem::remove(path, error);
  return status;
}

}  // namespace banyan
