#include "tests/tidy/declarations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

using Names = std::vector<std::string>;

Names TypesOf(const std::string& text) {
  Names names;
  for (const Declaration& declaration : Declarations(text)) {
    if (auto name = DefinedType(declaration)) names.push_back(declaration.scope + "|" + *name);
  }
  return names;
}

TEST(DeclarationsTest, ScopesAreNamespaces) {
  const std::vector<Declaration> all =
      Declarations("namespace a::b {\nint x;\nnamespace c {\nvoid F() { int y; }\n}\nnamespace {\nint z;\n}\n}\n");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].scope, "a::b");
  EXPECT_EQ(all[0].line, 2);
  EXPECT_FALSE(all[0].has_body);
  EXPECT_EQ(all[1].scope, "a::b::c");
  EXPECT_TRUE(all[1].has_body);
  EXPECT_FALSE(all[1].anonymous);
  EXPECT_TRUE(all[2].anonymous);
}

TEST(DeclarationsTest, CommentsLiteralsAndPreprocessorAreNone) {
  EXPECT_TRUE(Declarations("// class A {};\n#define B class C { \\\n  int d; }\n").empty());
  EXPECT_EQ(Declarations("const char* a = \"class B {\";\nint c;\n").size(), 2u);
}

TEST(DeclarationsTest, LinkageGroupsAsANamespaceDoes) {
  EXPECT_EQ(TypesOf("extern \"C\" {\nstruct A {};\n}\n"), (Names{"|A"}));
}

TEST(DeclarationsTest, TypesOfEveryKind) {
  EXPECT_EQ(
      TypesOf("class A {};\nstruct B final : public A {};\nunion C {};\nenum D { kX };\nenum class E : int { kY };\n"
              "using F = int;\n"),
      (Names{"|A", "|B", "|C", "|D", "|E", "|F"}));
}

TEST(DeclarationsTest, TemplatesAndAttributesAreSeenThrough) {
  EXPECT_EQ(TypesOf("template <typename T, class U = std::vector<T>>\nstruct A : B<T> {};\n"
                    "struct [[nodiscard]] C {};\nstruct alignas(64) D {};\ntemplate <typename T>\nusing E = A<T, T>;\n"
                    "class LOCKABLE F {};\n"),
            (Names{"|A", "|C", "|D", "|E", "|F"}));
}

TEST(DeclarationsTest, DeclarationsDefineNoType) {
  EXPECT_EQ(
      TypesOf("class A;\nenum class B : int;\nstruct C c = {1};\nusing std::vector;\nstruct C F() { return {}; }\n"
              "struct A::Nested {};\ntemplate <>\nstruct D<int> {};\n"),
      Names{});
}

TEST(DeclarationsTest, InnerTypesAreNotAtNamespaceLevel) {
  EXPECT_EQ(
      TypesOf("class A {\n  struct B { int c = 0; };\n  using D = int;\n};\nvoid F() { struct G {}; }\nstruct H {};\n"),
      (Names{"|A", "|H"}));
}

TEST(DeclarationsTest, UnfinishedTextEnds) {
  EXPECT_EQ(Declarations("}\nint x").size(), 0u);
  EXPECT_EQ(TypesOf("template < {"), Names{});
  EXPECT_EQ(TypesOf("using;\nenum {"), Names{});
}

}  // namespace
}  // namespace banyan
