#include "tests/tidy/folder_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

std::vector<SourceFile> Sources(int count) {
  std::vector<SourceFile> files;
  for (int i = 0; i < count; ++i) files.push_back({"node/a" + std::to_string(i) + ".cc", ""});
  return files;
}

TEST(FolderCheckTest, TwentyFiveSourcesAreTheMost) {
  EXPECT_TRUE(CheckFolders(Sources(25)).empty());
  const std::vector<std::string> findings = CheckFolders(Sources(26));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("node/: holds 26 sources")) << findings[0];
}

TEST(FolderCheckTest, HeaderAndSourceCountOnce) {
  std::vector<SourceFile> files = Sources(25);
  files.push_back({"node/a1.h", ""});
  files.push_back({"node/a2.cu", ""});
  EXPECT_TRUE(CheckFolders(files).empty());
}

TEST(FolderCheckTest, TestsSubfoldersAndPagesDoNotCount) {
  std::vector<SourceFile> files = Sources(25);
  for (const char* path : {"node/a1_test.cc", "node/testing/b.h", "node/link/c.h", "node/BUILD", "node/README.md"}) {
    files.push_back({path, ""});
  }
  EXPECT_TRUE(CheckFolders(files).empty());
}

}  // namespace
}  // namespace banyan
