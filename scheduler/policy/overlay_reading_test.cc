#include "scheduler/policy/overlay_reading.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What becomes of a file with this text, in a job whose overlay is a mesh of `count` nodes.
absl::StatusOr<Reconfiguration> Read(int count, const std::string& yaml) {
  OverlayReading reading(MeshOverlay(count), OverlayText{yaml, "new.yaml"});
  EXPECT_EQ(reading.size_bytes(), static_cast<int64_t>(yaml.size()));
  reading.Run();
  return reading.TakeResult();
}

std::string ErrorOf(const std::string& yaml) { return std::string(Read(2, yaml).status().message()); }

TEST(OverlayReadingTest, SaysWhatChangesAndWhatThePlannerNeeds) {
  const absl::StatusOr<Reconfiguration> read = Read(2, MeshYaml(2, "topology: {planner: star, root: n2}\n"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->changes, HasSubstr("topology"));
  EXPECT_THAT(read->Reason(), StartsWith("a reconfiguration with new.yaml: "));
  EXPECT_EQ(read->overlay.topology.planner, "star");
  EXPECT_EQ(read->believed.NameOf(NodeId(2)), "n2");
  EXPECT_EQ(read->text.file_name, "new.yaml");
}

TEST(OverlayReadingTest, TheSameFileAsksThePlannerAgain) {
  const absl::StatusOr<Reconfiguration> read = Read(2, MeshYaml(2));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->changes, "nothing differs, and the planner was asked again");
}

TEST(OverlayReadingTest, ManyChangesAreCounted) {
  std::string links = "links:\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = a + 1; b <= 8; ++b) absl::StrAppend(&links, "  - {between: [n", a, ", n", b, "], mbps: 7}\n");
  }
  const absl::StatusOr<Reconfiguration> read = Read(8, MeshYaml(8, links));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->changes, testing::ContainsRegex("; and [0-9]+ more$"));
}

TEST(OverlayReadingTest, RefusesWhatIsNoOverlayOrFitsNoJob) {
  EXPECT_THAT(ErrorOf("nodes: 7\n"), HasSubstr("new.yaml"));
  EXPECT_THAT(ErrorOf("nodes: [{name: n1}, {name: n2}]\n"), HasSubstr("address"));
  EXPECT_NE(ErrorOf(MeshYaml(2, "aggregation: {op: sum}\n")), "") << "a job's results mean one thing";
}

}  // namespace
}  // namespace banyan
