#include "tools/supervision/running_job.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/json_writer.h"
#include "wan/wan_directory.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

namespace fs = std::filesystem;

constexpr char kJobsFolder[] = "/tmp";
constexpr char kDemoPrefix[] = "banyan-demo-";
// Of the overlays that say nothing else.
constexpr absl::Duration kUsualLostAfter = absl::Seconds(5);

std::string FileOf(const std::string& directory) { return directory + "/job.json"; }

std::string FormatJob(const RunningJob& job) {
  JsonWriter json;
  json.BeginObject().Name("pid").Integer(static_cast<uint64_t>(job.pid));
  json.Name("wan_directory").String(job.wan_directory).Name("progress").String(job.progress_path);
  json.Name("lost_after_seconds").Number(absl::ToDoubleSeconds(job.lost_after));
  return json.EndObject().text();
}

absl::StatusOr<RunningJob> ParseJob(const std::string& directory, const std::string& text) {
  try {
    const YAML::Node json = YAML::Load(text);
    RunningJob job;
    job.directory = directory;
    job.pid = json["pid"].as<pid_t>();
    job.wan_directory = json["wan_directory"].as<std::string>();
    job.progress_path = json["progress"].as<std::string>();
    job.lost_after = absl::Seconds(json["lost_after_seconds"].as<double>());
    return job;
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(FileOf(directory), ": expected what a job leaves while it runs: ", error.what()));
  }
}

absl::Status NoJob(const std::string& directory) {
  return absl::NotFoundError(absl::StrCat("no job of banyan runs in ", directory));
}

// Whether it is a folder of this user: what others put there must not name processes to be killed.
bool IsOwnFolder(const std::string& path) {
  struct stat info = {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

// Processes that `banyan wan exec --restart` looks after.
absl::StatusOr<RunningJob> ReadWanJob(const std::string& directory) {
  const WanDirectory wan(directory);
  if (!wan.IsLocked()) return NoJob(directory);
  const absl::StatusOr<std::optional<WanStatus>> state = wan.ReadState();
  if (!state.ok()) return state.status();
  if (!state->has_value()) return NoJob(directory);
  RunningJob job;
  job.directory = directory;
  job.wan_directory = directory;
  job.pid = static_cast<pid_t>((*state)->pid);
  job.lost_after = kUsualLostAfter;
  return job;
}

}  // namespace

absl::Status WriteRunningJob(const RunningJob& job) {
  const std::string path = FileOf(job.directory);
  const std::string next = path + ".next";
  std::ofstream file(next, std::ios::trunc);
  file << FormatJob(job) << "\n";
  file.close();
  if (file && std::rename(next.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

void RemoveRunningJob(const std::string& directory) { unlink(FileOf(directory).c_str()); }

absl::StatusOr<RunningJob> ReadRunningJob(const std::string& directory) {
  std::ifstream file(FileOf(directory));
  if (!file) return ReadWanJob(directory);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  absl::StatusOr<RunningJob> job = ParseJob(directory, text);
  if (job.ok() && kill(job->pid, 0) != 0) return NoJob(directory);
  return job;
}

std::vector<RunningJob> FindRunningJobs() {
  std::vector<RunningJob> jobs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(kJobsFolder, error)) {
    if (!absl::StartsWith(entry.path().filename().string(), kDemoPrefix) || !IsOwnFolder(entry.path())) continue;
    absl::StatusOr<RunningJob> job = ReadRunningJob(entry.path());
    if (job.ok()) jobs.push_back(*std::move(job));
  }
  absl::StatusOr<RunningJob> wan = ReadWanJob(DefaultWanDirectory());
  if (wan.ok() && IsOwnFolder(wan->directory) && !wan->records().ReadAll().empty()) jobs.push_back(*std::move(wan));
  std::sort(jobs.begin(), jobs.end(),
            [](const RunningJob& a, const RunningJob& b) { return a.directory < b.directory; });
  return jobs;
}

}  // namespace banyan
