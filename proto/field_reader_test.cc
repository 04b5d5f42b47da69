#include "proto/field_reader.h"

#include <limits>
#include <string>

#include "core/ids.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

class FieldReaderTest : public ::testing::Test {
 protected:
  std::string Error() const { return std::string(error_.message()); }

  WireLimits limits_;
  absl::Status error_;
  FieldReader fields_{limits_, error_};
};

TEST_F(FieldReaderTest, PassesWhatIsRight) {
  EXPECT_EQ(fields_.NonZero<NodeId>("node", 5), NodeId(5));
  EXPECT_EQ(fields_.Between("count", 3, 3, 3), 3);
  EXPECT_EQ(fields_.FiniteBetween("share", 1.0, 0.0, 1.0), 1.0);
  EXPECT_EQ(fields_.Duration("wait", 0, absl::ZeroDuration()), absl::ZeroDuration());
  EXPECT_EQ(fields_.Time("at", int64_t{1} << 62), Timestamp::FromNanoseconds(int64_t{1} << 62));
  EXPECT_EQ(fields_.Name("name", std::string(1024, 'n')), std::string(1024, 'n'));
  EXPECT_EQ(fields_.Name("name", "d\xc3\xa9j\xc3\xa0"), "d\xc3\xa9j\xc3\xa0");
  EXPECT_EQ(fields_.Text("text", ""), "");
  EXPECT_EQ(fields_.Reason("reason", "two\nlines"), "two\nlines");
  EXPECT_EQ(fields_.Count("list", 65536), 65536);
  EXPECT_TRUE(error_.ok());
}

TEST_F(FieldReaderTest, RemembersTheFirstErrorWithItsPath) {
  FieldReader slice = fields_.Within("slice");
  FieldReader tree = slice.Within("trees", 3);
  tree.Between("share", 2.5, 0.0, 1.0);
  fields_.NonZero<NodeId>("node", 0);
  EXPECT_EQ(error_.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Error(), "slice.trees[3].share: 0 to 1 expected, 2.5 came");
}

TEST_F(FieldReaderTest, WhatIsRefusedReadsAsSomethingHarmless) {
  EXPECT_EQ(fields_.Between("elements", std::numeric_limits<int64_t>::min(), int64_t{1}, int64_t{9}), 1);
  EXPECT_EQ(fields_.Count("list", 65537), 0);
  EXPECT_EQ(fields_.Text("text", std::string(2000, 'x')), "");
  EXPECT_EQ(fields_.Finite("loss", std::numeric_limits<double>::quiet_NaN()), 0.0);
  EXPECT_EQ(fields_.Time("at", -1), Timestamp());
}

TEST_F(FieldReaderTest, NamesHaveNoControlCharacters) {
  fields_.Name("name", "a\x7f");
  EXPECT_EQ(Error(), "name: no control character expected, one with code 127 came");
}

TEST_F(FieldReaderTest, ExpectRefusesWhatDoesNotHold) {
  fields_.Expect(true, "weight", "1", "2");
  EXPECT_TRUE(error_.ok());
  fields_.Expect(false, "weight", "1", "2");
  EXPECT_EQ(Error(), "weight: 1 expected, 2 came");
}

}  // namespace
}  // namespace banyan
