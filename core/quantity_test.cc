#include "core/quantity.h"

#include <cstdint>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

TEST(QuantityTest, Sizes) {
  const std::map<std::string, double> sizes = {{"1000000", 1e6},
                                               {"1e6", 1e6},
                                               {"1E6", 1e6},
                                               {"46M", 46e6},
                                               {"46MB", 46e6},
                                               {"46 MB", 46e6},
                                               {"46mb", 46e6},
                                               {"1.5G", 1.5e9},
                                               {"1.5GB", 1.5e9},
                                               {".5k", 500},
                                               {"64KiB", 64 * 1024},
                                               {"64Ki", 64 * 1024},
                                               {"2T", 2e12},
                                               {"46MiB", 46 * 1048576.0},
                                               {"12B", 12},
                                               {" 7 ", 7},
                                               {"1GiB", 1073741824.0},
                                               {"1e3k", 1e6},
                                               {"+5", 5}};
  for (const auto& [text, bytes] : sizes) {
    const absl::StatusOr<double> read = ParseBytes(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_DOUBLE_EQ(*read, bytes) << text;
  }
  for (const char* bad :
       {"", "M", "46m", "1.5.2G", "46MX", "1e", "nan", "inf", "1e999", "0x10", "46M B", "5s", "1_000", "--1"}) {
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
  }
  EXPECT_THAT(std::string(ParseBytes("46Mb").status().message()), HasSubstr("got '46Mb' in bits"));
  EXPECT_THAT(std::string(ParseBytes("1,5G").status().message()), HasSubstr("write numbers with '.'"));
}

TEST(QuantityTest, Counts) {
  const std::map<std::string, int64_t> counts = {
      {"4", 4},          {"1e6", 1000000}, {"64k", 64000},      {"64Ki", 65536},
      {"1.5M", 1500000}, {"-3", -3},       {"2 G", 2000000000}, {"9223372036854775807", INT64_MAX}};
  for (const auto& [text, count] : counts) {
    const absl::StatusOr<int64_t> read = ParseCount(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_EQ(*read, count) << text;
  }
  for (const char* bad :
       {"", "k", "1.5", "64m", "64kB", "1e-3", "1e17", "99999999999999999999", "inf", "nan", "0x10", "1_000", "four"}) {
    EXPECT_FALSE(ParseCount(bad).ok()) << bad;
  }
  EXPECT_THAT(std::string(ParseCount("1,000").status().message()), HasSubstr("a whole number such as 4, 64k or 1e6"));
}

TEST(QuantityTest, Times) {
  const std::map<std::string, absl::Duration> times = {
      {"5", absl::Seconds(5)},       {"5s", absl::Seconds(5)},   {"200ms", absl::Milliseconds(200)},
      {"2m", absl::Minutes(2)},      {"2min", absl::Minutes(2)}, {"1m30s", absl::Seconds(90)},
      {"1m 30s", absl::Seconds(90)}, {"1h", absl::Hours(1)},     {"0.5 s", absl::Milliseconds(500)},
      {"1e3ms", absl::Seconds(1)},   {"1d", absl::Hours(24)},    {"10us", absl::Microseconds(10)}};
  for (const auto& [text, time] : times) {
    const absl::StatusOr<absl::Duration> read = ParseTime(text, absl::Seconds(1));
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_LT(absl::AbsDuration(*read - time), absl::Nanoseconds(1)) << text;
  }
  EXPECT_EQ(*ParseTime("5", absl::Milliseconds(1)), absl::Milliseconds(5));
  for (const char* bad : {"", "s", "5x", "5 M", "1m30", "5s-3s", "inf", "1:30", "five"}) {
    EXPECT_FALSE(ParseTime(bad, absl::Seconds(1)).ok()) << bad;
  }
  EXPECT_THAT(std::string(ParseTime("5", std::nullopt).status().message()), HasSubstr("with its unit"));
}

TEST(QuantityTest, Rates) {
  const std::map<std::string, double> rates = {
      {"100", 1e8},       {"100M", 1e8},   {"100Mbit/s", 1e8}, {"100 Mbit/s", 1e8},   {"100Mbps", 1e8},
      {"100mbps", 1e8},   {"1G", 1e9},     {"1Gbit", 1e9},     {"1Gb/s", 1e9},        {"0.5Gbps", 5e8},
      {"64kbit/s", 64e3}, {"10MB/s", 8e7}, {"1.25GBps", 1e10}, {"1000000bit/s", 1e6}, {"1Mibit/s", 1048576.0}};
  for (const auto& [text, bps] : rates) {
    const absl::StatusOr<double> read = ParseBitsPerSecond(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_DOUBLE_EQ(*read, bps) << text;
  }
  for (const char* bad : {"", "Mbit", "100X", "100MB", "100 per second", "fast"}) {
    EXPECT_FALSE(ParseBitsPerSecond(bad).ok()) << bad;
  }
}

TEST(QuantityTest, ADecimalNumberIsAllOfItsText) {
  EXPECT_EQ(ParseDecimal("16"), 16);
  EXPECT_EQ(ParseDecimal("-1.5e3"), -1500);
  EXPECT_EQ(ParseDecimal("+.5"), 0.5);
  for (const char* text : {"0x10", "0b1", "0o7", "inf", "nan", "1e999", "1_000", "1,5", "5s", "", "-", "1e"}) {
    EXPECT_EQ(ParseDecimal(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace banyan
