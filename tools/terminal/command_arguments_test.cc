#include "tools/terminal/command_arguments.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"

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

TEST(CommandArgumentsTest, TheEnvironmentNamesAScheduler) {
  EXPECT_THAT(*WithDefaultScheduler({"status", "--json"}, "tcp://a:1"),
              ElementsAre("status", "--scheduler", "tcp://a:1", "--json"));
  EXPECT_THAT(*WithDefaultScheduler({"status", "--scheduler=tcp://b:1"}, "tcp://a:1"),
              ElementsAre("status", "--scheduler=tcp://b:1"));
  EXPECT_THAT(*WithDefaultScheduler({"plan", "o.yaml"}, "tcp://a:1"), ElementsAre("plan", "o.yaml"));
  EXPECT_THAT(*WithDefaultScheduler({"status"}, ""), ElementsAre("status"));
  EXPECT_THAT(*WithDefaultScheduler({}, "tcp://a:1"), ElementsAre());
}

TEST(CommandArgumentsTest, AWrongEnvironmentIsRefusedOnlyWhereItCounts) {
  const absl::Status refused = WithDefaultScheduler({"status"}, "10.0.0.1").status();
  EXPECT_THAT(std::string(refused.message()), ::testing::StartsWith("BANYAN_SCHEDULER: expected an address"));
  for (const char* question : {"--help", "-h", "--version", "--scheduler=tcp://a:1"}) {
    EXPECT_TRUE(WithDefaultScheduler({"status", question}, "10.0.0.1").ok()) << question;
  }
  EXPECT_TRUE(WithDefaultScheduler({"plan", "o.yaml"}, "10.0.0.1").ok());
}

}  // namespace
}  // namespace banyan
