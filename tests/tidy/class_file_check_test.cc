#include "tests/tidy/class_file_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

const SourceFile kLink = {"node/link.cc",
                          "namespace banyan {\nvoid Link::Send() {}\nint Link::size() const { return 0; }\n}\n"};

TEST(ClassFileCheckTest, ClassInOneFilePasses) {
  EXPECT_TRUE(CheckClassFiles({kLink, {"node/other.cc", "namespace banyan {\nvoid Other::Send() {}\n}\n"}}).empty());
}

TEST(ClassFileCheckTest, SecondFileIsFoundOnce) {
  const std::vector<std::string> findings = CheckClassFiles(
      {kLink, {"node/link_part.cc", "namespace banyan {\n\nvoid Link::Close() {}\nLink::~Link() = default;\n}\n"}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("node/link_part.cc:3: has methods of Link, as node/link.cc has")) << findings[0];
}

TEST(ClassFileCheckTest, OtherClassesOfTheNamePass) {
  const std::string text = "void Link::Close() {}\n";
  EXPECT_TRUE(CheckClassFiles({kLink, {"sim/link.cc", "namespace banyan {\n" + text + "}\n"}}).empty());
  EXPECT_TRUE(CheckClassFiles({kLink, {"node/a.cc", "namespace banyan::inner {\n" + text + "}\n"}}).empty());
  EXPECT_TRUE(CheckClassFiles({kLink, {"node/a.cc", "namespace banyan {\nnamespace {\n" + text + "}\n}\n"}}).empty());
}

TEST(ClassFileCheckTest, HeadersAndTestsPass) {
  const std::string text = "namespace banyan {\ninline void Link::Close() {}\n}\n";
  EXPECT_TRUE(CheckClassFiles({kLink, {"node/link.h", text}, {"node/link_test.cc", text}}).empty());
}

}  // namespace
}  // namespace banyan
