// Runs the checks of this folder over the whole repository.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/tidy/advice_check.h"
#include "tests/tidy/file_cycle_check.h"
#include "tests/tidy/form_check.h"
#include "tests/tidy/layering_check.h"
#include "tests/tidy/name_check.h"
#include "tests/tidy/purity_check.h"
#include "tests/tidy/source_file.h"

namespace banyan {
namespace {

// Bazel links this test's one data file to where the repository lies.
const std::vector<SourceFile>& Tree() {
  static const std::vector<SourceFile> kTree =
      ReadSourceTree(std::filesystem::canonical("tests/tidy/BUILD").parent_path().parent_path().parent_path());
  return kTree;
}

std::string Joined(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

bool Has(const std::string& path) {
  for (const SourceFile& file : Tree()) {
    if (file.path == path) return true;
  }
  return false;
}

TEST(TreeTest, SeesTheRepository) {
  EXPECT_TRUE(Has("WORKSPACE"));
  EXPECT_TRUE(Has("core/ids.h"));
  EXPECT_TRUE(Has("tests/tidy/tree_test.cc"));
}

TEST(TreeTest, CoresArePure) {
  std::vector<std::string> findings;
  for (const SourceFile& file : Tree()) {
    for (const std::string& finding : CheckPurity(file)) findings.push_back(finding);
  }
  EXPECT_TRUE(findings.empty()) << Joined(findings);
}

TEST(TreeTest, DependenciesPointOneWay) {
  std::vector<std::string> findings = CheckLayering(Tree());
  EXPECT_TRUE(findings.empty()) << Joined(findings);
}

TEST(TreeTest, AdviceNamesWhatExists) {
  std::vector<std::string> findings = CheckAdvice(Tree());
  EXPECT_TRUE(findings.empty()) << Joined(findings);
}

TEST(TreeTest, FilesHaveTheirForm) {
  std::vector<std::string> findings;
  for (const SourceFile& file : Tree()) {
    for (const std::string& finding : CheckForm(file)) findings.push_back(finding);
  }
  EXPECT_TRUE(findings.empty()) << Joined(findings);
}

TEST(TreeTest, NoFilesIncludeEachOther) {
  std::vector<std::string> findings = CheckFileCycles(Tree());
  EXPECT_TRUE(findings.empty()) << Joined(findings);
}

TEST(TreeTest, TypesHaveNamesOfTheirOwn) {
  std::vector<std::string> findings = CheckNames(Tree());
  EXPECT_TRUE(findings.empty()) << Joined(findings);
}

}  // namespace
}  // namespace banyan
