#include "proto/tracing/round_records_wire.h"

#include <functional>
#include <string>
#include <utility>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/tracing/round_records.pb.h"

namespace banyan {
namespace {

using testing::HasSubstr;

Timestamp At(int64_t nanoseconds) { return Timestamp::FromNanoseconds(nanoseconds); }

NodeRecords Sample() {
  const ChunkJourney journey{Round(17), KeyId(2), ChunkIndex(3), true, NodeId(4), NodeId(5)};
  NodeRecords sample{"n5", NodeId(5), {}};
  sample.records.arrivals = {{journey, NodeId(6), 262144, At(7), At(int64_t{1} << 60)}};
  sample.records.departures = {{journey, At(8)}};
  sample.records.moments = {{RoundRecords::Step::kPolicyCame, Round(9), KeyId(10), At(11)}};
  sample.records.clocks = {{NodeId(12), At(13), absl::Nanoseconds(-14), absl::Nanoseconds(15)}};
  sample.records.left_out = 16;
  return sample;
}

// What DecodeRecords says of the sample that was changed so.
std::string FaultOf(const std::function<void(tracing::RoundRecords&)>& change) {
  tracing::RoundRecords records;
  EXPECT_TRUE(records.ParseFromString(EncodeRecords(Sample())));
  change(records);
  const absl::StatusOr<NodeRecords> decoded = DecodeRecords(records.SerializeAsString());
  return decoded.ok() ? "" : std::string(decoded.status().message());
}

TEST(RoundRecordsWireTest, WhatIsEncodedIsDecoded) {
  EXPECT_EQ(*DecodeRecords(EncodeRecords(Sample())), Sample());
  const NodeRecords empty{"n1", NodeId(1), {}};
  EXPECT_EQ(*DecodeRecords(EncodeRecords(empty)), empty);
}

TEST(RoundRecordsWireTest, RefusesWhatCannotBe) {
  EXPECT_EQ(FaultOf([](auto&) {}), "");
  const std::vector<std::pair<std::string, std::function<void(tracing::RoundRecords&)>>> cases = {
      {"format 1, got format 2", [](auto& r) { r.set_format(2); }},
      {"name", [](auto& r) { r.set_name(""); }},
      {"node", [](auto& r) { r.set_node(0); }},
      {"arrivals[0].journey.key", [](auto& r) { r.mutable_arrivals(0)->mutable_journey()->set_key(0); }},
      {"arrivals[0].journey.key", [](auto& r) { r.mutable_arrivals(0)->clear_journey(); }},
      {"arrivals[0].journey.source", [](auto& r) { r.mutable_arrivals(0)->mutable_journey()->set_source(0); }},
      {"arrivals[0].from", [](auto& r) { r.mutable_arrivals(0)->set_from(0); }},
      {"arrivals[0].size_bytes", [](auto& r) { r.mutable_arrivals(0)->set_size_bytes(UINT64_MAX); }},
      {"arrivals[0].sent_at", [](auto& r) { r.mutable_arrivals(0)->set_sent_at(-1); }},
      {"arrivals[0].received_at", [](auto& r) { r.mutable_arrivals(0)->set_received_at(INT64_MAX); }},
      {"departures[0].journey.destination",
       [](auto& r) { r.mutable_departures(0)->mutable_journey()->set_destination(0); }},
      {"departures[0].ready_at", [](auto& r) { r.mutable_departures(0)->set_ready_at(-1); }},
      {"moments[0].step", [](auto& r) { r.mutable_moments(0)->set_step(3); }},
      {"moments[0].step", [](auto& r) { r.mutable_moments(0)->set_step(UINT32_MAX); }},
      {"moments[0].key", [](auto& r) { r.mutable_moments(0)->set_key(0); }},
      {"moments[0].at", [](auto& r) { r.mutable_moments(0)->set_at(-1); }},
      {"clocks[0].peer", [](auto& r) { r.mutable_clocks(0)->set_peer(0); }},
      {"clocks[0].at", [](auto& r) { r.mutable_clocks(0)->set_at(INT64_MAX); }},
      {"clocks[0].offset_ns", [](auto& r) { r.mutable_clocks(0)->set_offset_ns(INT64_MIN); }},
      {"clocks[0].uncertainty_ns", [](auto& r) { r.mutable_clocks(0)->set_uncertainty_ns(-1); }}};
  for (const auto& [fault, change] : cases) EXPECT_THAT(FaultOf(change), HasSubstr(fault));
}

TEST(RoundRecordsWireTest, OtherBytesAreRefusedAndDoNoHarm) {
  EXPECT_FALSE(DecodeRecords("").ok());
  EXPECT_FALSE(DecodeRecords("no records at all").ok());
  const std::string good = EncodeRecords(Sample());
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good.substr(0, random.Below(good.size() + 1));
    for (uint64_t flips = random.Below(4); flips > 0 && !bytes.empty(); --flips) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    const absl::StatusOr<NodeRecords> decoded = DecodeRecords(bytes);
    if (!decoded.ok()) continue;
    EXPECT_EQ(*DecodeRecords(EncodeRecords(*decoded)), *decoded);
  }
}

}  // namespace
}  // namespace banyan
