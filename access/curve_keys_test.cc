#include <string>

#include "absl/status/statusor.h"
#include "access/key_file.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(CurveKeysTest, EachPairIsNewAndBelongsTogether) {
  const CurveKeys a = MakeCurveKeys();
  const CurveKeys b = MakeCurveKeys();
  EXPECT_EQ(a.public_key.size(), 40u);
  EXPECT_EQ(a.secret_key.size(), 40u);
  EXPECT_NE(a.public_key, b.public_key);
  EXPECT_NE(a.secret_key, b.secret_key);
  EXPECT_EQ(*PublicKeyOf(a.secret_key), a.public_key);
}

TEST(CurveKeysTest, WhatIsNoKeyHasNoPublicOne) {
  EXPECT_FALSE(PublicKeyOf("").ok());
  EXPECT_FALSE(PublicKeyOf(std::string(39, 'a')).ok());
  EXPECT_FALSE(PublicKeyOf(std::string(41, 'a')).ok());
  EXPECT_FALSE(PublicKeyOf(std::string(40, '"')).ok());
}

// Found by the fuzzer: the public key was another one each time.
TEST(CurveKeysTest, AKeyWithAZeroInItIsNone) {
  std::string key = MakeCurveKeys().secret_key;
  for (const size_t at : {size_t{0}, size_t{25}, size_t{39}}) {
    std::string other = key;
    other[at] = '\0';
    EXPECT_FALSE(PublicKeyOf(other).ok()) << at;
  }
}

TEST(CurveKeysTest, BytesHaveAText) {
  // The test vector of rfc.zeromq.org/spec/32 is 8 bytes; here it stands four times.
  const std::string bytes = "\x86\x4F\xD2\x6F\xB5\x59\xF7\x5B";
  EXPECT_EQ(KeyText(bytes + bytes + bytes + bytes), "HelloWorldHelloWorldHelloWorldHelloWorld");
  EXPECT_EQ(KeyText(bytes), "");
}

}  // namespace
}  // namespace banyan
