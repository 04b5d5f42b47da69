#include "proto/tracing/round_records_wire.h"

#include <climits>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/wire_limits.h"

namespace banyan {
namespace {

void Write(const ChunkJourney& from, tracing::Journey& to) {
  to.set_round(from.round.value());
  to.set_key(from.key.value());
  to.set_chunk(from.chunk.value());
  to.set_is_result(from.is_result);
  to.set_source(from.source.value());
  to.set_destination(from.destination.value());
}

void Write(const RoundRecords::Arrival& from, tracing::Arrival& to) {
  Write(from.journey, *to.mutable_journey());
  to.set_from(from.from.value());
  to.set_size_bytes(static_cast<uint64_t>(from.size_bytes));
  to.set_sent_at(from.sent_at.nanoseconds());
  to.set_received_at(from.received_at.nanoseconds());
}

void Write(const RoundRecords::Departure& from, tracing::Departure& to) {
  Write(from.journey, *to.mutable_journey());
  to.set_ready_at(from.ready_at.nanoseconds());
}

void Write(const RoundRecords::Moment& from, tracing::Moment& to) {
  to.set_step(static_cast<uint32_t>(from.step));
  to.set_round(from.round.value());
  to.set_key(from.key.value());
  to.set_at(from.at.nanoseconds());
}

void Write(const RoundRecords::ClockSample& from, tracing::ClockSample& to) {
  to.set_peer(from.peer.value());
  to.set_at(from.at.nanoseconds());
  to.set_offset_ns(absl::ToInt64Nanoseconds(from.offset));
  to.set_uncertainty_ns(absl::ToInt64Nanoseconds(from.uncertainty));
}

ChunkJourney Read(FieldReader reader, const tracing::Journey& from) {
  return {Round(from.round()),
          reader.NonZero<KeyId>("key", from.key()),
          ChunkIndex(from.chunk()),
          from.is_result(),
          reader.NonZero<NodeId>("source", from.source()),
          reader.NonZero<NodeId>("destination", from.destination())};
}

RoundRecords::Arrival Read(FieldReader reader, const tracing::Arrival& from) {
  RoundRecords::Arrival to;
  to.journey = Read(reader.Within("journey"), from.journey());
  to.from = reader.NonZero<NodeId>("from", from.from());
  to.size_bytes = static_cast<int64_t>(reader.Between<uint64_t>("size_bytes", from.size_bytes(), 0, INT64_MAX / 1024));
  to.sent_at = reader.Time("sent_at", from.sent_at());
  to.received_at = reader.Time("received_at", from.received_at());
  return to;
}

RoundRecords::Departure Read(FieldReader reader, const tracing::Departure& from) {
  return {Read(reader.Within("journey"), from.journey()), reader.Time("ready_at", from.ready_at())};
}

RoundRecords::Moment Read(FieldReader reader, const tracing::Moment& from) {
  const int step = static_cast<int>(std::min<uint32_t>(from.step(), INT_MAX));
  return {reader.OneOf("step", step, RoundRecords::Step::kCompleted), Round(from.round()),
          reader.NonZero<KeyId>("key", from.key()), reader.Time("at", from.at())};
}

RoundRecords::ClockSample Read(FieldReader reader, const tracing::ClockSample& from) {
  // Clocks start anywhere, within a time since the start of a machine.
  constexpr int64_t kMostNs = INT64_MAX / 4;
  const int64_t offset_ns = reader.Between<int64_t>("offset_ns", from.offset_ns(), -kMostNs, kMostNs);
  return {reader.NonZero<NodeId>("peer", from.peer()), reader.Time("at", from.at()), absl::Nanoseconds(offset_ns),
          reader.Duration("uncertainty_ns", from.uncertainty_ns(), absl::ZeroDuration())};
}

template <typename From, typename To>
void ReadAll(const FieldReader& reader, const char* field, const From& from, std::vector<To>& to) {
  to.reserve(static_cast<size_t>(from.size()));
  for (int i = 0; i < from.size(); ++i) to.push_back(Read(reader.Within(field, i), from[i]));
}

}  // namespace

void Write(const NodeRecords& from, tracing::RoundRecords& to) {
  to.set_format(kRoundRecordsFormat);
  to.set_name(from.name);
  to.set_node(from.node.value());
  for (const auto& row : from.records.arrivals) Write(row, *to.add_arrivals());
  for (const auto& row : from.records.departures) Write(row, *to.add_departures());
  for (const auto& row : from.records.moments) Write(row, *to.add_moments());
  for (const auto& row : from.records.clocks) Write(row, *to.add_clocks());
  to.set_left_out(from.records.left_out);
}

NodeRecords ReadRecords(const tracing::RoundRecords& from, FieldReader reader) {
  NodeRecords to;
  to.name = reader.Name("name", from.name());
  to.node = reader.NonZero<NodeId>("node", from.node());
  ReadAll(reader, "arrivals", from.arrivals(), to.records.arrivals);
  ReadAll(reader, "departures", from.departures(), to.records.departures);
  ReadAll(reader, "moments", from.moments(), to.records.moments);
  ReadAll(reader, "clocks", from.clocks(), to.records.clocks);
  to.records.left_out = from.left_out();
  return to;
}

std::string EncodeRecords(const NodeRecords& from) {
  tracing::RoundRecords to;
  Write(from, to);
  return to.SerializeAsString();
}

absl::StatusOr<NodeRecords> DecodeRecords(absl::string_view bytes) {
  tracing::RoundRecords from;
  if (bytes.size() > INT_MAX || !from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("expected the records of traced rounds, got other bytes, or not all of them");
  }
  if (from.format() != kRoundRecordsFormat) {
    return absl::InvalidArgumentError(absl::StrCat("expected records of traced rounds in format ", kRoundRecordsFormat,
                                                   ", got format ", from.format()));
  }
  const WireLimits limits;
  absl::Status status;
  NodeRecords to = ReadRecords(from, FieldReader(limits, status));
  if (!status.ok()) return status;
  return to;
}

}  // namespace banyan
