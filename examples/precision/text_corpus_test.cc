#include "examples/precision/text_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace banyan {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TextCorpusTest, PartsAreConsecutiveAndTheEndIsHeldOut) {
  const absl::StatusOr<TextCorpus> corpus = TextCorpus::Cut("aaaaaaaaaabbbbbbbbbz", 2, 1);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  EXPECT_EQ(corpus->characters(), 3);
  EXPECT_THAT(corpus->part(0), Each(0));
  EXPECT_EQ(corpus->part(0).size(), 9u);
  EXPECT_THAT(corpus->part(1), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(corpus->held_out(), ElementsAre(2));
}

TEST(TextCorpusTest, ATextTooShortForItsWorkersIsRefused) {
  const absl::StatusOr<TextCorpus> corpus = TextCorpus::Cut(std::string(100, 'a'), 4, 65);
  EXPECT_EQ(corpus.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(corpus.status().message(), HasSubstr("each of 4 workers gets 65 characters"));
}

TEST(TextCorpusTest, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(ReadText("/nowhere/text").status().message(), HasSubstr("/nowhere/text"));
}

}  // namespace
}  // namespace banyan
