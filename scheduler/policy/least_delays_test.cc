#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "scheduler/policy/replanner.h"

namespace banyan {
namespace {

constexpr NodeId kA(1);
constexpr NodeId kB(2);
constexpr NodeId kC(3);

NetworkView View() {
  const auto link = [](NodeId from, NodeId to) {
    return NetworkLink{.from = from, .to = to, .throughput_bps = 1e6, .delay = absl::Milliseconds(9)};
  };
  return *NetworkView::Create({{kA, "a", {}, {}}, {kB, "b", {}, {}}, {kC, "c", {}, {}}},
                              {link(kA, kB), link(kB, kA), link(kA, kC)});
}

TEST(LeastDelaysTest, TakesTheLeastOfBothDirections) {
  LeastDelays delays;
  delays.Note(Timestamp(), kA, kB, absl::Milliseconds(7));
  delays.Note(Timestamp(), kB, kA, absl::Milliseconds(5));
  delays.Note(Timestamp(), kB, kA, absl::ZeroDuration());
  const NetworkView view = delays.In(View());
  EXPECT_EQ(view.FindLink(kA, kB)->delay, absl::Milliseconds(5));
  EXPECT_EQ(view.FindLink(kB, kA)->delay, absl::Milliseconds(5));
  EXPECT_EQ(view.FindLink(kA, kC)->delay, absl::Milliseconds(9)) << "nothing was measured there";
}

TEST(LeastDelaysTest, APathThatBecameLongerIsSeenWhenTheWindowIsOver) {
  LeastDelays delays;
  delays.Note(Timestamp(), kA, kB, absl::Milliseconds(5));
  for (absl::Duration at = absl::Minutes(1); at <= LeastDelays::kWindow; at += absl::Minutes(1)) {
    delays.Note(Timestamp() + at, kA, kB, absl::Milliseconds(20));
  }
  EXPECT_EQ(delays.In(View()).FindLink(kA, kB)->delay, absl::Milliseconds(20));
  delays.Note(Timestamp() + absl::Minutes(11), kA, kB, absl::Milliseconds(3));
  delays.Forget();
  EXPECT_EQ(delays.In(View()).FindLink(kA, kB)->delay, absl::Milliseconds(9));
}

}  // namespace
}  // namespace banyan
