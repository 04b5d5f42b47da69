#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "precision/audit/route_audit.h"
#include "precision/profile/binding_proposal.h"
#include "precision/samples/model_tensors.h"

namespace banyan {
namespace {

// A row of the paper's Tables 11 to 13: low-bit share and MGTR.
struct PublishedRow {
  double share;
  double ratio;
};

PrecisionBinding Bind(const std::vector<NamedShape>& tensors) {
  return ProposeBinding(tensors, LowBitFamily::kTernary, "model", "the paper");
}

// Replays a run of `rounds` in which this share of the rounds is low-bit, through an audit.
double ReplayedRatio(const PrecisionBinding& binding, double share, double bits) {
  constexpr int kRounds = 1000;
  RouteAudit audit(bits);
  const int low_bit_rounds = static_cast<int>(std::lround(share * kRounds));
  for (int round = 0; round < kRounds; ++round) {
    for (const TensorBinding& tensor : binding.tensors()) {
      std::vector<SliceRoute> slices;
      for (const SliceBinding& slice : tensor.slices) {
        const PrecisionRoute route = !slice.is_candidate      ? PrecisionRoute::kPlain
                                     : round < low_bit_rounds ? PrecisionRoute::kLowBit
                                                              : PrecisionRoute::kFallback;
        slices.push_back({slice.elements, slice.is_candidate, route, route});
      }
      audit.Record(tensor.name, slices, 0);
    }
  }
  EXPECT_EQ(audit.all().violations, 0);
  EXPECT_NEAR(audit.candidates().low_bit_share(), share, 0.001);
  return audit.all().traffic_ratio();
}

void ExpectRows(const PrecisionBinding& binding, double bits, const std::vector<PublishedRow>& rows) {
  const double candidates = static_cast<double>(binding.candidate_elements()) / static_cast<double>(binding.elements());
  for (const PublishedRow& row : rows) {
    EXPECT_NEAR(TrafficRatio(row.share, candidates, bits), row.ratio, 0.002) << row.share;
    EXPECT_NEAR(ReplayedRatio(binding, row.share, bits), row.ratio, 0.002) << row.share;
  }
}

TEST(ModelledTrafficTest, ReproducesThePapersDistilBertRows) {
  ExpectRows(Bind(DistilBertTensors()), std::log2(3.0),
             {{0.0234, 0.986},
              {0.0182, 0.989},
              {0.1354, 0.918},
              {0.7500, 0.548},
              {0.2292, 0.862},
              {0.3251, 0.804},
              {0.2274, 0.863},
              {0.2400, 0.855},
              {0.2912, 0.824},
              {0.0339, 0.980}});
}

TEST(ModelledTrafficTest, ReproducesThePapersBertBaseRow) {
  ExpectRows(Bind(BertBaseTensors()), std::log2(3.0), {{0.3027, 0.777}});
}

// The Pythia rows fit two bits alone: with log2(3) they would be 0.755 and 0.740.
TEST(ModelledTrafficTest, ReproducesThePapersPythiaRowsAtTwoBits) {
  ExpectRows(Bind(PythiaTensors(24, 2048, 50304)), 2, {{0.3021, 0.758}});
  ExpectRows(Bind(PythiaTensors(32, 4096, 50432)), 2, {{0.2917, 0.743}});
}

TEST(ModelledTrafficTest, StaticLowBitIsThePapersStaticEstimate) {
  ExpectRows(Bind(DistilBertTensors()), std::log2(3.0), {{1.0, 0.397}});
}

}  // namespace
}  // namespace banyan
