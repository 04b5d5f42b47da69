#include "examples/fashion_mnist/running_demo.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(50);
// All that a demo writes.
constexpr int kLogLines = 100000;

}  // namespace

std::unique_ptr<ChildProcess> StartBanyan(const std::string& name, std::vector<std::string> arguments) {
  // A variable of another job, with which no node of the demo could be reached.
  arguments.insert(arguments.begin(), {"/usr/bin/env", "BANYAN_ADVERTISE=tcp://192.0.2.1:1",
                                       absl::StrCat(std::getenv("TEST_SRCDIR"), "/banyan/tools/banyan")});
  absl::StatusOr<std::unique_ptr<ChildProcess>> process =
      ChildProcess::Start({.name = name,
                           .arguments = std::move(arguments),
                           .log_path = absl::StrCat(::testing::TempDir(), "/", name),
                           .capture_output = true});
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

std::unique_ptr<ChildProcess> StartDemo(const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "demo");
  return StartBanyan(name, std::move(arguments));
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    // PID (NAME) STATE PARENT ...: the name may hold anything but is followed by the last parenthesis.
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string state;
    pid_t of = 0;
    if (fields >> state >> of && of == parent && state != "Z") children.push_back(std::stoi(name));
  }
  return children;
}

std::vector<pid_t> StillThere(const std::vector<pid_t>& processes) {
  std::vector<pid_t> there;
  for (const pid_t process : processes) {
    if (kill(process, 0) == 0) there.push_back(process);
  }
  return there;
}

std::vector<pid_t> WaitForChildren(pid_t parent, size_t count) {
  const absl::Time deadline = absl::Now() + kDemoPatience;
  while (ChildrenOf(parent).size() < count && absl::Now() < deadline) absl::SleepFor(kPollInterval);
  return ChildrenOf(parent);
}

bool WaitForLog(ChildProcess& process, absl::string_view text) {
  const absl::Time deadline = absl::Now() + kDemoPatience;
  while (absl::Now() < deadline) {
    const bool runs = process.running();
    if (absl::StrContains(process.LogTail(kLogLines), text)) return true;
    if (!runs) return false;
    absl::SleepFor(kPollInterval);
  }
  return false;
}

std::string WriteOverlay(const std::string& name, const std::string& rate) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << "nodes: [{name: n1}, {name: n2}, {name: n3}]\n"
                      << "links: [{between: [n1, n2]" << rate << "}, {between: [n2, n3]" << rate << "}]\n";
  return path;
}

}  // namespace banyan
