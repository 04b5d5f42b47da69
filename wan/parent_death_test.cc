#include <signal.h>
#include <sys/prctl.h>

#include "gtest/gtest.h"
#include "wan/node_namespace.h"

namespace banyan {
namespace {

int ParentDeathSignal() {
  int signal = 0;
  prctl(PR_GET_PDEATHSIG, &signal);
  return signal;
}

TEST(ParentDeathTest, RestoresWhatTheKernelForgets) {
  ASSERT_EQ(prctl(PR_SET_PDEATHSIG, SIGUSR1), 0);
  {
    const ParentDeathSignalGuard keeper;
    prctl(PR_SET_PDEATHSIG, 0);
  }
  EXPECT_EQ(ParentDeathSignal(), SIGUSR1);
}

TEST(ParentDeathTest, MakesNoPromiseThatWasNotThere) {
  ASSERT_EQ(prctl(PR_SET_PDEATHSIG, 0), 0);
  { const ParentDeathSignalGuard keeper; }
  EXPECT_EQ(ParentDeathSignal(), 0);
}

}  // namespace
}  // namespace banyan
