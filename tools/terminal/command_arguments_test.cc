#include "tools/terminal/command_arguments.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

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

TEST(CommandArgumentsTest, KeysAreFoundByTheirOwner) {
  const std::unique_ptr<WorkDirectory> folder = *WorkDirectory::Make("banyan-test");
  const auto file = [&folder](const std::string& name) { return folder->path() + "/" + name + ".key"; };
  for (const char* owner : {"scheduler", "n1", "observer"}) std::ofstream(file(owner)) << "secret\n";
  const std::vector<std::string> folders = {"/nowhere", folder->path()};
  EXPECT_THAT(WithDefaultKey({"scheduler", "o.yaml"}, folders),
              ElementsAre("scheduler", "--key", file("scheduler"), "o.yaml"));
  EXPECT_THAT(WithDefaultKey({"node", "--name=n1"}, folders), ElementsAre("node", "--key", file("n1"), "--name=n1"));
  EXPECT_THAT(WithDefaultKey({"node", "--name", "n2"}, folders), ElementsAre("node", "--name", "n2"));
  EXPECT_THAT(WithDefaultKey({"status"}, folders), ElementsAre("status", "--key", file("observer")));
  std::ofstream(file("operator")) << "secret\n";
  EXPECT_THAT(WithDefaultKey({"status"}, folders), ElementsAre("status", "--key", file("operator")));
  // Who says it, goes without or asks only gets none, and what has no keys neither.
  EXPECT_THAT(WithDefaultKey({"status", "--key=x"}, folders), ElementsAre("status", "--key=x"));
  EXPECT_THAT(WithDefaultKey({"scheduler", "--insecure"}, folders), ElementsAre("scheduler", "--insecure"));
  EXPECT_THAT(WithDefaultKey({"stop", "--help"}, folders), ElementsAre("stop", "--help"));
  EXPECT_THAT(WithDefaultKey({"plan", "o.yaml"}, folders), ElementsAre("plan", "o.yaml"));
  EXPECT_THAT(WithDefaultKey({}, folders), ElementsAre());
}

}  // namespace
}  // namespace banyan
