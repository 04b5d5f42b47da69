#include "tests/tidy/purity_check.h"

#include <algorithm>
#include <set>

#include "tests/tidy/code_text.h"

namespace banyan {
namespace {

using Names = std::set<std::string>;

const Names& PureFolders() {
  static const Names kFolders = {"core",        "proto",     "protocol", "topology",  "awareness",
                                 "compression", "precision", "node",     "scheduler", "tracing"};
  return kFolders;
}

// Headers, or folders of headers where the name ends in '/'.
const Names& ForbiddenHeaders() {
  static const Names kHeaders = {
      // threads and locks
      "thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "latch", "barrier", "stop_token",
      "execution", "pthread.h", "semaphore.h", "sched.h", "threads.h", "omp.h", "absl/base/call_once.h",
      "boost/thread/", "boost/asio/", "boost/interprocess/",
      // clocks
      "chrono", "ctime", "time.h", "sys/time.h", "sys/timerfd.h", "absl/time/clock.h",
      // the operating system
      "unistd.h", "poll.h", "netdb.h", "signal.h", "csignal", "fcntl.h", "dlfcn.h", "sys/", "netinet/", "arpa/", "net/",
      "linux/",
      // libraries that do any of this
      "zmq.h", "zmq.hpp", "zmq_addon.hpp", "spdlog/", "torch/", "ATen/", "gloo/",
      // what differs from run to run or from compiler to compiler
      "random", "unordered_map", "unordered_set", "absl/random/", "absl/container/flat_hash_map.h",
      "absl/container/flat_hash_set.h", "absl/container/node_hash_map.h", "absl/container/node_hash_set.h"};
  return kHeaders;
}

// Names as they stand in the code, for what may come in through another header.
const Names& ForbiddenWords() {
  static const Names kWords = {"std::thread",
                               "std::jthread",
                               "std::this_thread",
                               "std::async",
                               "std::promise",
                               "std::future",
                               "std::mutex",
                               "std::recursive_mutex",
                               "std::shared_mutex",
                               "std::timed_mutex",
                               "std::lock_guard",
                               "std::unique_lock",
                               "std::scoped_lock",
                               "std::shared_lock",
                               "std::condition_variable",
                               "std::call_once",
                               "thread_local",
                               "absl::Mutex",
                               "absl::MutexLock",
                               "absl::CondVar",
                               "absl::Notification",
                               "pthread_create",
                               "pthread_mutex_lock",
                               "std::chrono",
                               "absl::Now",
                               "absl::GetCurrentTimeNanos",
                               "absl::SleepFor",
                               "std::time",
                               "std::clock",
                               "clock_gettime",
                               "gettimeofday",
                               "nanosleep",
                               "usleep",
                               "steady_clock",
                               "system_clock",
                               "getenv",
                               "secure_getenv",
                               "setenv",
                               "putenv",
                               "environ",
                               "fork",
                               "setsockopt",
                               "epoll_wait",
                               "recvmsg",
                               "sendmsg",
                               "zmq",
                               "spdlog",
                               "random_device",
                               "mt19937",
                               "mt19937_64",
                               "srand",
                               "std::unordered_map",
                               "std::unordered_set",
                               "absl::flat_hash_map",
                               "absl::flat_hash_set"};
  return kWords;
}

const Names& ForbiddenLibraries() {
  static const Names kLibraries = {"@system//:zmq", "@system//:spdlog", "@system//:torch", "@system//:gloo"};
  return kLibraries;
}

bool IsForbiddenHeader(const std::string& name) {
  return std::any_of(ForbiddenHeaders().begin(), ForbiddenHeaders().end(), [&](const std::string& header) {
    return header.ends_with("/") ? name.starts_with(header) : name == header;
  });
}

// std::chrono::seconds is forbidden by std::chrono, ::getenv and std::getenv by getenv.
bool IsForbiddenWord(const std::string& word) {
  return std::any_of(ForbiddenWords().begin(), ForbiddenWords().end(), [&](const std::string& forbidden) {
    return ("::" + word + "::").find("::" + forbidden + "::") != std::string::npos;
  });
}

void CheckCode(const SourceFile& file, std::vector<std::string>& findings) {
  for (const Include& include : Includes(file.text)) {
    if (!IsForbiddenHeader(include.name)) continue;
    findings.push_back(Finding(
        file, include.line,
        "includes " + include.name + ", and " + file.Folder() + "/ is pure: let a driver in runtime/ or sim/ do it"));
  }
  for (const Word& word : Words(file.text)) {
    if (!IsForbiddenWord(word.text)) continue;
    findings.push_back(
        Finding(file, word.line,
                "uses " + word.text + ", and " + file.Folder() + "/ is pure: let a driver in runtime/ or sim/ do it"));
  }
}

// Debian's Abseil is built without ThreadSanitizer, which sees no order in what such a lock guards.
void CheckLocks(const SourceFile& file, std::vector<std::string>& findings) {
  for (const Include& include : Includes(file.text)) {
    if (!include.name.starts_with("absl/synchronization/")) continue;
    findings.push_back(
        Finding(file, include.line, "includes " + include.name + ", which ThreadSanitizer cannot see: use std::mutex"));
  }
}

void CheckLibraries(const SourceFile& file, std::vector<std::string>& findings) {
  int number = 0;
  for (const std::string& line : Lines(file.text)) {
    ++number;
    for (const std::string& library : ForbiddenLibraries()) {
      if (line.find("\"" + library + "\"") == std::string::npos) continue;
      findings.push_back(Finding(file, number, "links " + library + ", and " + file.Folder() + "/ is pure"));
    }
  }
}

}  // namespace

std::vector<std::string> CheckPurity(const SourceFile& file) {
  std::vector<std::string> findings;
  if (file.IsCode()) CheckLocks(file, findings);
  if (!PureFolders().contains(file.Folder())) return findings;
  if (file.IsCode() && !file.EndsWith("_test.cc")) CheckCode(file, findings);
  if (file.IsBuildFile()) CheckLibraries(file, findings);
  return findings;
}

}  // namespace banyan
