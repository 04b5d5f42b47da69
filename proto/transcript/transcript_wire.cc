#include "proto/transcript/transcript_wire.h"

#include <array>
#include <climits>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/field_wire.h"
#include "proto/wire.h"

namespace banyan {
namespace {

// What an Entry is, by its number in transcript.proto. A message of the scheduler is one whole header frame.
using OwnEntry = std::variant<TranscriptStart, TranscriptBound, TranscriptEncoding, TranscriptCut, TranscriptCall,
                              TranscriptLeftOut, TranscriptComplete, TranscriptEpoch>;
constexpr std::array<MessageKind, std::variant_size_v<OwnEntry>> kKinds = {{{1, "start"},
                                                                            {3, "bound"},
                                                                            {4, "encoding"},
                                                                            {5, "cut"},
                                                                            {6, "call"},
                                                                            {7, "left_out"},
                                                                            {8, "complete"},
                                                                            {9, "epoch"}}};
constexpr int kMessage = 2;

std::string EncodeEntry(const TranscriptEntry& entry) {
  return std::visit(
      [](const auto& from) {
        if constexpr (std::is_constructible_v<Message, decltype(from)>) {
          return SealEnvelope(kMessage, EncodeMessage(from));
        } else {
          return EncodeOneOf(OwnEntry(from), kKinds);
        }
      },
      entry);
}

// Reads a message of the scheduler.
TranscriptEntry ReadMessage(absl::string_view bytes, FieldReader fields) {
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

TranscriptEntry ReadEntry(absl::string_view bytes, FieldReader fields) {
  const Enveloped envelope = OpenEnvelope(bytes);
  if (envelope.number == kMessage) return ReadMessage(envelope.body, fields);
  const MessageKind* const kind = KindOfNumber(kKinds, envelope.number);
  if (kind == nullptr) {
    fields.Refuse("entry", "one that this program knows", "another one");
    return TranscriptStart();
  }
  OwnEntry entry;
  ReadOneOf(envelope, kKinds, fields.Within(kind->name), entry);
  return std::visit([](auto&& read) { return TranscriptEntry(std::move(read)); }, std::move(entry));
}

}  // namespace

std::string EncodeTranscript(const std::vector<TranscriptEntry>& entries) {
  std::string record;
  for (const TranscriptEntry& entry : entries) record += SealEnvelope(1, EncodeEntry(entry));
  return record;
}

absl::StatusOr<std::vector<TranscriptEntry>> DecodeTranscript(absl::string_view record) {
  FieldIndex index;
  if (record.size() > INT_MAX || !index.Parse(record)) {
    return absl::InvalidArgumentError("expected a record of a transcript, got bytes that are none");
  }
  absl::Status error;
  const WireLimits limits;
  const FieldReader fields(limits, error);
  std::vector<TranscriptEntry> entries;
  index.Each(1, [&](absl::string_view bytes) {
    if (!error.ok()) return;
    entries.push_back(ReadEntry(bytes, fields.Within("entries", static_cast<int>(entries.size()))));
  });
  if (!error.ok()) return error;
  return entries;
}

}  // namespace banyan
