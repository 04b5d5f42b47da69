// A session over a port that does what the test says: a node that is late, or does not read.
#include "runtime/session/session_core.h"

#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/unix_socket.h"
#include "proto/session_codec.h"
#include "runtime/session/unix_port.h"
#include "runtime/workers/worker_connection.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Seconds(120);

// Attaches a worker at once, and swallows all else.
class FakePort : public SessionPort {
 public:
  void Start(Callbacks callbacks) override { callbacks_ = std::move(callbacks); }
  absl::Status Send(const WorkerMessage& message) override {
    sent.push_back(message);
    if (const auto* attach = std::get_if<AttachWorker>(&message)) Reply(WorkerAttached{attach->call, "n1", 1, {}});
    return absl::OkStatus();
  }
  absl::Status TrySend(const WorkerMessage&, absl::Duration) override {
    return absl::DeadlineExceededError("the node does not read");
  }
  void Close() override {}

  void Reply(WorkerReply reply, std::shared_ptr<TensorSegment> segment = nullptr) {
    callbacks_.reply(std::move(reply), std::move(segment));
  }
  // The last message, of this type.
  template <typename Message>
  Message Last() const {
    return std::get<Message>(sent.back());
  }

  std::vector<WorkerMessage> sent;

 private:
  Callbacks callbacks_;
};

class SessionCoreTest : public testing::Test {
 protected:
  SessionCoreTest() {
    auto core = SessionCore::Open(port_, WorkerId(0), kLong, {.answer = absl::Milliseconds(1)});
    EXPECT_TRUE(core.ok()) << core.status();
    core_ = *std::move(core);
  }

  absl::Status Init() { return core_->Init("w", absl::MakeConstSpan(values_), {}, {})->Wait(absl::ZeroDuration()); }
  void Open(const OpenTensor& open) {
    port_->Reply(TensorOpened{open.call, TensorId(7), open.elements, 2, 1, open.type},
                 TensorSegment::Create({open.elements, 2, 1, open.type}).value());
  }

  const std::vector<float> values_ = {1, 2};
  const std::shared_ptr<FakePort> port_ = std::make_shared<FakePort>();
  std::unique_ptr<SessionCore> core_;
};

TEST_F(SessionCoreTest, ATimeoutDoesNotWaitForANodeThatDoesNotRead) {
  const auto barrier = core_->Barrier({});
  const absl::Status late = barrier->Wait(absl::Milliseconds(2));
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(late.message()), HasSubstr("it goes on: the node does not read"));
  for (const WorkerMessage& message : port_->sent) EXPECT_FALSE(std::holds_alternative<DescribeWait>(message));
}

TEST_F(SessionCoreTest, MemoryThatCameLateIsThatOfTheNextInit) {
  EXPECT_EQ(Init().code(), absl::StatusCode::kUnavailable);
  const auto open = port_->Last<OpenTensor>();
  Open(open);
  EXPECT_EQ(Init().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(port_->Last<TensorCall>().tensor, TensorId(7));
  EXPECT_EQ(Init().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(SessionCoreTest, TheNextInitWaitsForTheMemoryThatIsUnderWay) {
  EXPECT_EQ(Init().code(), absl::StatusCode::kUnavailable);
  const auto open = port_->Last<OpenTensor>();
  EXPECT_EQ(Init().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(port_->Last<OpenTensor>().call, open.call) << "it is not asked for twice";
  // Until the node refuses it.
  port_->Reply(CallCompleted{open.call, absl::ResourceExhaustedError("no memory"), Round()});
  EXPECT_EQ(Init().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(port_->Last<OpenTensor>().call, open.call);
}

TEST_F(SessionCoreTest, StartsNoMoreCallsThanTheNodeTakes) {
  int started = 0;
  while (!core_->Barrier({})->done()) ++started;
  EXPECT_EQ(started, kMaxWaitingCalls - 1);
  const absl::Status refused = core_->ReportLoss({}, {})->Wait(absl::ZeroDuration());
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("262143 calls that wait"));
  // As soon as one has ended there is room again.
  port_->Reply(CallCompleted{port_->Last<BarrierCall>().call, absl::OkStatus(), Round()});
  EXPECT_FALSE(core_->Barrier({})->done());
}

TEST_F(SessionCoreTest, AGoodByeEndsCallsThatOtherThreadsAreIn) {
  absl::Status init;
  std::thread other([&] {
    auto core = SessionCore::Open(std::make_shared<FakePort>(), WorkerId(0), kLong, {.answer = absl::Hours(1)});
    ASSERT_TRUE(core.ok());
    std::thread inside([&] { init = (*core)->Init("w", absl::MakeConstSpan(values_), {}, {})->Wait(kLong); });
    (*core)->SayGoodBye();
    inside.join();
    EXPECT_EQ((*core)->Barrier({})->Wait(kLong).code(), absl::StatusCode::kCancelled);
  });
  other.join();
  EXPECT_EQ(init.code(), absl::StatusCode::kCancelled);
}

TEST(UnixPortTest, ATrialEndsWhereThereIsNoRoom) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const FileDescriptor node(ends[1]);
  UnixPort port(FileDescriptor(ends[0]), "unix:/run/n1");
  port.Start({[](WorkerReply, std::shared_ptr<TensorSegment>) {}, [](absl::Status) {}});
  int sent = 0;
  absl::Status status;
  while ((status = port.TrySend(WorkerGoodBye{}, absl::ZeroDuration())).ok()) ++sent;
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not read; is its process stopped?"));
  EXPECT_EQ(port.TrySend(WorkerGoodBye{}, absl::Milliseconds(1)).code(), absl::StatusCode::kDeadlineExceeded);
  // The connection has not ended.
  for (; sent > 0; --sent) {
    Packet packet;
    ASSERT_EQ(ReceivePacket(node.get(), kMaxSessionMessageBytes, /*may_block=*/false, packet), PacketResult::kDone);
  }
  EXPECT_TRUE(port.TrySend(WorkerGoodBye{}, absl::ZeroDuration()).ok());
}

}  // namespace
}  // namespace banyan
