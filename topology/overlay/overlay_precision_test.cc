#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using testing::HasSubstr;

constexpr char kFiles[] = "precision: {profile: p.yaml, binding: b.yaml}\n";

absl::StatusOr<OverlayConfig> Parse(const std::string& more) {
  return ParseOverlay(absl::StrCat("nodes: [{name: a}, {name: b}]\n", more), "o.yaml");
}

std::string Error(const std::string& more) { return std::string(Parse(more).status().message()); }

TEST(OverlayPrecisionTest, NamesTwoFiles) {
  const absl::StatusOr<OverlayConfig> overlay = Parse(kFiles);
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  EXPECT_EQ(overlay->precision.profile, "p.yaml");
  EXPECT_EQ(overlay->precision.binding, "b.yaml");
  EXPECT_EQ(Parse("")->precision.profile, "");
}

TEST(OverlayPrecisionTest, BothAreNeeded) {
  EXPECT_THAT(Error("precision: {profile: p.yaml}\n"), HasSubstr("binding"));
  EXPECT_THAT(Error("precision: {profile: \"\", binding: b.yaml}\n"), HasSubstr("precision.profile: expected text"));
}

TEST(OverlayPrecisionTest, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_THAT(Error(absl::StrCat(kFiles, "aggregation: {op: sum}\n")), HasSubstr("o.yaml:2:12: precision: a low-bit"));
  EXPECT_THAT(Error(absl::StrCat(kFiles, "aggregation: {order: fixed}\n")), HasSubstr("aggregation.order: fixed"));
  EXPECT_THAT(Error(absl::StrCat(kFiles, "aggregation: {quorum: 0.5}\n")), HasSubstr("remove aggregation.quorum"));
  EXPECT_THAT(Error(absl::StrCat(kFiles, "compression: {codec: fp16}\n")), HasSubstr("remove compression"));
}

}  // namespace
}  // namespace banyan
