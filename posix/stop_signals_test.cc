#include "posix/stop_signals.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <thread>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(StopSignalsTest, HoldsSignalsBackAndTellsThem) {
  for (int signal : {SIGTERM, SIGINT}) {
    const StopSignals signals;
    EXPECT_FALSE(signals.received());
    kill(getpid(), signal);
    EXPECT_TRUE(signals.received());
    EXPECT_TRUE(signals.received());
    kill(getpid(), signal);
  }
}

TEST(StopSignalsTest, AThreadThatWasThereBeforeDoesNotTakeThem) {
  std::promise<void> done;
  std::thread before([&done] { done.get_future().wait(); });
  {
    const StopSignals signals;
    kill(getpid(), SIGTERM);
    pollfd entry = {.fd = signals.fd(), .events = POLLIN, .revents = 0};
    while (poll(&entry, 1, -1) < 0 && errno == EINTR) {
    }
    EXPECT_TRUE(signals.received());
  }
  done.set_value();
  before.join();
}

TEST(StopSignalsTest, ALateSignalDoesNotKillAProcessThatHasEndedWell) {
  for (int signal : {SIGTERM, SIGINT}) {
    { const StopSignals signals; }
    kill(getpid(), signal);
    std::thread([signal] { kill(getpid(), signal); }).join();
  }
}

TEST(StopSignalsTest, AProgramStartedLaterIsKilledAsUsual) {
  { const StopSignals signals; }
  EXPECT_EXIT(execlp("sh", "sh", "-c", "kill -TERM $$; sleep 600", nullptr), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace banyan
