#include "tests/job_fixture.h"

#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr char kProgram[] = "tools/banyan";
constexpr char kWorkerProgram[] = "tests/worker_process";
constexpr absl::Duration kPollInterval = absl::Milliseconds(5);
constexpr int kShownLogLines = 15;

void ShowLog(const ChildProcess* process) {
  if (process == nullptr) return;
  std::cerr << "the end of the log of " << process->name() << ":\n" << process->LogTail(kShownLogLines);
}

}  // namespace

bool IsSanitized() {
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  return false;
#endif
}

void Require(const absl::Status& status, absl::string_view what) {
  if (!status.ok()) throw std::runtime_error(absl::StrCat(what, ": ", status.ToString()));
}

JobFixture::JobFixture(const JobSpec& spec)
    : spec_(spec),
      directory_(Require(WorkDirectory::Make("banyan-test"), "a directory")),
      ports_(Require(PortReservation::Take(spec.nodes + spec.schedulers), "ports")),
      reached_schedulers_(ports_.Address(0)),
      schedulers_(static_cast<size_t>(spec.schedulers)),
      nodes_(static_cast<size_t>(spec.nodes)) {
  WriteOverlay("overlay.yaml", spec_.more);
  if (spec_.has_keys) MakeKeys();
}

void JobFixture::MakeKeys() {
  const std::unique_ptr<ChildProcess> keygen =
      StartCommand("keygen", {"keygen", "--all", directory_->File("overlay.yaml"), directory_->File("keys")});
  if (!keygen->WaitUntilEnded(kPatience) || !keygen->failure().empty()) throw std::runtime_error(LogOf("keygen"));
}

std::string JobFixture::KeyPathOf(const std::string& name) const {
  return directory_->File(absl::StrCat("keys/", name, ".key"));
}

std::string JobFixture::OverlayPath() const {
  return directory_->File(spec_.has_keys ? "keys/overlay.yaml" : "overlay.yaml");
}

void JobFixture::AddKey(const std::string& name, std::vector<std::string>& arguments) const {
  if (spec_.has_keys) arguments.insert(arguments.end(), {"--key", KeyPathOf(name)});
}

JobFixture::~JobFixture() {
  if (!testing::Test::HasFailure() && std::uncaught_exceptions() == 0) return;
  for (const std::unique_ptr<ChildProcess>& scheduler : schedulers_) ShowLog(scheduler.get());
  for (const std::unique_ptr<ChildProcess>& node : nodes_) ShowLog(node.get());
}

std::string JobFixture::WriteOverlay(const std::string& name, const std::string& more) const {
  Require(directory_->Write(name, Overlay(more)), "the overlay");
  return directory_->File(name);
}

std::string JobFixture::Overlay(const std::string& more) const {
  std::string text = absl::StrCat("job: ", spec_.job, "\n", SchedulerSection(), "nodes:\n");
  for (size_t i = 0; i < nodes(); ++i) {
    absl::StrAppend(&text, "  - {name: ", NameOf(i), ", address: '", AddressOf(i), "', workers: ", spec_.workers,
                    "}\n");
  }
  absl::StrAppend(&text, spec_.links, more, "membership: {heartbeat_seconds: ", spec_.heartbeat_seconds,
                  ", lost_after_seconds: ", spec_.lost_after_seconds,
                  ", scheduler_lost_after_seconds: ", spec_.scheduler_lost_after_seconds, "}\n");
  return text;
}

std::string JobFixture::SchedulerSection() const {
  std::string text = "scheduler: {addresses: [";
  for (size_t i = 0; i < schedulers_.size(); ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", scheduler_address(i));
  absl::StrAppend(&text, "]");
  if (!spec_.http.empty()) absl::StrAppend(&text, ", http: '", spec_.http, "'");
  if (!spec_.etcd.empty()) {
    absl::StrAppend(&text, ", etcd: ['", spec_.etcd, "'], lease_seconds: ", spec_.lease_seconds);
  }
  return absl::StrCat(text, "}\n");
}

// The first one's port is the first of all, those of the others come after the nodes'.
std::string JobFixture::scheduler_address(size_t index) const {
  return ports_.Address(static_cast<int>(index == 0 ? 0 : nodes() + index));
}

std::string JobFixture::SchedulerName(size_t index) {
  return index == 0 ? "scheduler" : absl::StrCat("scheduler-", index + 1);
}

std::string JobFixture::NameOf(size_t node) { return absl::StrCat("n", node + 1); }

std::string JobFixture::SocketPathOf(size_t node) const { return directory_->File(NameOf(node) + ".sock"); }

std::string JobFixture::LogPath(const std::string& process) const { return directory_->File(process + ".log"); }

std::unique_ptr<ChildProcess> JobFixture::Start(const std::string& name, std::vector<std::string> arguments) {
  ChildProcessOptions options;
  options.name = name;
  options.arguments = std::move(arguments);
  options.log_path = LogPath(name);
  return Require(ChildProcess::Start(options), name);
}

std::unique_ptr<ChildProcess> JobFixture::StartCommand(const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kProgram);
  return Start(name, std::move(arguments));
}

void JobFixture::StartScheduler(size_t index, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"scheduler", OverlayPath()};
  AddKey("scheduler", arguments);
  if (spec_.keeps_state) {
    arguments.push_back("--state-dir");
    arguments.push_back(StatePath());
  } else if (spec_.etcd.empty()) {
    arguments.push_back("--forgetful");
  }
  if (spec_.schedulers > 1) {
    arguments.push_back("--listen");
    arguments.push_back(scheduler_address(index));
  }
  if (spec_.stays) arguments.push_back("--stay");
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  schedulers_[index] = StartCommand(SchedulerName(index), std::move(arguments));
}

void JobFixture::StartNode(size_t node, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"node", "--name", NameOf(node)};
  const auto add = [&arguments](const char* flag, const std::string& value) {
    arguments.push_back(flag);
    arguments.push_back(value);
  };
  add("--scheduler", reached_schedulers_);
  add("--listen", AddressOf(node));
  add("--worker-socket", absl::StrCat("unix:", SocketPathOf(node)));
  if (spec_.stays) arguments.push_back("--stay");
  AddKey(NameOf(node), arguments);
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  nodes_[node] = StartCommand(NameOf(node), std::move(arguments));
}

void JobFixture::StartAll() {
  StartScheduler();
  for (size_t i = 0; i < nodes(); ++i) StartNode(i);
}

std::unique_ptr<ChildProcess> JobFixture::StartWorkerProcess(size_t node, uint32_t worker) {
  return Start(absl::StrCat("worker-", NameOf(node), "-", worker),
               {kWorkerProgram, absl::StrCat("unix:", SocketPathOf(node)), absl::StrCat(worker)});
}

std::unique_ptr<Session> JobFixture::Open(size_t node, uint32_t worker) const {
  SessionOptions options;
  options.node = absl::StrCat("unix:", SocketPathOf(node));
  options.worker = worker;
  options.open_timeout = kPatience;
  return Require(Session::Open(options), absl::StrCat("a session at ", NameOf(node)));
}

std::vector<std::unique_ptr<Session>> JobFixture::OpenAll() const {
  std::vector<std::unique_ptr<Session>> sessions;
  for (size_t node = 0; node < nodes(); ++node) {
    for (int worker = 0; worker < spec_.workers; ++worker) sessions.push_back(Open(node, worker));
  }
  return sessions;
}

std::string JobFixture::LogOf(const std::string& process) const {
  std::ifstream file(LogPath(process));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void JobFixture::WaitForLog(const std::string& process, absl::string_view text) const {
  const absl::Time deadline = absl::Now() + kPatience;
  while (!absl::StrContains(LogOf(process), text)) {
    if (absl::Now() >= deadline) {
      throw std::runtime_error(absl::StrCat(process, " has not logged '", text, "'; its log is\n", LogOf(process)));
    }
    absl::SleepFor(kPollInterval);
  }
}

int JobFixture::MetricsPortOf(const std::string& process) const {
  const std::string said = "metrics at http://127.0.0.1:";
  WaitForLog(process, said);
  const std::string log = LogOf(process);
  const size_t begin = log.find(said) + said.size();
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(log.substr(begin, log.find('/', begin) - begin), &port)) << log;
  return port;
}

std::string JobFixture::StatusJson(size_t scheduler) {
  std::vector<std::string> arguments = {"status", "--scheduler", scheduler_address(scheduler), "--json"};
  arguments.insert(arguments.end(), {"--timeout", "60"});
  AddKey("operator", arguments);
  const std::unique_ptr<ChildProcess> status = StartCommand("status", std::move(arguments));
  EXPECT_TRUE(status->WaitUntilEnded(kPatience));
  EXPECT_EQ(status->failure(), "");
  return LogOf("status");
}

void JobFixture::StopAll(int signal) {
  std::vector<ChildProcess*> running;
  for (const std::unique_ptr<ChildProcess>& node : nodes_) {
    if (node != nullptr && node->running()) running.push_back(node.get());
  }
  for (const std::unique_ptr<ChildProcess>& scheduler : schedulers_) {
    if (scheduler != nullptr && scheduler->running()) running.push_back(scheduler.get());
  }
  for (ChildProcess* process : running) {
    // Whoever has logged a line takes signals; before that they end a process as they end any other.
    WaitForLog(process->name(), "\n");
    process->Signal(signal);
  }
  for (ChildProcess* process : running) {
    EXPECT_TRUE(process->WaitUntilEnded(kPatience)) << process->name() << " runs on";
    EXPECT_EQ(process->failure(), AskedToEnd(signal)) << process->name() << ":\n" << process->LogTail(kShownLogLines);
  }
}

std::string JobFixture::AskedToEnd(int signal) { return absl::StrCat("exit code ", 128 + signal); }

void JobFixture::Kill(ChildProcess& process) {
  process.Signal(SIGKILL);
  EXPECT_TRUE(process.WaitUntilEnded(kPatience));
}

}  // namespace banyan
