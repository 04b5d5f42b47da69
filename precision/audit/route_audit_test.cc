#include "precision/audit/route_audit.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

constexpr PrecisionRoute kL = PrecisionRoute::kLowBit;
constexpr PrecisionRoute kF = PrecisionRoute::kFallback;
constexpr PrecisionRoute kP = PrecisionRoute::kPlain;

TEST(RouteAuditTest, CountsRoutesByKeyAndMixedSlices) {
  RouteAudit audit(1);
  EXPECT_EQ(audit.Record("bucket", {{96, true, kL, kL}, {32, false, kP, kP}}, 40), 0);
  EXPECT_EQ(audit.Record("bucket", {{96, true, kF, kF}, {32, false, kP, kP}}, 512), 0);
  EXPECT_EQ(audit.Record("bucket", {{96, true, kF, kF}, {32, false, kP, kP}}, 512), 0);
  EXPECT_EQ(audit.Record("weight", {{64, true, kL, kL}}, 8), 0);
  EXPECT_EQ(audit.Record("bias", {{10, false, kP, kP}}, 40), 0);
  const RouteCounts& bucket = audit.keys().at("bucket");
  EXPECT_EQ(bucket.low_bit, 1);
  EXPECT_EQ(bucket.fallback, 2);
  EXPECT_EQ(bucket.mixed, 1);
  EXPECT_EQ(audit.keys().at("weight").mixed, 0);
  const RouteAudit::Slices slices = audit.SlicesOf("bucket");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices.at(0).low_bit, 1);
  EXPECT_EQ(slices.at(0).fallback, 2);
  EXPECT_EQ(slices.at(96).plain, 3);
  EXPECT_EQ(slices.at(96).elements, 32);
  EXPECT_TRUE(audit.SlicesOf("weight").empty());
  EXPECT_EQ(audit.candidates().rounds(), 4);
  EXPECT_DOUBLE_EQ(audit.candidates().low_bit_share(), 0.5);
  EXPECT_DOUBLE_EQ(audit.candidates().veto_share(), 0.5);
  EXPECT_EQ(audit.all().plain, 1);
  EXPECT_EQ(audit.all().sent_bytes, 1112);
  EXPECT_DOUBLE_EQ(audit.all().modelled_bits, 96 + 32 * 32 + 2 * 128 * 32 + 64 + 10 * 32);
  EXPECT_DOUBLE_EQ(audit.all().full_bits, 32 * (3 * 128 + 64 + 10));
}

TEST(RouteAuditTest, EveryDisagreementIsAViolation) {
  RouteAudit audit(1);
  EXPECT_EQ(audit.Record("a", {{1, true, kF, kL}}, 0), 1);   // low-bit under a veto
  EXPECT_EQ(audit.Record("a", {{1, true, kL, kP}}, 0), 1);   // plain where low-bit was decided
  EXPECT_EQ(audit.Record("a", {{1, false, kL, kL}}, 0), 1);  // decided so for what is no candidate
  EXPECT_EQ(audit.Record("a", {{1, true, kL, kF}, {1, false, kP, kL}}, 0), 2);
  EXPECT_EQ(audit.all().violations, 5);
}

TEST(RouteAuditTest, NothingIsFullTraffic) {
  const RouteAudit audit(2);
  EXPECT_EQ(audit.all().traffic_ratio(), 1);
  EXPECT_EQ(audit.all().low_bit_share(), 0);
  EXPECT_EQ(audit.all().veto_share(), 0);
}

}  // namespace
}  // namespace banyan
