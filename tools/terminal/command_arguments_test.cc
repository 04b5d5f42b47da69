#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"
#include "tools/terminal/main_support.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(CommandArgumentsTest, SamplesAreThoseThatAreInstalled) {
  const std::unique_ptr<WorkDirectory> prefix = *WorkDirectory::Make("banyan-test");
  std::filesystem::create_directories(prefix->path() + "/share/banyan/topologies");
  const std::string sample = prefix->path() + "/share/banyan/topologies/few.yaml";
  std::ofstream(sample) << "nodes: []\n";
  EXPECT_THAT(WithInstalledSamples({"plan", "deploy/topologies/few.yaml", "deploy/none.yaml"}, prefix->path()),
              ElementsAre("plan", sample, "deploy/none.yaml"));
  EXPECT_THAT(WithInstalledSamples({"demo", "--overlay=deploy/topologies/few.yaml", "--json"}, prefix->path()),
              ElementsAre("demo", "--overlay=" + sample, "--json"));
  EXPECT_THAT(WithInstalledSamples({"wan", "exec", "--", "deploy/topologies/few.yaml"}, prefix->path()),
              ElementsAre("wan", "exec", "--", "deploy/topologies/few.yaml"));
}

}  // namespace
}  // namespace banyan
