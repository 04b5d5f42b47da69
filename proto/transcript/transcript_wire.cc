#include "proto/transcript/transcript_wire.h"

#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/field_reader.h"
#include "proto/transcript/transcript.pb.h"
#include "proto/wire.h"

namespace banyan {
namespace {

void Write(const TranscriptStart& from, transcript::Entry& to) {
  to.mutable_start()->set_format(from.format);
  to.mutable_start()->set_node(from.node);
  to.mutable_start()->set_version(from.version);
}

void Write(const TranscriptBound& from, transcript::Entry& to) {
  to.mutable_bound()->set_key(from.key.value());
  to.mutable_bound()->set_round(from.round.value());
  to.mutable_bound()->set_policy(from.policy.value());
}

void Write(const TranscriptEncoding& from, transcript::Entry& entry) {
  transcript::Encoding& to = *entry.mutable_encoding();
  to.set_key(from.key.value());
  to.set_round(from.round.value());
  to.set_chunk(from.chunk.value());
  to.set_is_result(from.half == Half::kBroadcast);
  to.set_ratio(from.choice.ratio);
  to.set_share(from.choice.share);
  to.set_is_light(from.choice.is_light);
}

void Write(const TranscriptCut& from, transcript::Entry& entry) {
  transcript::Cut& to = *entry.mutable_cut();
  to.set_key(from.key.value());
  to.set_round(from.round.value());
  to.set_chunk(from.chunk.value());
  to.set_frames(from.frames);
}

void Write(const TranscriptCall& from, transcript::Entry& to) {
  to.mutable_call()->set_worker(from.worker.value());
  to.mutable_call()->set_kind(static_cast<transcript::CallKind>(from.kind));
  to.mutable_call()->set_key(from.key.value());
}

void Write(const TranscriptLeftOut& from, transcript::Entry& to) {
  to.mutable_left_out()->set_key(from.key.value());
  to.mutable_left_out()->set_round(from.round.value());
}

void Write(const TranscriptComplete& from, transcript::Entry& to) {
  to.mutable_complete()->set_key(from.key.value());
  to.mutable_complete()->set_round(from.round.value());
  to.mutable_complete()->set_hash(from.hash);
}

void Write(const TranscriptEpoch& from, transcript::Entry& to) { to.mutable_epoch()->set_epoch(from.epoch.value()); }

TranscriptStart Read(const transcript::Start& from, FieldReader fields) {
  fields.Expect(from.format() <= kTranscriptFormat && from.format() > 0, "format",
                absl::StrCat("1 to ", kTranscriptFormat, ", which this program reads"),
                absl::StrCat(from.format(), ", written by Banyan ", from.version()));
  return {from.format(), fields.Name("node", from.node()), fields.Text("version", from.version())};
}

TranscriptBound Read(const transcript::Bound& from, FieldReader fields) {
  return {fields.NonZero<KeyId>("key", from.key()), Round(from.round()),
          fields.NonZero<PolicyVersion>("policy", from.policy())};
}

TranscriptEncoding Read(const transcript::Encoding& from, FieldReader fields) {
  // Nothing is kept of a chunk by 0.
  constexpr double kLeast = 1e-300;
  return {fields.NonZero<KeyId>("key", from.key()),
          Round(from.round()),
          ChunkIndex(from.chunk()),
          from.is_result() ? Half::kBroadcast : Half::kReduce,
          {fields.FiniteBetween("ratio", from.ratio(), kLeast, 1),
           fields.FiniteBetween("share", from.share(), kLeast, 1), from.is_light()}};
}

TranscriptCut Read(const transcript::Cut& from, FieldReader fields) {
  const auto most = static_cast<uint32_t>(fields.limits().max_frames);
  return {fields.NonZero<KeyId>("key", from.key()), Round(from.round()), ChunkIndex(from.chunk()),
          fields.Between("frames", from.frames(), 1u, most)};
}

TranscriptCall Read(const transcript::Call& from, FieldReader fields) {
  return {WorkerId(from.worker()), fields.OneOf("kind", from.kind(), TranscriptCall::Kind::kDeath), KeyId(from.key())};
}

TranscriptLeftOut Read(const transcript::LeftOut& from, FieldReader fields) {
  return {fields.NonZero<KeyId>("key", from.key()), Round(from.round())};
}

TranscriptComplete Read(const transcript::Complete& from, FieldReader fields) {
  return {fields.NonZero<KeyId>("key", from.key()), Round(from.round()), from.hash()};
}

TranscriptEpoch Read(const transcript::EpochBegun& from, FieldReader fields) {
  return {fields.NonZero<Epoch>("epoch", from.epoch())};
}

// Reads a message of the scheduler.
TranscriptEntry ReadMessage(const std::string& bytes, FieldReader fields) {
  absl::StatusOr<Message> message = DecodeMessage(bytes, {});
  if (!message.ok()) {
    fields.Refuse("message", "one that decodes", message.status().message());
    return TranscriptStart();
  }
  if (auto* joined = std::get_if<JoinAccepted>(&*message)) return std::move(*joined);
  if (auto* keys = std::get_if<KeysAssigned>(&*message)) return std::move(*keys);
  if (auto* policy = std::get_if<PolicyPublished>(&*message)) return std::move(*policy);
  fields.Refuse("message", "JoinAccepted, KeysAssigned or PolicyPublished", "another one");
  return TranscriptStart();
}

TranscriptEntry ReadEntry(const transcript::Entry& from, FieldReader fields) {
  switch (from.entry_case()) {
    case transcript::Entry::kStart:
      return Read(from.start(), fields.Within("start"));
    case transcript::Entry::kMessage:
      return ReadMessage(from.message(), fields);
    case transcript::Entry::kBound:
      return Read(from.bound(), fields.Within("bound"));
    case transcript::Entry::kEncoding:
      return Read(from.encoding(), fields.Within("encoding"));
    case transcript::Entry::kCut:
      return Read(from.cut(), fields.Within("cut"));
    case transcript::Entry::kCall:
      return Read(from.call(), fields.Within("call"));
    case transcript::Entry::kLeftOut:
      return Read(from.left_out(), fields.Within("left_out"));
    case transcript::Entry::kComplete:
      return Read(from.complete(), fields.Within("complete"));
    case transcript::Entry::kEpoch:
      return Read(from.epoch(), fields.Within("epoch"));
    case transcript::Entry::ENTRY_NOT_SET:
      break;
  }
  fields.Refuse("entry", "one that this program knows", "another one");
  return TranscriptStart();
}

}  // namespace

std::string EncodeTranscript(const std::vector<TranscriptEntry>& entries) {
  transcript::Record record;
  for (const TranscriptEntry& entry : entries) {
    transcript::Entry& to = *record.add_entries();
    std::visit(
        [&to](const auto& from) {
          if constexpr (std::is_constructible_v<Message, decltype(from)>) {
            to.set_message(EncodeMessage(from));
          } else {
            Write(from, to);
          }
        },
        entry);
  }
  return record.SerializeAsString();
}

absl::StatusOr<std::vector<TranscriptEntry>> DecodeTranscript(absl::string_view record) {
  transcript::Record from;
  if (!from.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    return absl::InvalidArgumentError("expected a record of a transcript, got bytes that are none");
  }
  absl::Status error;
  const WireLimits limits;
  const FieldReader fields(limits, error);
  std::vector<TranscriptEntry> entries;
  for (int i = 0; i < from.entries_size() && error.ok(); ++i) {
    entries.push_back(ReadEntry(from.entries(i), fields.Within("entries", i)));
  }
  if (!error.ok()) return error;
  return entries;
}

}  // namespace banyan
