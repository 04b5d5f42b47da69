#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "access/key_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"
#include "tools/commands.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KeygenCommandTest : public testing::Test {
 protected:
  int Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return KeygenCommand(arguments, out_, err_);
  }
  std::string Path(const std::string& name) const { return folder_->path() + "/" + name; }

  const std::unique_ptr<WorkDirectory> folder_ = *WorkDirectory::Make("banyan-test");
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(KeygenCommandTest, MakesOneKeyAndPrintsItsLine) {
  ASSERT_EQ(Run({"n1", "--dir", folder_->path()}), 0) << err_.str();
  const absl::StatusOr<KeyFile> file = ReadKeyFile(Path("n1.key"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(out_.str(), "public_key: '" + file->keys.public_key + "'\n");
  EXPECT_EQ(Run({"n1", "--dir", folder_->path()}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("move the key that is there away first"));
}

TEST_F(KeygenCommandTest, MakesThoseOfAWholeJob) {
  std::ofstream(Path("job.yaml")) << "scheduler: {address: tcp://127.0.0.1:1}\nnodes:\n"
                                     "  - {name: n1, address: tcp://127.0.0.1:2}\n"
                                     "  - {name: n2, address: tcp://127.0.0.1:3}\n";
  ASSERT_EQ(Run({"--all", Path("job.yaml"), Path("keys")}), 0) << err_.str();
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(Path("keys/overlay.yaml"));
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  EXPECT_EQ(overlay->scheduler.public_key, ReadKeyFile(Path("keys/scheduler.key"))->keys.public_key);
  for (const NodeConfig& node : overlay->nodes) {
    const absl::StatusOr<KeyFile> file = ReadKeyFile(Path("keys/" + node.name + ".key"));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(node.public_key, file->keys.public_key);
    EXPECT_THAT(file->scheduler_keys, ElementsAre(overlay->scheduler.public_key));
  }
  EXPECT_EQ(overlay->operators[0].public_key, ReadKeyFile(Path("keys/operator.key"))->keys.public_key);
  EXPECT_EQ(overlay->observers[0].public_key, ReadKeyFile(Path("keys/observer.key"))->keys.public_key);
}

TEST_F(KeygenCommandTest, AWholeJobIsMadeOrNothing) {
  std::ofstream(Path("job.yaml")) << "scheduler: {address: tcp://127.0.0.1:1}\nnodes:\n"
                                     "  - {name: n1, address: tcp://127.0.0.1:2}\n"
                                     "  - {name: n2, address: tcp://127.0.0.1:3}\n";
  for (const std::vector<std::string>& there : {std::vector<std::string>{"overlay.yaml"}, {"n1.key", "observer.key"}}) {
    std::filesystem::create_directory(Path("keys"));
    for (const std::string& name : there) std::ofstream(Path("keys/" + name)) << "mine\n";
    EXPECT_EQ(Run({"--all", Path("job.yaml"), Path("keys")}), 1);
    for (const std::string& name : there) EXPECT_THAT(err_.str(), HasSubstr(Path("keys/" + name)));
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(Path("keys")))
      found.push_back(entry.path().filename());
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(there));
    std::filesystem::remove_all(Path("keys"));
  }
}

TEST_F(KeygenCommandTest, NamesTheKeyThatIsInTheWay) {
  std::ofstream(Path("job.yaml")) << "scheduler: {address: tcp://127.0.0.1:1}\nnodes:\n"
                                     "  - {name: n1, address: tcp://127.0.0.1:2}\n"
                                     "  - {name: n2, address: tcp://127.0.0.1:3}\n"
                                     "operators: [{name: ada, public_key: '"
                                  << MakeCurveKeys().public_key << "'}]\n";
  EXPECT_EQ(Run({"--all", Path("job.yaml"), Path("keys")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("scheduler.public_key is missing, though operator 'ada' has a key; add it, or take "
                                    "all keys, operators and observers out"));
}

TEST_F(KeygenCommandTest, WritesNothingWhereSomethingIsWrong) {
  std::ofstream(Path("job.yaml")) << "nodes: [{name: n1}, {name: n2}]\n";
  EXPECT_EQ(Run({"--all", Path("job.yaml"), Path("keys")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("scheduler.address is missing"));
  EXPECT_FALSE(std::filesystem::exists(Path("keys")));
}

}  // namespace
}  // namespace banyan
