#include "proto/field_wire.h"

#include <google/protobuf/unknown_field_set.h>

#include <string>

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

bool IsProtobuf(const std::string& bytes) { return google::protobuf::UnknownFieldSet().ParseFromString(bytes); }

// Bytes like those of messages: small numbers, so that types, lengths and groups of all kinds come about.
std::string RandomFields(Random& random) {
  std::string bytes;
  for (uint64_t left = random.Below(24); left > 0; --left) {
    bytes.push_back(static_cast<char>(random.Below(8) == 0 ? random.Below(256) : random.Below(48)));
  }
  return bytes;
}

TEST(FieldIndexTest, TakesTheSameBytesAsProtobufsOwnParser) {
  Random random(1);
  int taken = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::string bytes = RandomFields(random);
    FieldIndex fields;
    ASSERT_EQ(fields.Parse(bytes), IsProtobuf(bytes)) << ::testing::PrintToString(bytes);
    taken += fields.Parse(bytes) ? 1 : 0;
  }
  EXPECT_GT(taken, 10000);
}

TEST(FieldIndexTest, RefusesWhatEndsInTheMiddle) {
  for (const char* bytes : {"\x80", "\x08", "\x08\x80",
                            "\x0a\x05"
                            "ab",
                            "\x09\x01", "\x0b", "\x0c", "\x0b\x14"}) {
    EXPECT_FALSE(FieldIndex().Parse(bytes)) << ::testing::PrintToString(bytes);
    EXPECT_FALSE(IsProtobuf(bytes)) << ::testing::PrintToString(bytes);
  }
}

TEST(FieldIndexTest, BoundsGroupsInsideOfEachOther) {
  for (const int depth : {50, 99, 100, 101, 5000}) {
    const std::string bytes = std::string(depth, '\x0b') + std::string(depth, '\x0c');
    EXPECT_EQ(FieldIndex().Parse(bytes), depth <= 100) << depth;
  }
}

}  // namespace
}  // namespace banyan
