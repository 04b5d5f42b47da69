#include "runtime/workers/worker_server.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/steady_clock.h"
#include "posix/unix_socket.h"
#include "proto/session_codec.h"
#include "runtime/compute_pool.h"
#include "runtime/event_queue.h"

namespace banyan {
namespace {

class WorkerServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    path_ = directory + "/n1";
    Serve(WorkerServer::kAttachWithin);
    socket_ = ConnectToUnix(path_).value();
  }
  void Serve(absl::Duration attach_within) {
    server_.reset();
    auto server = WorkerServer::Listen(
        "unix:" + path_, /*group=*/"",
        [this](WorkerConnection::Reply reply) {
          return std::make_shared<WorkerConnection>(requests_of_workers_, budget_, "n1", std::move(reply));
        },
        counters_, [this](const std::string& text) { warnings_.push_back(text); }, attach_within);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // Lets the server work, as its host does, until it is `done`.
  void ServeUntil(const std::function<bool()>& done) {
    const Timestamp until = SteadyNow() + absl::Seconds(120);
    while (!done()) {
      ASSERT_LT(SteadyNow(), until);
      pollfd item{server_->fd(), POLLIN, 0};
      const absl::Duration left = std::min(server_->NextDeadline(), until) - SteadyNow();
      poll(&item, 1, static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(left) + 1, 0, 10)));
      server_->Collect(SteadyNow());
    }
  }
  PacketResult Read(const FileDescriptor& socket, Packet& packet) {
    PacketResult result = PacketResult::kWouldBlock;
    ServeUntil([&] {
      result = ReceivePacket(socket.get(), kMaxSessionMessageBytes, false, packet);
      return result != PacketResult::kWouldBlock;
    });
    return result;
  }
  PacketResult SendAny(const std::string& bytes) {
    PacketResult result = PacketResult::kWouldBlock;
    ServeUntil([&] {
      result = SendPacket(socket_.get(), bytes, -1, false);
      return result != PacketResult::kWouldBlock;
    });
    return result;
  }
  void Send(const std::string& bytes) { EXPECT_EQ(SendAny(bytes), PacketResult::kDone); }
  // The next reply; the test fails when the server has closed instead.
  WorkerReply Receive() {
    Packet packet;
    EXPECT_EQ(Read(socket_, packet), PacketResult::kDone);
    file_ = std::move(packet.file);
    return DecodeWorkerReply(packet.bytes).value_or(SlotFreed{});
  }
  // The call that the core would see next.
  WorkerCall NextCall() {
    std::vector<Event> events;
    ServeUntil([&] { return !(events = queue_->Take()).empty(); });
    return std::get<WorkerCalled>(std::move(events.at(0))).call;
  }
  void Attach() {
    Send(EncodeWorkerMessage(AttachWorker{kProtocolVersion, WorkerId(0), CallId(1)}));
    requests_of_workers_->Complete({std::get<WorkerAttach>(NextCall()).request, absl::OkStatus(), KeyId(), Round()});
    EXPECT_EQ(std::get<WorkerAttached>(Receive()).node_name, "n1");
  }

  std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();
  ComputePool pool_{1};
  std::shared_ptr<WorkerRequests> requests_of_workers_ = std::make_shared<WorkerRequests>(queue_, pool_);
  std::shared_ptr<SegmentBudget> budget_ = std::make_shared<SegmentBudget>(1 << 20);
  TrafficCounters counters_;
  std::vector<std::string> warnings_;
  std::string path_;
  std::unique_ptr<WorkerServer> server_;
  FileDescriptor socket_;
  FileDescriptor file_;
};

TEST_F(WorkerServerTest, PassesTheMemoryOfATensor) {
  Attach();
  Send(EncodeWorkerMessage(OpenTensor{CallId(2), "w", 3}));
  const auto opened = std::get<TensorOpened>(Receive());
  EXPECT_EQ(opened.elements, 3);
  auto segment = TensorSegment::Map(std::move(file_), {3, opened.gradient_slots, opened.result_slots});
  EXPECT_TRUE(segment.ok()) << segment.status();
}

TEST_F(WorkerServerTest, AClosedSocketIsADeadWorkerUnlessItSaidGoodBye) {
  Attach();
  socket_.Close();
  EXPECT_FALSE(std::get<WorkerDetach>(NextCall()).clean);
  socket_ = ConnectToUnix(path_).value();
  Attach();
  Send(EncodeWorkerMessage(WorkerGoodBye{}));
  socket_.Close();
  EXPECT_TRUE(std::get<WorkerDetach>(NextCall()).clean);
}

TEST_F(WorkerServerTest, NonsenseIsAnsweredAndInTheEndCutOff) {
  Send("nonsense");
  EXPECT_EQ(std::get<WorkerMessageRejected>(Receive()).reason.code(), absl::StatusCode::kInvalidArgument);
  Send(std::string(kMaxSessionMessageBytes + 1, 'x'));
  EXPECT_EQ(std::get<WorkerMessageRejected>(Receive()).reason.code(), absl::StatusCode::kInvalidArgument);
  Attach();
  PacketResult sent = PacketResult::kDone;
  for (int i = 0; i < 100000 && sent == PacketResult::kDone; ++i) sent = SendAny("x");
  EXPECT_EQ(sent, PacketResult::kClosed);
  EXPECT_FALSE(std::get<WorkerDetach>(NextCall()).clean);
  EXPECT_GE(counters_.Get().rejected_worker_messages, 100u);
}

TEST_F(WorkerServerTest, WantOfDescriptorsIsToldOnceAndPasses) {
  FileDescriptor late(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path_.copy(address.sun_path, sizeof(address.sun_path) - 1), sizeof(address.sun_path) - 1);
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none_left = {6, limit.rlim_max};  // all are taken
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  ASSERT_EQ(connect(late.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ServeUntil([this] { return !warnings_.empty(); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  socket_ = std::move(late);
  Attach();
  server_.reset();
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_.at(0), testing::HasSubstr("has to wait: Too many open files; this process may have 6 descr"));
}

TEST_F(WorkerServerTest, SilentConnectionsMakeRoomForWorkers) {
  Serve(absl::Milliseconds(20));
  std::vector<FileDescriptor> silent;
  for (size_t i = 0; i < kMaxWorkersPerNode; ++i) {
    silent.push_back(ConnectToUnix(path_).value());
    server_->Collect(SteadyNow());
  }
  socket_ = ConnectToUnix(path_).value();
  Attach();
  Packet packet;
  for (const FileDescriptor& connection : silent) {
    EXPECT_EQ(Read(connection, packet), PacketResult::kClosed);
  }
  Send(EncodeWorkerMessage(BarrierCall{CallId(2)}));
  EXPECT_TRUE(std::holds_alternative<WorkerBarrier>(NextCall())) << "one that is attached stays";
}

TEST_F(WorkerServerTest, AWorkerMayWaitToBeAttached) {
  Serve(absl::Milliseconds(1));
  const FileDescriptor silent = ConnectToUnix(path_).value();
  socket_ = ConnectToUnix(path_).value();
  Send(EncodeWorkerMessage(AttachWorker{kProtocolVersion, WorkerId(0), CallId(1)}));
  const auto call = std::get<WorkerAttach>(NextCall());
  Packet packet;
  EXPECT_EQ(Read(silent, packet), PacketResult::kClosed) << "time has passed";
  requests_of_workers_->Complete({call.request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_EQ(std::get<WorkerAttached>(Receive()).node_name, "n1");
}

TEST_F(WorkerServerTest, TheEndOfTheProcessThatAWorkerNamesIsItsEnd) {
  int ends[2] = {};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const FileDescriptor parent(ends[0]);
  const FileDescriptor child(ends[1]);
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    char byte = 0;
    (void)!read(ends[1], &byte, 1);  // until the parent lets it go
    _exit(0);
  }
  const FileDescriptor watch(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  ASSERT_TRUE(watch.valid());
  const std::string attach = EncodeWorkerMessage(AttachWorker{kProtocolVersion, WorkerId(0), CallId(1)});
  ASSERT_EQ(SendPacket(socket_.get(), attach, watch.get(), true), PacketResult::kDone);
  requests_of_workers_->Complete({std::get<WorkerAttach>(NextCall()).request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_EQ(std::get<WorkerAttached>(Receive()).node_name, "n1");
  ASSERT_EQ(write(parent.get(), "", 1), 1);
  ASSERT_EQ(waitpid(process, nullptr, 0), process);
  EXPECT_FALSE(std::get<WorkerDetach>(NextCall()).clean) << "this process holds the socket still";
}

TEST_F(WorkerServerTest, WhoComesSecondIsToldWhoIsThere) {
  Attach();
  const FileDescriptor first = std::exchange(socket_, ConnectToUnix(path_).value());
  Send(EncodeWorkerMessage(AttachWorker{kProtocolVersion, WorkerId(0), CallId(1)}));
  const RequestId request = std::get<WorkerAttach>(NextCall()).request;
  requests_of_workers_->Complete({request, absl::AlreadyExistsError("worker 0 is attached already"), KeyId(), Round()});
  EXPECT_EQ(std::get<CallCompleted>(Receive()).status,
            absl::AlreadyExistsError(absl::StrCat("worker 0 is attached already; process ", getpid(), " has it")));
}

TEST_F(WorkerServerTest, RepliesThatFindNoRoomComeWhenThereIs) {
  Attach();
  constexpr uint64_t kCalls = 5000;
  std::vector<RequestId> requests;
  for (uint64_t call = 0; call < kCalls; ++call) {
    Send(EncodeWorkerMessage(BarrierCall{CallId(2 + call)}));
    requests.push_back(std::get<WorkerBarrier>(NextCall()).request);
  }
  for (const RequestId request : requests)
    requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  for (uint64_t call = 0; call < kCalls; ++call) {
    ASSERT_EQ(std::get<CallCompleted>(Receive()).call, CallId(2 + call));
  }
  pollfd idle{server_->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&idle, 1, 0), 0) << "room is waited for only while there is none";
}

TEST_F(WorkerServerTest, TheFileOfAnotherServerStays) {
  Attach();
  unlink(path_.c_str());
  const auto other = ListenOnUnix(path_);
  ASSERT_TRUE(other.ok()) << other.status();
  server_.reset();
  EXPECT_TRUE(ConnectToUnix(path_).ok());
}

TEST_F(WorkerServerTest, TheSocketsFileGoesWithTheServer) {
  Attach();
  server_.reset();
  struct stat info;
  EXPECT_NE(stat(path_.c_str(), &info), 0);
  Packet packet;
  EXPECT_EQ(ReceivePacket(socket_.get(), 100, true, packet), PacketResult::kClosed);
}

}  // namespace
}  // namespace banyan
