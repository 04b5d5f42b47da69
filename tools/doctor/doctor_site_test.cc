#include "tools/doctor/doctor_site.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kOverlay[] = R"(
scheduler: {addresses: [tcp://127.0.0.1:7700, tcp://127.0.0.1:7800], etcd: ["http://127.0.0.1:2379"]}
nodes:
  - {name: n1, address: "tcp://127.0.0.1:7701", workers: 2}
  - {name: n2, address: "tcp://127.0.0.1:7702"}
  - {name: n3, address: "tcp://127.0.0.1:7703"}
links:
  - {between: [n1, n2], mbps: [100, 40], delay_ms: 20, loss_percent: 1}
  - {between: [n2, n3], mbps: 100}
)";

DoctorSite SiteOf(const std::string& name, const std::string& text = kOverlay) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, "overlay.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  absl::StatusOr<DoctorSite> site = MakeDoctorSite(*overlay, name, {.model_bytes = 1000, .tensors = 10});
  EXPECT_TRUE(site.ok()) << site.status();
  return *std::move(site);
}

std::vector<std::string> PathsOf(const DoctorSite& site) {
  std::vector<std::string> names;
  for (const DoctorSite::Path& path : site.paths) names.push_back(path.name);
  return names;
}

TEST(DoctorSiteTest, ANodeReachesItsNeighboursAndAllSchedulers) {
  const DoctorSite site = SiteOf("n1");
  EXPECT_EQ(site.listen, "tcp://127.0.0.1:7701");
  EXPECT_THAT(PathsOf(site), ElementsAre("n2", "scheduler", "scheduler2"));
  EXPECT_EQ(site.paths[0].expected.round_trip, absl::Milliseconds(40));
  EXPECT_EQ(site.paths[0].expected.rate_there_bps, 100e6);
  EXPECT_EQ(site.paths[0].expected.rate_back_bps, 40e6);
  EXPECT_EQ(SiteOf("n2").paths[0].expected.rate_there_bps, 40e6);
  EXPECT_TRUE(site.needs.has_lossy_path);
  EXPECT_EQ(site.needs.product_bytes, 500'000);
  EXPECT_EQ(site.needs.tensors, 20);
  EXPECT_EQ(site.needs.memory_bytes, 9000) << "three models, and three slots of each worker";
  EXPECT_FALSE(SiteOf("n3").needs.has_lossy_path);
}

TEST(DoctorSiteTest, ASchedulerReachesAllNodes) {
  EXPECT_THAT(PathsOf(SiteOf("scheduler2")), ElementsAre("n1", "n2", "n3"));
}

TEST(DoctorSiteTest, WithoutLinksEveryNodeIsANeighbour) {
  std::string text = kOverlay;
  text.resize(text.find("links:"));
  EXPECT_THAT(PathsOf(SiteOf("n2", text)), ElementsAre("n1", "n3", "scheduler", "scheduler2"));
}

TEST(DoctorSiteTest, NamesThoseThatThereAre) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(kOverlay, "overlay.yaml");
  const absl::Status status = MakeDoctorSite(*overlay, "n4", {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected one of: n1, n2, n3, scheduler, scheduler2"));
}

TEST(DoctorAddressTest, AJobOnOneMachineIsFine) {
  const CheckResults results = CheckAddresses(SiteOf("n1"));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].ok) << results[0].text;
}

std::string FaultOf(DoctorSite site) {
  std::string text;
  for (const CheckResult& result : CheckAddresses(site)) {
    if (!result.ok) text += result.name + ": " + result.text + "\n";
  }
  return text;
}

TEST(DoctorAddressTest, AddressesThatCannotBeAreNamed) {
  DoctorSite site = SiteOf("n1");
  site.addresses["n2"] = "tcp://203.0.113.2:7702";
  EXPECT_THAT(FaultOf(site), HasSubstr("is this machine alone, and other sites are to call it"));
  site = SiteOf("n1");
  site.address = site.listen = "tcp://203.0.113.1:7701";
  EXPECT_THAT(FaultOf(site), HasSubstr("is no address of this machine; correct it"));
  site.listen = "tcp://*:7701";
  EXPECT_EQ(FaultOf(site), "") << "behind a NAT";
  site.address = "tcp://no-such-name.invalid:7701";
  EXPECT_THAT(FaultOf(site), HasSubstr("name:n1: the host name no-such-name.invalid cannot be looked up"));
}

}  // namespace
}  // namespace banyan
