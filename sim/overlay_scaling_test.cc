#include "gtest/gtest.h"
#include "sim/overlays.h"

namespace banyan {
namespace {

OverlayConfig ThreeNodes() {
  OverlayConfig overlay;
  for (const char* name : {"a", "b", "c"}) overlay.nodes.emplace_back().name = name;
  overlay.nodes[0].up_cap_bps = 8e6;
  overlay.nodes[1].address = "tcp://10.0.0.2:1";
  overlay.transport.window_bytes = 1000;
  return overlay;
}

TEST(OverlayScalingTest, EverythingInBytesIsDivided) {
  const OverlayConfig scaled = ScaleOverlay(ThreeNodes(), 64);
  EXPECT_EQ(scaled.chunks.max_elements, 1024);
  EXPECT_EQ(*scaled.transport.window_bytes, 15);
  EXPECT_EQ(scaled.transport.bytes_per_connection, 1024);
  EXPECT_EQ(scaled.awareness.probe_chunk_bytes, 625);
  EXPECT_EQ(scaled.transport.early_bytes, 1000000);
  EXPECT_EQ(*scaled.nodes[0].up_cap_bps, 125000);
  EXPECT_EQ(scaled.compression.least_elements, 16);
  ASSERT_EQ(scaled.links->size(), 3u);
  EXPECT_EQ((*scaled.links)[0].a_to_b_bps, kDefaultLinkBps / 64);
}

TEST(OverlayScalingTest, ARoundThatCarriesLessMayCostLess) {
  OverlayConfig overlay = ThreeNodes();
  EXPECT_FALSE(ScaleOverlay(overlay, 64).topology.budget_per_round.has_value());
  overlay.topology.budget_per_round = 32;
  EXPECT_EQ(ScaleOverlay(overlay, 64).topology.budget_per_round, 0.5);
}

// The bytes of a packet are the scale's part of one, and still as many are lost of a job's.
TEST(OverlayScalingTest, EachByteIsLostAsOftenAsThoseThatItStandsFor) {
  OverlayConfig overlay = ScaleOverlay(ThreeNodes(), 1);
  (*overlay.links)[0].loss_fraction = 1e-4;
  EXPECT_DOUBLE_EQ((*ScaleOverlay(overlay, 64).links)[0].loss_fraction, 64e-4);
  EXPECT_LT((*ScaleOverlay(overlay, 1 << 20).links)[0].loss_fraction, 1);
}

TEST(OverlayScalingTest, WhatIsSmallerThanTheScaleStaysAboveZero) {
  const OverlayConfig scaled = ScaleOverlay(ThreeNodes(), 1 << 20);
  EXPECT_EQ(scaled.chunks.max_elements, 1);
  EXPECT_EQ(*scaled.transport.window_bytes, 1);
}

TEST(OverlayScalingTest, AddressesAreGivenWhereThereAreNone) {
  const OverlayConfig scaled = ScaleOverlay(ThreeNodes(), 1);
  EXPECT_EQ(scaled.nodes[1].address, "tcp://10.0.0.2:1");
  EXPECT_FALSE(scaled.nodes[0].address.empty());
  EXPECT_NE(scaled.nodes[0].address, scaled.nodes[2].address);
  EXPECT_FALSE(scaled.scheduler.address.empty());
}

}  // namespace
}  // namespace banyan
