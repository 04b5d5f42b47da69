#include "tools/stop_signals.h"

#include <unistd.h>

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

TEST(StopSignalsTest, LeavesSignalsAsTheyWere) {
  { const StopSignals signals; }
  EXPECT_EXIT(kill(getpid(), SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace banyan
