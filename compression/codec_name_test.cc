#include "compression/codec_name.h"

#include <set>
#include <string>

#include "compression/codec.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(CodecNameTest, EveryCodecHasAnotherName) {
  std::set<std::string> names;
  for (CodecId id : KnownCodecs()) {
    EXPECT_NE(CodecName(id), "");
    names.emplace(CodecName(id));
  }
  EXPECT_EQ(names.size(), KnownCodecs().size());
}

TEST(CodecNameTest, UnknownIdHasNone) { EXPECT_EQ(CodecName(static_cast<CodecId>(200)), ""); }

}  // namespace
}  // namespace banyan
