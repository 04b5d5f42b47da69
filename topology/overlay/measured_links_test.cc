#include "topology/overlay/measured_links.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

NetworkView NetworkOf(absl::string_view table) {
  const absl::StatusOr<std::string> text = OverlayOfMeasurements(table, "m.csv");
  EXPECT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(*text, "made");
  EXPECT_TRUE(overlay.ok()) << overlay.status() << "\n" << *text;
  return MakeNetworkView(*overlay);
}

std::string FaultOf(absl::string_view table) {
  const absl::StatusOr<std::string> text = OverlayOfMeasurements(table, "m.csv");
  EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(text.status().message());
}

TEST(MeasuredLinksTest, BothWaysOfALinkHaveTheirRates) {
  const NetworkView view = NetworkOf("berlin,oslo,80,20\noslo,berlin,60,24\nberlin,rome,30,40\n");
  ASSERT_EQ(view.nodes().size(), 3u);
  const NodeId berlin = view.FindNodeByName("berlin")->id;
  const NodeId oslo = view.FindNodeByName("oslo")->id;
  EXPECT_EQ(view.FindLink(berlin, oslo)->throughput_bps, 80e6);
  EXPECT_EQ(view.FindLink(oslo, berlin)->throughput_bps, 60e6);
  EXPECT_EQ(view.FindLink(oslo, berlin)->delay, absl::Milliseconds(11)) << "the mean of half of the round trips";
  const NodeId rome = view.FindNodeByName("rome")->id;
  EXPECT_EQ(view.FindLink(rome, berlin)->throughput_bps, 30e6) << "only measured there";
  EXPECT_EQ(view.FindLink(oslo, rome), nullptr);
}

TEST(MeasuredLinksTest, AHeaderNamesTheColumns) {
  const NetworkView view = NetworkOf("# with iperf3\nMbps; delay_ms; to; from\n\n10; 7; b; a\n20; 9; a; b # late\n");
  EXPECT_EQ(view.FindLink(NodeId(1), NodeId(2))->throughput_bps, 10e6);
  EXPECT_EQ(view.FindLink(NodeId(2), NodeId(1))->throughput_bps, 20e6);
  EXPECT_EQ(view.FindLink(NodeId(1), NodeId(2))->delay, absl::Milliseconds(8));
}

TEST(MeasuredLinksTest, SpacesTabsAndQuotesDo) {
  EXPECT_EQ(NetworkOf("a  b 10\r\n").FindLink(NodeId(1), NodeId(2))->throughput_bps, 10e6);
  EXPECT_EQ(NetworkOf("\"a\"\t\"b\"\t10\t4\n").FindLink(NodeId(1), NodeId(2))->delay, absl::Milliseconds(2));
}

TEST(MeasuredLinksTest, AMatrixMayNameANodeWithItself) {
  EXPECT_EQ(NetworkOf("a,a,90000,0\na,b,10,1\nb,b,90000,0\n").links().size(), 2u);
}

TEST(MeasuredLinksTest, WhatIsNoTableIsRefusedWithItsLine) {
  EXPECT_THAT(FaultOf(""), HasSubstr("there is none"));
  EXPECT_THAT(FaultOf("a,b,10,1\na,b,10,1\n"), HasSubstr("m.csv:2: expected each way once, got a to b again"));
  EXPECT_THAT(FaultOf("a,b,fast,1\n"), HasSubstr("m.csv:1: expected a rate above 0 in Mbit/s, got 'fast'"));
  EXPECT_THAT(FaultOf("a,b,-1,1\n"), HasSubstr("got '-1'"));
  EXPECT_THAT(FaultOf("a,b,10,nan\n"), HasSubstr("expected milliseconds, got 'nan'"));
  EXPECT_THAT(FaultOf("a,b\n"), HasSubstr("expected 4 columns, got 2"));
  EXPECT_THAT(FaultOf("a,b,1e12,1\n"), HasSubstr("got '1e12'"));
  EXPECT_THAT(FaultOf("a,b,inf,1\n"), HasSubstr("got 'inf'"));
  EXPECT_THAT(FaultOf("a,b,10,1e9\n"), HasSubstr("expected milliseconds, got '1e9'"));
  EXPECT_THAT(FaultOf("a,b,10,1\n\n# here\n\"New York\",b,1,1\n"),
              HasSubstr("m.csv:4: expected a name of 1 to 64 letters"));
  EXPECT_THAT(FaultOf("a,b,10,1,5\n"), HasSubstr("expected 4 columns, got 5"));
  EXPECT_THAT(FaultOf("\"a,b,10,1\nb,\"a,10,1\nb,a,1,1\n"), HasSubstr("m.csv:3: expected each way once"));
  EXPECT_THAT(FaultOf("a,,10,1\n"), HasSubstr("names of two nodes"));
  EXPECT_THAT(FaultOf("from,to,ms\na,b,1\n"), HasSubstr("m.csv:1: expected a header with from, to and mbps"));
}

}  // namespace
}  // namespace banyan
