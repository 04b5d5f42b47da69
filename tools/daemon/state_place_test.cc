#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/daemon/scheduler_setup.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

OverlayConfig Job(std::vector<std::string> etcd = {}) {
  OverlayConfig overlay;
  overlay.file_name = "o.yaml";
  overlay.job = "mnist";
  overlay.scheduler.etcd = std::move(etcd);
  return overlay;
}

void ExpectDirectory(const absl::StatusOr<StatePlace>& place, const std::string& directory) {
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->kind, StatePlaceKind::kDirectory);
  EXPECT_EQ(place->directory, directory);
  EXPECT_EQ(place->Describe(Job()), "in " + directory);
}

void ExpectRefusal(const absl::StatusOr<StatePlace>& place, const std::string& text) {
  EXPECT_EQ(place.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(place.status().message()), HasSubstr(text));
}

TEST(StatePlaceTest, IsTheJobsDirectoryByDefault) {
  ExpectDirectory(ChooseStatePlace(Job(), "", false, "/home/a/.local/state"), "/home/a/.local/state/banyan/mnist");
  ExpectDirectory(ChooseStatePlace(Job(), "/var/lib/x", false, "/home/a/.local/state"), "/var/lib/x");
  ExpectDirectory(ChooseStatePlace(Job(), "/var/lib/x", false, ""), "/var/lib/x");
}

TEST(StatePlaceTest, IsNowhereOnlyWhenAskedFor) {
  const absl::StatusOr<StatePlace> place = ChooseStatePlace(Job(), "", true, "");
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->kind, StatePlaceKind::kNowhere);
  EXPECT_THAT(place->Describe(Job()), HasSubstr("the job ends with this process"));
  ExpectRefusal(ChooseStatePlace(Job(), "", false, ""), "expected --state-dir");
  ExpectRefusal(ChooseStatePlace(Job(), "/var/lib/x", true, ""), "got both");
}

TEST(StatePlaceTest, IsEtcdWhereTheOverlaySaysSo) {
  const OverlayConfig job = Job({"http://a:1", "http://b:1"});
  const absl::StatusOr<StatePlace> place = ChooseStatePlace(job, "", false, "/home/a/.local/state");
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->kind, StatePlaceKind::kEtcd);
  EXPECT_EQ(place->Describe(job), "in etcd at http://a:1, http://b:1");
  ExpectRefusal(ChooseStatePlace(job, "/var/lib/x", false, ""), "expected no --state-dir");
  ExpectRefusal(ChooseStatePlace(job, "", true, ""), "expected no --forgetful");
}

}  // namespace
}  // namespace banyan
