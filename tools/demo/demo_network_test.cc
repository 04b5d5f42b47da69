#include "tools/demo/demo_network.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(DemoNetworkTest, OnLoopbackEachHasAPortOfItsOwn) {
  const absl::StatusOr<std::unique_ptr<DemoNetwork>> network = DemoNetwork::OnLoopback(2);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT((*network)->scheduler_address(), StartsWith("tcp://127.0.0.1:"));
  ASSERT_THAT((*network)->node_addresses(), SizeIs(2));
  EXPECT_NE((*network)->node_addresses()[0], (*network)->node_addresses()[1]);
  EXPECT_THAT((*network)->InNode(1, {"program", "x"}), ElementsAre("program", "x"));
  EXPECT_THAT((*network)->BesideScheduler({"program"}), ElementsAre("program"));
  EXPECT_FALSE((*network)->is_wan());
  EXPECT_FALSE((*network)->TakeWanStatus().has_value());
  EXPECT_TRUE((*network)->Check().ok());
}

class DemoNetworkWanTest : public ::testing::Test {
 protected:
  absl::Status Start(const std::string& overlay) {
    DemoWanOptions options;
    options.banyan_program = "/no/such/program";
    options.overlay = overlay;
    options.overlay_name = "x.yaml";
    const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-test");
    return directory.ok() ? DemoNetwork::OnWan(options, **directory).status() : directory.status();
  }
};

TEST_F(DemoNetworkWanTest, NeedsTheRateOfEveryLink) {
  EXPECT_THAT(std::string(Start("nodes: [{name: a}, {name: b}]\nlinks: [{between: [a, b]}]\n").message()),
              HasSubstr("x.yaml:2:9: the link between 'a' and 'b' has no rate"));
}

TEST_F(DemoNetworkWanTest, SaysWhyThereIsNone) {
  EXPECT_THAT(std::string(Start("nodes: [{name: a}, {name: b}]\nlinks: [{between: [a, b], mbps: 10}]\n").message()),
              HasSubstr("cannot start /no/such/program"));
}

}  // namespace
}  // namespace banyan
