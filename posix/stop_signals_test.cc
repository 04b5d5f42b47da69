#include "posix/stop_signals.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <future>
#include <thread>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(StopSignalsTest, HoldsSignalsBackAndTellsThem) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const StopSignals signals;
    EXPECT_FALSE(signals.received());
    EXPECT_EQ(signals.signal(), 0);
    kill(getpid(), signal);
    EXPECT_TRUE(signals.received());
    EXPECT_TRUE(signals.received());
    EXPECT_EQ(signals.signal(), signal);
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
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    { const StopSignals signals; }
    kill(getpid(), signal);
    std::thread([signal] { kill(getpid(), signal); }).join();
  }
}

TEST(StopSignalsTest, WhoIgnoresTheEndOfTheTerminalStillDoes) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const StopSignals signals;
    kill(getpid(), SIGHUP);
    EXPECT_FALSE(signals.received());
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(StopSignalsTest, APipeWithoutAReaderIsAnError) {
  OutliveReaders();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "a", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

TEST(StopSignalsTest, WhoTurnsLogsOverEndsNothing) {
  OutliveLogRotation();
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(raise(SIGUSR2), 0);
  EXPECT_EXIT(execlp("sh", "sh", "-c", "kill -USR1 $$; sleep 600", nullptr), ::testing::KilledBySignal(SIGUSR1), "");
}

TEST(StopSignalsTest, AProgramStartedLaterIsKilledAsUsual) {
  { const StopSignals signals; }
  EXPECT_EXIT(execlp("sh", "sh", "-c", "kill -TERM $$; sleep 600", nullptr), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace banyan
