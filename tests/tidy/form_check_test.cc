#include "tests/tidy/form_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

const std::string kGuard = "#ifndef BANYAN_CORE_A_B_H_\n#define BANYAN_CORE_A_B_H_\n";
const std::string kGuardEnd = "#endif  // BANYAN_CORE_A_B_H_\n";

size_t Count(const std::string& path, const std::string& text) { return CheckForm({path, text}).size(); }

TEST(FormCheckTest, GoodHeaderPasses) { EXPECT_EQ(Count("core/a_b.h", "// What.\n" + kGuard + kGuardEnd), 0u); }

TEST(FormCheckTest, HeaderWithoutCommentIsFound) {
  EXPECT_EQ(Count("core/a_b.h", kGuard + kGuardEnd), 1u);
  EXPECT_EQ(Count("core/a_b.h", ""), 2u);
}

TEST(FormCheckTest, HeaderWithoutItsGuardIsFound) {
  EXPECT_EQ(Count("core/a_b.h", "// What.\n"), 1u);
  EXPECT_EQ(Count("core/c.h", "// What.\n" + kGuard + kGuardEnd), 1u);
  EXPECT_EQ(Count("core/a_b.h", "// What.\n" + kGuard), 1u);
  EXPECT_EQ(Count("core/a_b.h", "// What.\n#pragma once\n"), 1u);
}

// Put together, so that this file itself bears no mark.
TEST(FormCheckTest, MarksAreFound) {
  EXPECT_EQ(Count("core/a.cc", std::string("// TO") + "DO: x\n"), 1u);
  EXPECT_EQ(Count("core/BUILD", std::string("# FIX") + "ME\n"), 1u);
  EXPECT_EQ(Count("README.md", std::string("XX") + "X\n"), 1u);
  EXPECT_EQ(Count("core/a.cc", "kTodoList\n"), 0u);
}

// Put together, as marks are.
TEST(FormCheckTest, CitationsOfADesignDocumentAreFound) {
  const std::string word = std::string("des") + "ign";
  EXPECT_EQ(Count("core/a.cc", "// The facts of the " + word + ".\n"), 1u);
  EXPECT_EQ(Count("core/a.cc", "int a;  // " + word + ", section 6\n"), 1u);
  EXPECT_EQ(Count("core/BUILD", "# D" + word.substr(1) + " section 6\n"), 1u);
  EXPECT_EQ(Count("docs/a.md", "see " + word + ".md\n"), 1u);
  EXPECT_EQ(Count("core/a.cc", "// A tree " + word + ", and " + word + "s of the others.\n"), 0u);
}

TEST(FormCheckTest, CitationsOverTwoLinesAreFoundOnce) {
  const std::string word = std::string("des") + "ign";
  const std::vector<std::string> findings = CheckForm({"core/a.cc", "int a;\n// the\n// " + word + " says\nint b;\n"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("core/a.cc:2: cites")) << findings[0];
}

}  // namespace
}  // namespace banyan
