#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "precision/profile/operating_profile.h"
#include "tools/commands.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// Writes losses that fall with a little unrest, from `harmed_from` on higher by `harm`.
std::string Write(const std::string& name, int harmed_from, double harm) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream file(path);
  for (int step = 0; step < 300; ++step) {
    file << "step " << step + 1 << " loss "
         << 2.0 / (step + 10) + 0.02 * (step * 7 % 5) + (step >= harmed_from ? harm : 0) << "\n";
  }
  return path;
}

class CalibrateCommandTest : public testing::Test {
 protected:
  int Calibrate(const std::vector<std::string>& arguments) { return CalibrateCommand(arguments, out_, err_); }

  std::ostringstream out_, err_;
};

TEST_F(CalibrateCommandTest, PrintsAProfile) {
  const std::string healthy = Write("healthy.txt", 1000, 0);
  const std::string harmed = Write("harmed.txt", 200, 1);
  EXPECT_EQ(Calibrate({"--healthy", healthy, "--harmed", harmed + ":201", "--mode", "ternary", "--name", "mine"}), 0)
      << err_.str();
  const absl::StatusOr<OperatingProfile> profile = ReadProfile(out_.str(), "out");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->name, "mine");
  EXPECT_THAT(profile->provenance.evidence, HasSubstr("1/1 true detections within"));
}

TEST_F(CalibrateCommandTest, FailsWhereHarmIsNotHeard) {
  const std::string healthy = Write("healthy.txt", 1000, 0);
  EXPECT_EQ(Calibrate({"--healthy", healthy, "--harmed", healthy + ":201"}), 1);
  EXPECT_EQ(Calibrate({"--healthy", healthy, "--harmed", healthy + ":100001"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("expected harm to begin within its"));
  EXPECT_THAT(err_.str(), HasSubstr("0/1 true detections"));
}

}  // namespace
}  // namespace banyan
