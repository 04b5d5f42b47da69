// What is left of a worker process that was killed: its node answers late, or not at all, and another process takes its
// place.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/node_host.h"
#include "runtime/session/session.h"
#include "runtime/testing/child_processes.h"
#include "runtime/testing/testing_protocol.h"

namespace banyan {
namespace {

using Testing = TestingProtocol;

constexpr size_t kElements = 100000;

// The worker that will be killed: it waits for what the node never gives while it lives. It leaves a child behind that
// holds the same socket, as those who load data for it do.
[[noreturn]] void LiveAsAWorker(const std::string& node) {
  setpgid(0, 0);
  auto session = Session::Open({.node = node, .worker = 0, .open_timeout = absl::InfiniteDuration()});
  if (fork() == 0) {
    while (true) pause();
  }
  std::vector<float> values(kElements, 1.0f);
  Ticket ticket = (*session)->Init("w", values, absl::MakeSpan(values));
  while (true) (void)ticket.Wait();
}

class WorkerDeathTest : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() { children_ = std::make_unique<ChildProcesses>(LiveAsAWorker); }
  static void TearDownTestSuite() { children_.reset(); }

  void SetUp() override {
    std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    node_ = "unix:" + directory + "/n1";
    worker_ = children_->Start(node_);
    ASSERT_GT(worker_, 0);
    auto host = NodeHost::Start({.name = "n1", .worker_socket = node_},
                                [this](const ProtocolHost&) { return std::make_unique<Testing>(Core()); });
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }

  void TearDown() override { kill(-worker_, SIGKILL); }

  // Takes the dead worker's Init when it comes, and answers it, if ever, when the next worker attaches.
  Testing Core() {
    Testing core;
    core.on_call = [this](WorkerCall& call, Actions& actions) {
      std::visit(
          [&](auto& concrete) {
            using Call = std::decay_t<decltype(concrete)>;
            if constexpr (std::is_same_v<Call, WorkerAttach>) OnAttach(concrete, actions);
            if constexpr (std::is_same_v<Call, WorkerInit>) OnInit(concrete, actions);
            if constexpr (std::is_same_v<Call, WorkerDetach>) Note(deaths_);
          },
          call);
    };
    return core;
  }

  void OnAttach(WorkerAttach& attach, Actions& actions) {
    if (held_ && GetParam()) Answer(*std::exchange(held_, std::nullopt), actions);
    held_.reset();
    Testing::Add(actions, CompleteRequest{attach.request, absl::OkStatus(), KeyId(), Round(1)});
  }

  void OnInit(WorkerInit& init, Actions& actions) {
    if (inits_ > 0) return Answer(init, actions);
    held_ = std::move(init);
    Note(inits_);
  }

  static void Answer(const WorkerInit& init, Actions& actions) {
    Testing::Add(actions, WriteResult{init.request, 0, init.values});
    Testing::Add(actions, CompleteRequest{init.request, absl::OkStatus(), KeyId(1), Round(0)});
  }

  void Note(int& count) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++count;
    changed_.notify_all();
  }
  void Await(const int& count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&count] { return count > 0; });
  }

  static inline std::unique_ptr<ChildProcesses> children_;
  std::string node_;
  pid_t worker_ = -1;
  std::optional<WorkerInit> held_;  // the protocol thread's
  std::mutex mutex_;
  std::condition_variable changed_;
  int inits_ = 0;   // guarded by mutex_
  int deaths_ = 0;  // likewise
  std::unique_ptr<NodeHost> host_;
};

TEST_P(WorkerDeathTest, AnotherProcessTakesItsPlaceAtOnce) {
  Await(inits_);
  kill(worker_, SIGKILL);
  EXPECT_EQ(waitpid(worker_, nullptr, 0), worker_);
  // Nobody waits for the node to see the death.
  auto session = Session::Open({.node = node_, .worker = 0, .open_timeout = absl::Seconds(120)});
  ASSERT_TRUE(session.ok()) << session.status();
  Await(deaths_);
  std::vector<float> values(kElements, 2.0f);
  std::vector<float> agreed(kElements);
  Ticket ticket = (*session)->Init("w", values, absl::MakeSpan(agreed));
  EXPECT_TRUE(ticket.Wait(absl::Seconds(120)).ok());
  EXPECT_EQ(agreed, values);
  // Two gradients and a result of the living; nothing of the dead is left.
  EXPECT_LE(host_->host().worker_segment_bytes(), static_cast<int64_t>(4 * kElements * sizeof(float)));
}

INSTANTIATE_TEST_SUITE_P(Nodes, WorkerDeathTest, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "AnswersLate" : "NeverAnswers"); });

}  // namespace
}  // namespace banyan
