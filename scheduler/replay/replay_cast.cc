#include "scheduler/replay/replay_cast.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// The settings that all nodes of a job have alike.
JobConfig SharedConfig(const NodeTranscript& transcript) {
  JobConfig config = transcript.joined.config;
  config.workers = 1;
  return config;
}

absl::Status CheckNodes(const std::map<NodeId, ReplayCast::Transcript>& nodes) {
  uint32_t members = 0;
  std::vector<std::string> names;
  for (const auto& [id, transcript] : nodes) {
    names.push_back(transcript->start.node);
    for (const auto& [version, slice] : transcript->policies) members = std::max(members, slice.member_count);
  }
  if (nodes.size() == members) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the job had ", members, " nodes, but these are transcripts of ",
                                                    nodes.size(), ": ", absl::StrJoin(names, ", "),
                                                    "; give that of each node"));
}

}  // namespace

absl::StatusOr<ReplayCast> ReplayCast::Create(const std::vector<Transcript>& transcripts) {
  ReplayCast cast;
  for (const Transcript& transcript : transcripts) {
    const auto [known, is_new] = cast.nodes_.emplace(transcript->joined.node, transcript);
    if (!is_new) {
      return absl::FailedPreconditionError(absl::StrCat("the transcripts of ", known->second->start.node, " and ",
                                                        transcript->start.node, " are both of node ",
                                                        transcript->joined.node.value()));
    }
    const NodeTranscript& first = *transcripts.front();
    if (SharedConfig(*transcript) != SharedConfig(first)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the transcripts of ", first.start.node, " and ", transcript->start.node,
                       " are of different jobs, or of one whose settings have changed"));
    }
    std::vector<KeySlice> rows = transcript->keys;
    if (rows.size() < cast.keys_.size()) std::swap(rows, cast.keys_);
    if (!std::equal(cast.keys_.begin(), cast.keys_.end(), rows.begin())) {
      return absl::FailedPreconditionError(absl::StrCat("the transcript of ", transcript->start.node,
                                                        " has other keys than that of ", first.start.node,
                                                        ": they are of different runs of the job"));
    }
    cast.keys_ = std::move(rows);
  }
  if (cast.nodes_.empty()) return absl::FailedPreconditionError("a replay needs the transcript of each node, got none");
  if (absl::Status status = CheckNodes(cast.nodes_); !status.ok()) return status;
  return cast;
}

const NodeTranscript* ReplayCast::Find(const std::string& name) const {
  for (const auto& [id, transcript] : nodes_) {
    if (transcript->start.node == name) return transcript.get();
  }
  return nullptr;
}

}  // namespace banyan
