#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SchedulerConfig Section(const std::string& section) {
  const absl::StatusOr<OverlayConfig> overlay =
      ParseOverlay(absl::StrCat("nodes: [{name: n1}, {name: n2}]\nscheduler: ", section, "\n"), "o.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  return overlay.ok() ? overlay->scheduler : SchedulerConfig();
}

TEST(OverlaySchedulerTest, MayBeAlone) {
  const SchedulerConfig config = Section("{address: tcp://10.0.0.1:7700, http: 0.0.0.0:7780}");
  EXPECT_EQ(config.address, "tcp://10.0.0.1:7700");
  EXPECT_THAT(config.addresses, ElementsAre("tcp://10.0.0.1:7700"));
  EXPECT_EQ(config.http, "0.0.0.0:7780");
  EXPECT_THAT(config.etcd, IsEmpty());
}

TEST(OverlaySchedulerTest, SeveralHaveEtcd) {
  const SchedulerConfig config =
      Section("{addresses: [tcp://a:7700, tcp://b:7700], etcd: [http://a:2379, https://b:2379], lease_seconds: 10}");
  EXPECT_EQ(config.address, "tcp://a:7700");
  EXPECT_THAT(config.addresses, ElementsAre("tcp://a:7700", "tcp://b:7700"));
  EXPECT_THAT(config.etcd, ElementsAre("http://a:2379", "https://b:2379"));
  EXPECT_EQ(config.lease, absl::Seconds(10));
}

TEST(OverlaySchedulerTest, OneMayHaveEtcd) {
  const SchedulerConfig config = Section("{address: tcp://a:7700, etcd: [http://a:2379]}");
  EXPECT_THAT(config.addresses, ElementsAre("tcp://a:7700"));
  EXPECT_THAT(config.etcd, ElementsAre("http://a:2379"));
  EXPECT_EQ(config.lease, absl::Seconds(3));
}

}  // namespace
}  // namespace banyan
