#include "tests/tidy/file_cycle_check.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(FileCycleCheckTest, TreeOfIncludesPasses) {
  EXPECT_TRUE(CheckFileCycles({{"a/a.h", "#include \"a/b.h\"\n#include \"b/c.h\"\n"},
                               {"a/a.cc", "#include \"a/a.h\"\n#include \"b/c.h\"\n"},
                               {"a/b.h", "#include \"b/c.h\"\n#include <a/a.h>\n"},
                               {"b/c.h", "#include \"absl/time/time.h\"\n"}})
                  .empty());
}

TEST(FileCycleCheckTest, CircleIsFoundWithItsWay) {
  const std::vector<std::string> findings = CheckFileCycles(
      {{"a/a.h", "\n#include \"a/b.h\"\n"}, {"a/b.h", "#include \"b/c.h\"\n"}, {"b/c.h", "#include \"a/a.h\"\n"}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("a/a.h:2: includes what includes it: a/a -> a/b -> b/c -> a/a")) << findings[0];
}

TEST(FileCycleCheckTest, HeaderAndSourceAreOneFile) {
  const SourceFile header = {"a/a.h", ""};
  const SourceFile source = {"a/a.cc", "#include \"a/a.h\"\n#include \"a/b.h\"\n"};
  EXPECT_TRUE(CheckFileCycles({header, source, {"a/b.h", ""}}).empty());
  EXPECT_EQ(CheckFileCycles({header, source, {"a/b.h", "#include \"a/a.h\"\n"}}).size(), 1u);
  EXPECT_EQ(CheckFileCycles({header, source, {"a/b.h", ""}, {"a/b.cu", "#include \"a/a.h\"\n"}}).size(), 1u);
}

TEST(FileCycleCheckTest, TestIsAFileOfItsOwn) {
  EXPECT_TRUE(CheckFileCycles({{"a/a.h", ""},
                               {"a/b.h", "#include \"a/a.h\"\n"},
                               {"a/a_test.cc", "#include \"a/a.h\"\n#include \"a/b.h\"\n"}})
                  .empty());
}

}  // namespace
}  // namespace banyan
