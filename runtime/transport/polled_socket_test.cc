#include "runtime/transport/polled_socket.h"

#include "gtest/gtest.h"
#include "posix/steady_clock.h"
#include "runtime/event_queue.h"

namespace banyan {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);

TEST(SocketPollerTest, LargeMachinesHaveSeveralThreadsThatCarry) {
  EXPECT_EQ(IoThreadsFor(0), 1);
  EXPECT_EQ(IoThreadsFor(2), 1);
  EXPECT_EQ(IoThreadsFor(8), 2);
  EXPECT_EQ(IoThreadsFor(16), 4);
  EXPECT_EQ(IoThreadsFor(128), 4);
  SocketPoller poller(10, 3);
  EXPECT_EQ(poller.context().get(zmq::ctxopt::io_threads), 3);
}

class PolledSocketTest : public testing::Test {
 protected:
  // A connected pair, of which the near one has seen all that connecting signals.
  PolledSocketTest() : near_(near_poller_, zmq::socket_type::pair), far_(far_poller_, zmq::socket_type::pair) {
    near_.socket().set(zmq::sockopt::sndhwm, 0);
    near_.socket().bind("tcp://127.0.0.1:*");
    far_.socket().connect(near_.socket().get(zmq::sockopt::last_endpoint));
    Send(far_);
    EXPECT_TRUE(AwaitMessage());
    while (near_poller_.Wait(wakeup_.fd(), SteadyNow()), near_.Receive(1, received_)) continue;
  }

  static void Send(PolledSocket& socket, int messages = 1) {
    for (int i = 0; i < messages; ++i) {
      std::vector<zmq::message_t> frames;
      frames.emplace_back("hello", 5);
      ASSERT_EQ(socket.Send(frames), SendResult::kSent);
    }
  }
  // Until the near socket has a message.
  bool AwaitMessage() {
    const Timestamp deadline = SteadyNow() + kPatience;
    while (!near_.Receive(1, received_)) {
      if (SteadyNow() >= deadline) return false;
      EXPECT_FALSE(near_poller_.Wait(wakeup_.fd(), deadline));
      near_poller_.AskAfterSends(SteadyNow());
    }
    return true;
  }

  EventQueue wakeup_;
  SocketPoller near_poller_{16};
  SocketPoller far_poller_{16};
  PolledSocket near_;
  PolledSocket far_;
  ReceivedFrames received_;
};

TEST_F(PolledSocketTest, AsksOnlyAfterASignal) {
  Send(far_, 2);
  EXPECT_FALSE(near_.Receive(1, received_));
  ASSERT_TRUE(AwaitMessage());
  ASSERT_TRUE(AwaitMessage());
  EXPECT_FALSE(near_.Receive(1, received_));
}

TEST_F(PolledSocketTest, EveryMessageIsSeenWhateverElseUsesTheSocket) {
  for (int round = 0; round < 2000; ++round) {
    Send(far_, 1 + round % 3);
    // Sending may take the signal.
    if (round % 2 == 0) Send(near_);
    for (int i = 0; i < 1 + round % 3; ++i) ASSERT_TRUE(AwaitMessage()) << round;
    EXPECT_FALSE(near_.Receive(1, received_));
  }
}

TEST_F(PolledSocketTest, AWaitEndsWithTheWakeUpOrTheDeadline) {
  EXPECT_FALSE(near_poller_.Wait(wakeup_.fd(), SteadyNow()));
  wakeup_.RequestStop();
  EXPECT_TRUE(near_poller_.Wait(wakeup_.fd(), kNever));
  wakeup_.ClearWakeup();
  EXPECT_FALSE(near_poller_.Wait(wakeup_.fd(), SteadyNow()));
}

TEST_F(PolledSocketTest, AClosedSocketIsWatchedNoMore) {
  {
    PolledSocket other(near_poller_, zmq::socket_type::pair);
    other.socket().bind("inproc://other");
  }
  Send(far_);
  EXPECT_TRUE(AwaitMessage());
}

}  // namespace
}  // namespace banyan
