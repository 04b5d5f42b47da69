#include "tools/doctor/site_report.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

TEST(SiteReportTest, ComesAsItWasSent) {
  const CheckResults sent = {{"reach:n2", true, "tcp://10.0.0.2:7701 answers", "yes"}, {"memory", false, "too little"}};
  const absl::StatusOr<CheckResults> come = DecodeReport(EncodeReport(sent));
  ASSERT_TRUE(come.ok()) << come.status();
  ASSERT_EQ(come->size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ((*come)[i].name, sent[i].name);
    EXPECT_EQ((*come)[i].ok, sent[i].ok);
    EXPECT_EQ((*come)[i].text, sent[i].text);
    EXPECT_EQ((*come)[i].value, sent[i].value);
  }
}

TEST(SiteReportTest, WordsStayInTheirFields) {
  const absl::StatusOr<CheckResults> come = DecodeReport(EncodeReport({{"a", false, "two\nlines\tand a tab", "v\n"}}));
  ASSERT_TRUE(come.ok()) << come.status();
  ASSERT_EQ(come->size(), 1u);
  EXPECT_THAT(come->front().text, ::testing::AllOf(HasSubstr("two"), HasSubstr("and a tab")));
}

TEST(SiteReportTest, APeersControlCharactersReachNoTerminal) {
  const absl::StatusOr<CheckResults> come = DecodeReport("fix\tna\x1bme\tv\x1b\t\x1b[2Jtext\n");
  ASSERT_TRUE(come.ok()) << come.status();
  const CheckResult& result = come->front();
  EXPECT_EQ((result.name + result.value + result.text).find('\x1b'), std::string::npos);
}

TEST(SiteReportTest, WhatIsNoReportIsRefused) {
  for (const char* text : {"", "\n", "ok", "ok\tname\tvalue", "ok\tname\tvalue\ttext\tmore", "bad\tname\tvalue\ttext",
                           "ok\t\tvalue\ttext", "ok\ta\tb\tc\nGET / HTTP/1.1"}) {
    EXPECT_EQ(DecodeReport(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace banyan
