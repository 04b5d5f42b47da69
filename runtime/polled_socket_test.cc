#include "runtime/polled_socket.h"

#include <poll.h>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int kPatienceMs = 60'000;

class PolledSocketTest : public testing::Test {
 protected:
  PolledSocketTest() : near_(context_, zmq::socket_type::pair), far_(context_, zmq::socket_type::pair) {
    near_.socket().bind("inproc://pair");
    far_.socket().connect("inproc://pair");
    EXPECT_FALSE(near_.Receive(1, received_));
  }

  static void Send(PolledSocket& socket, int messages = 1) {
    for (int i = 0; i < messages; ++i) {
      std::vector<zmq::message_t> frames;
      frames.emplace_back("hello", 5);
      ASSERT_EQ(socket.Send(frames), SendResult::kSent);
    }
  }
  static bool IsReadable(const PolledSocket& socket, int timeout_ms) {
    pollfd polled = {socket.fd(), POLLIN, 0};
    return poll(&polled, 1, timeout_ms) == 1;
  }

  zmq::context_t context_;
  PolledSocket near_;
  PolledSocket far_;
  ReceivedFrames received_;
};

TEST_F(PolledSocketTest, AsksOnlyAfterASignal) {
  EXPECT_FALSE(near_.may_receive());
  Send(far_);
  ASSERT_TRUE(IsReadable(near_, kPatienceMs));
  EXPECT_FALSE(near_.Receive(1, received_));
  near_.OnReadable();
  EXPECT_TRUE(near_.Receive(1, received_));
  EXPECT_TRUE(near_.may_receive());
  EXPECT_FALSE(near_.Receive(1, received_));
  EXPECT_FALSE(near_.may_receive());
}

TEST_F(PolledSocketTest, EveryMessageIsSignalledWhateverElseUsesTheSocket) {
  for (int round = 0; round < 2000; ++round) {
    Send(far_, 1 + round % 3);
    // Sending may take the signal.
    if (round % 2 == 0) Send(near_);
    EXPECT_EQ(near_.has_sent(), round % 2 == 0);
    near_.AskAfterSend();
    int got = 0;
    while (got < 1 + round % 3) {
      if (!near_.may_receive()) {
        ASSERT_TRUE(IsReadable(near_, kPatienceMs)) << round;
        near_.OnReadable();
      }
      got += near_.Receive(1, received_) ? 1 : 0;
    }
    EXPECT_FALSE(near_.Receive(1, received_));
  }
}

}  // namespace
}  // namespace banyan
