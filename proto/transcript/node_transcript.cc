#include "proto/transcript/node_transcript.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/compression/compression_config.h"
#include "proto/transcript/transcript_wire.h"

namespace banyan {
namespace {

// Takes the entries of a transcript up, one after the other.
class Reader {
 public:
  absl::Status Take(TranscriptEntry entry) {
    const bool is_start = std::holds_alternative<TranscriptStart>(entry);
    if (is_start == has_start_) {
      return is_start ? absl::FailedPreconditionError(absl::StrCat(
                            transcript_.start.node, " was started again: only one start of a node can be replayed"))
                      : absl::InvalidArgumentError("expected the start of a transcript first, got something else");
    }
    return std::visit([this](auto& concrete) { return On(concrete); }, entry);
  }

  absl::StatusOr<NodeTranscript> Finish() && {
    if (!has_start_) return absl::InvalidArgumentError("the transcript is empty: the node has never joined a job");
    if (transcript_.joined.node == NodeId()) return absl::InvalidArgumentError("the node has never joined a job");
    return std::move(transcript_);
  }

 private:
  absl::Status On(TranscriptStart& start) {
    has_start_ = true;
    transcript_.start = std::move(start);
    return absl::OkStatus();
  }
  absl::Status On(JoinAccepted& joined) {
    // Said again after each reconnect.
    if (transcript_.joined.node == NodeId()) transcript_.joined = std::move(joined);
    return CheckReplayable(transcript_.joined.config);
  }
  absl::Status On(const KeysAssigned& assigned) {
    for (const KeySlice& row : assigned.keys) {
      if (row.key.value() <= transcript_.keys.size()) continue;
      if (row.key.value() != transcript_.keys.size() + 1) {
        return absl::InvalidArgumentError(absl::StrCat("expected row ", transcript_.keys.size() + 1,
                                                       " of the key table next, got row ", row.key.value()));
      }
      transcript_.keys.push_back(row);
    }
    return absl::OkStatus();
  }
  absl::Status On(const PolicyPublished& published) {
    transcript_.policies.insert_or_assign(published.slice.version, published.slice);
    return absl::OkStatus();
  }
  absl::Status On(const TranscriptBound& bound) {
    if (!transcript_.policies.contains(bound.policy)) {
      return absl::InvalidArgumentError(absl::StrCat("key ", bound.key.value(), " round ", bound.round.value(),
                                                     ": policy ", bound.policy.value(), " is not in the transcript"));
    }
    transcript_.bound[bound.key].insert_or_assign(bound.round, bound.policy);
    return absl::OkStatus();
  }
  absl::Status On(const TranscriptEncoding& encoding) {
    transcript_.encodings[{encoding.key, encoding.round, encoding.chunk, encoding.half}] = encoding.choice;
    return absl::OkStatus();
  }
  absl::Status On(const TranscriptCut& cut) {
    transcript_.cuts[{cut.key, cut.round, cut.chunk, Half::kReduce}] = cut.frames;
    return absl::OkStatus();
  }
  absl::Status On(const TranscriptCall& call) {
    if (call.kind == TranscriptCall::Kind::kDeath) {
      return absl::FailedPreconditionError(absl::StrCat("worker ", call.worker.value(), " of ", transcript_.start.node,
                                                        " died: what it had pushed cannot be told any more"));
    }
    transcript_.events.emplace_back(call);
    return absl::OkStatus();
  }
  absl::Status On(const TranscriptLeftOut& left_out) {
    transcript_.events.emplace_back(left_out);
    return absl::OkStatus();
  }
  absl::Status On(const TranscriptComplete& complete) {
    transcript_.events.emplace_back(complete);
    return absl::OkStatus();
  }
  absl::Status On(const TranscriptEpoch& epoch) {
    return absl::FailedPreconditionError(absl::StrCat("the membership changed (epoch ", epoch.epoch.value(),
                                                      "): only a job whose nodes stay the same can be replayed"));
  }

  NodeTranscript transcript_;
  bool has_start_ = false;
};

}  // namespace

std::pair<PolicyVersion, Round> NodeTranscript::PolicyOf(KeyId key, Round round) const {
  const auto of_key = bound.find(key);
  if (of_key == bound.end()) return {PolicyVersion(), round};
  const auto next = of_key->second.upper_bound(round);
  if (next == of_key->second.begin()) return {PolicyVersion(), round};
  // Of the last one nobody knows where it ended.
  const Round last = next == of_key->second.end() ? round : Round(next->first.value() - 1);
  return {std::prev(next)->second, last};
}

absl::Status CheckReplayable(const JobConfig& config) {
  if (!config.aggregation.fixed_order) {
    return absl::FailedPreconditionError(
        "sums in the order of arrival cannot be replayed to the bit: set aggregation: {order: fixed}");
  }
  if (config.low_bit.has_value()) {
    return absl::FailedPreconditionError(
        "low-bit rounds cannot be replayed, since transcripts do not say which rounds were: remove precision");
  }
  const std::vector<CompressionRule>& rules = config.compression.rules;
  const bool prunes = std::any_of(rules.begin(), rules.end(), [](const CompressionRule& rule) {
    return rule.controller == RatioControllerKind::kNetSense;
  });
  if (!prunes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "rounds of NetSenseML, which depend on when weights are registered, cannot be "
      "replayed: choose another compression.controller");
}

absl::StatusOr<NodeTranscript> ReadNodeTranscript(const std::vector<std::string>& records) {
  Reader reader;
  for (size_t i = 0; i < records.size(); ++i) {
    absl::StatusOr<std::vector<TranscriptEntry>> entries = DecodeTranscript(records[i]);
    absl::Status status = entries.status();
    for (size_t next = 0; status.ok() && next < entries->size(); ++next) {
      status = reader.Take(std::move((*entries)[next]));
    }
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat("record ", i + 1, ": ", status.message()));
  }
  return std::move(reader).Finish();
}

}  // namespace banyan
