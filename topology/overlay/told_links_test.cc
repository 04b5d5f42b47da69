#include "topology/overlay/told_links.h"

#include <cmath>

#include "gtest/gtest.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr double kTrueBps = 40e6;

OverlayConfig Ring(int nodes) {
  OverlayConfig overlay;
  overlay.links.emplace();
  for (int i = 0; i < nodes; ++i) {
    overlay.nodes.emplace_back().name = "n" + std::to_string(i);
    LinkConfig& link = overlay.links->emplace_back();
    link.a = "n" + std::to_string(i);
    link.b = "n" + std::to_string((i + 1) % nodes);
    link.a_to_b_bps = link.b_to_a_bps = kTrueBps;
    link.delay = absl::Milliseconds(15);
    link.has_rates = true;
  }
  return overlay;
}

TEST(ToldLinksTest, ReadsWhatIsTold) {
  EXPECT_EQ(ParseToldLinks("rates").value().kind, ToldLinks::Kind::kRates);
  EXPECT_EQ(ParseToldLinks("none").value().kind, ToldLinks::Kind::kNone);
  EXPECT_EQ(ParseToldLinks("nodes").value().kind, ToldLinks::Kind::kNodes);
  EXPECT_EQ(ParseToldLinks("wrong").value(), (ToldLinks{ToldLinks::Kind::kWrong, 1}));
  EXPECT_EQ(ParseToldLinks("wrong:7").value(), (ToldLinks{ToldLinks::Kind::kWrong, 7}));
  for (const char* text : {"", "wrong:", "wrong:x", "rate", "wrongly"}) EXPECT_FALSE(ParseToldLinks(text).ok()) << text;
}

TEST(ToldLinksTest, WrongRatesSpreadOverTheWholeRangeBySeed) {
  const ToldLinks wrong{ToldLinks::Kind::kWrong, 3};
  const OverlayConfig told = AsTold(Ring(200), wrong);
  int too_high = 0;
  int by_much = 0;
  for (const LinkConfig& link : *told.links) {
    for (const double rate_bps : {link.a_to_b_bps, link.b_to_a_bps}) {
      const double factor = rate_bps / kTrueBps;
      EXPECT_GE(factor, kLeastWrongFactor);
      EXPECT_LE(factor, kMostWrongFactor);
      too_high += factor > 1 ? 1 : 0;
      by_much += std::abs(std::log(factor)) > std::log(2) ? 1 : 0;
    }
    EXPECT_EQ(link.delay, absl::Milliseconds(15));
  }
  EXPECT_GT(too_high, 120);
  EXPECT_LT(too_high, 280);
  EXPECT_GT(by_much, 80);
  EXPECT_EQ(AsTold(Ring(200), wrong).links->at(5).a_to_b_bps, told.links->at(5).a_to_b_bps);
  EXPECT_NE(AsTold(Ring(200), {ToldLinks::Kind::kWrong, 4}).links->at(5).a_to_b_bps, told.links->at(5).a_to_b_bps);
}

TEST(ToldLinksTest, ForgetsRatesAndDelaysOrLinks) {
  const OverlayConfig none = AsTold(Ring(3), {ToldLinks::Kind::kNone, 1});
  ASSERT_EQ(none.links->size(), 3);
  for (const LinkConfig& link : *none.links) {
    EXPECT_FALSE(link.has_rates);
    EXPECT_EQ(link.a_to_b_bps, kDefaultLinkBps);
    EXPECT_EQ(link.delay, absl::ZeroDuration());
  }
  EXPECT_FALSE(AsTold(Ring(3), {ToldLinks::Kind::kNodes, 1}).links.has_value());
  EXPECT_EQ(AsTold(Ring(3), ToldLinks()).links->at(0).a_to_b_bps, kTrueBps);
}

}  // namespace
}  // namespace banyan
