#include "tools/wan_benchmark/burst_traffic.h"

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(BurstTrafficTest, TheLinksThatWereUsedMostOfTheTime) {
  WanStatus status;
  status.links = {
      {.from = "a", .to = "b", .mbps = 100}, {.from = "b", .to = "a", .mbps = 10}, {.from = "a", .to = "c", .mbps = 1}};
  const std::vector<ContenderResult::Link> links = {{"a", "b", 500}, {"b", "a", 300}, {"a", "c", 20}, {"x", "y", 9000}};
  const std::vector<ContenderResult::Link> loaded = MostLoaded(links, status, 2);
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].from + loaded[0].to, "ba");
  EXPECT_EQ(loaded[1].from + loaded[1].to, "ac");
  EXPECT_EQ(MostLoaded(links, status, 9).size(), 4u);
}

TEST(BurstTrafficTest, SendsAPartOfTheRate) {
  BenchPlace place;
  place.banyan_program = "/bin/banyan";
  place.wan_directory = "/tmp/wan";
  EXPECT_EQ(absl::StrJoin(TrafficArguments(place, {"a", "b", 0}, 70, {.part = 0.7}), " "),
            "/bin/banyan wan traffic a b --mbps 70 --on 2s --off 3s --for 43200s --directory /tmp/wan");
}

}  // namespace
}  // namespace banyan
