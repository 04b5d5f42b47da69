#include "runtime/session/unix_port.h"

#include <sys/socket.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/unix_socket.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(UnixPortTest, WhatTheNodeSaidLastComesBeforeTheEndAlthoughItLeftMessagesUnread) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  UnixPort port(FileDescriptor(ends[0]), "unix:/n1");
  FileDescriptor node(ends[1]);
  ASSERT_TRUE(port.Send(WorkerGoodBye{}).ok());
  const std::string last = EncodeWorkerReply(JobEnded{absl::UnavailableError("node n3 was lost")});
  ASSERT_EQ(SendPacket(node.get(), last, -1, /*may_block=*/true), PacketResult::kDone);
  node.Close();
  EXPECT_TRUE(port.Send(WorkerGoodBye{}).ok()) << "who reads tells the end";

  std::vector<std::string> heard;
  std::promise<void> closed;
  port.Start({[&heard](WorkerReply reply, std::shared_ptr<TensorSegment>) {
                heard.emplace_back(std::get<JobEnded>(reply).reason.message());
              },
              [&](absl::Status reason) {
                heard.emplace_back(reason.message());
                closed.set_value();
              }});
  closed.get_future().wait();
  EXPECT_THAT(heard, ElementsAre("node n3 was lost", "the node at unix:/n1 has closed the connection"));
  EXPECT_EQ(port.Send(WorkerGoodBye{}).message(), "the node at unix:/n1 has closed the connection");
}

}  // namespace
}  // namespace banyan
