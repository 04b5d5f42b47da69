// A forked child, such as a data loader, has copies of its parent's session and tickets. It neither uses nor harms what
// they stand for.

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "runtime/testing/testing_session.h"

namespace banyan {
namespace {

// Runs `body` in a forked child. Returns the line of the first expectation of the child's that failed, 0 for none.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int ended = -1;
  EXPECT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_TRUE(WIFEXITED(ended));
  return WEXITSTATUS(ended);
}

class SessionForkTest : public SessionTest {
 protected:
  void Start(TestingNodeOptions options = {}) {
    StartNode(std::move(options));
    session_ = Open();
    EXPECT_TRUE(session_->Init("w", values_).Wait(kLong).ok());
    const std::vector<GroupPart> parts = {{"a", values_}, {"b", values_}};
    EXPECT_TRUE(session_->InitGroup("g", parts).Wait(kLong).ok());
  }
  // The parent goes on as if there had been no child.
  void ExpectParentTrains() {
    std::vector<float> result(2);
    EXPECT_TRUE(session_->PushPull("w", values_, absl::MakeSpan(result)).Wait(kLong).ok());
    EXPECT_EQ(result, values_);
  }

  const std::vector<float> values_ = {1, 2};
  std::unique_ptr<Session> session_;
};

INSTANTIATE_TEST_SUITE_P(BothPorts, SessionForkTest, testing::Values(PortKind::kUnix, PortKind::kLocal), PortName);

TEST_P(SessionForkTest, EveryCallEndsAtOnceInAChild) {
  Start();
  const int line = InChild([this] {
    std::vector<float> result(2);
    const absl::Span<float> room = absl::MakeSpan(result);
    const auto is_refused = [](Ticket ticket) {
      return ticket.done() && absl::IsFailedPrecondition(ticket.Wait(kLong));
    };
    if (!is_refused(session_->Init("v", values_))) return __LINE__;
    if (!is_refused(session_->Push("w", values_))) return __LINE__;
    if (!is_refused(session_->Pull("w", room))) return __LINE__;
    if (!is_refused(session_->Pull("w"))) return __LINE__;
    if (!is_refused(session_->PushPull("w", values_, room))) return __LINE__;
    if (!is_refused(session_->Flush("w", values_, room))) return __LINE__;
    if (!is_refused(session_->Broadcast("w", values_, room))) return __LINE__;
    if (!is_refused(session_->RegisterWeights("w", values_))) return __LINE__;
    const std::vector<GroupPart> parts = {{"c", values_}};
    if (!is_refused(session_->InitGroup("h", parts))) return __LINE__;
    if (!is_refused(session_->Push("a", values_))) return __LINE__;
    if (!is_refused(session_->PullGroup("g", {room, room}))) return __LINE__;
    if (!is_refused(session_->Barrier())) return __LINE__;
    if (!is_refused(session_->ReportLoss(1, 0.5))) return __LINE__;
    if (!absl::IsFailedPrecondition(session_->ShareGradient("w").status())) return __LINE__;
    if (!absl::IsFailedPrecondition(session_->FetchState(kLong).status())) return __LINE__;
    if (!absl::IsFailedPrecondition(session_->PassBoundary(1))) return __LINE__;
    if (session_->Barrier().Wait().message().find("forked child") == absl::string_view::npos) return __LINE__;
    return 0;
  });
  EXPECT_EQ(line, 0);
  ExpectParentTrains();
}

TEST_P(SessionForkTest, ACallbackRunsInAChildToo) {
  Start();
  const int line = InChild([this] {
    bool has_run = false;
    const Ticket ticket = session_->Barrier(
        {.on_done = [&](const absl::Status& status) { has_run = absl::IsFailedPrecondition(status); }});
    return has_run ? 0 : __LINE__;
  });
  EXPECT_EQ(line, 0);
}

TEST_P(SessionForkTest, AChildThatEndsTakesNothingAlong) {
  Start();
  const int line = InChild([this] {
    session_.reset();
    return 0;
  });
  EXPECT_EQ(line, 0);
  ExpectParentTrains();
  session_.reset();
  EXPECT_EQ(Detached(1), std::vector<bool>{true});
}

TEST_P(SessionForkTest, TicketsAndSharedMemoryAreNothingInAChild) {
  Start({.rounds_in_flight = 2, .keeps_gradients = false, .hold_from = 2});
  std::optional<Ticket> first = session_->PushPull("w", *session_->ShareGradient("w"));
  ASSERT_TRUE(first->Wait(kLong).ok());
  ASSERT_EQ(first->shared_result().size(), 2u);
  absl::StatusOr<SharedGradient> gradient = session_->ShareGradient("w");
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  std::vector<float> result(2);
  std::optional<Ticket> open = session_->PushPull("w", values_, absl::MakeSpan(result));
  const int line = InChild([&] {
    if (!first->shared_result().empty() || !gradient->values().empty()) return __LINE__;
    // It never ends: the parent's would wait.
    if (!open->done() || !absl::IsFailedPrecondition(open->Wait())) return __LINE__;
    open.reset();
    first.reset();
    *gradient = SharedGradient(std::move(*gradient));
    session_.reset();
    return 0;
  });
  EXPECT_EQ(line, 0);
  EXPECT_FALSE(open->done());
  EXPECT_EQ(gradient->values().size(), 2u);
  session_.reset();
}

TEST_P(SessionForkTest, AChildMayOpenASessionOfItsOwn) {
  if (GetParam() == PortKind::kLocal) GTEST_SKIP() << "the node is in the parent";
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer knows no threads of forked children";
#endif
  StartNode({.workers = 2});
  session_ = Open(0);
  const int line = InChild([this] {
    absl::StatusOr<std::unique_ptr<Session>> own = Session::Open({.node = socket_, .worker = 1});
    return own.ok() && (*own)->node_name() == "n1" ? 0 : __LINE__;
  });
  EXPECT_EQ(line, 0);
}

}  // namespace
}  // namespace banyan
