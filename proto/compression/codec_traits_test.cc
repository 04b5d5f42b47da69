#include "proto/compression/codec_traits.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace banyan {
namespace {

TEST(CodecTraitsTest, EveryCodecHasANameOfItsOwn) {
  std::set<std::string> names;
  for (CodecId id : AllCodecIds()) {
    EXPECT_EQ(*ParseCodecName(CodecName(id)), id);
    EXPECT_EQ(TraitsOf(id)->id, id);
    names.emplace(CodecName(id));
  }
  EXPECT_EQ(names.size(), 16u);
  EXPECT_EQ(CodecNames().size(), names.size());
}

TEST(CodecTraitsTest, NumbersHaveNoGaps) {
  const std::vector<CodecId> ids = AllCodecIds();
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(static_cast<size_t>(ids[i]), i);
}

TEST(CodecTraitsTest, AnUnknownIdHasNoTraits) {
  EXPECT_EQ(TraitsOf(static_cast<CodecId>(200)), nullptr);
  EXPECT_EQ(CodecName(static_cast<CodecId>(200)), "");
}

TEST(CodecTraitsTest, AnUnknownNameIsAnsweredWithTheNames) {
  for (const char* name : {"", "TopK", "top_k", "fp64"}) {
    const absl::Status status = ParseCodecName(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              std::string("expected a codec (fp32, fp16, bf16, topk, randomk, int8, int4, sign, ternary, onebit_rht, "
                          "trim_sign, trim_sq, trim_sd, trim_rht, trim_rht_levels, trim_topk), got '") +
                  name + "'");
  }
}

}  // namespace
}  // namespace banyan
