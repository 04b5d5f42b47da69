#include "node/replicas/replica_server.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/digest.h"
#include "node/rejection_log.h"
#include "node/state/reversed_route.h"

namespace banyan {
void ReplicaServer::OnManifestWanted(StepContext& step, const StateManifestWanted& wanted) {
  // A joiner that asks again waits for the last answer alone.
  std::erase_if(manifests_,
                [&](const Manifest& other) { return other.wanted.route.source() == wanted.route.source(); });
  if (manifests_.size() >= kMostManifests) {
    return outlet_->SendOnRoute(step, StateRefused{Reversed(wanted.route), wanted.transfer, "too many others fetch"});
  }
  manifests_.push_back({step.now, wanted, {}});
  if (manifests_.size() == 1) MakeManifests(step);
}

void ReplicaServer::MakeManifests(StepContext& step) {
  int64_t left = kBytesPerStep;
  while (!manifests_.empty() && left > 0) {
    Manifest& first = manifests_.front();
    SourceRoute back = Reversed(first.wanted.route);
    // Between two steps a round may have come to its end.
    const absl::StatusOr<ReplicaSet> set = ReplicaSet::ToGive(*replicas_, first.wanted.replica);
    if (!set.ok()) {
      outlet_->SendOnRoute(step,
                           StateRefused{std::move(back), first.wanted.transfer, std::string(set.status().message())});
      manifests_.pop_front();
      continue;
    }
    for (ChunkIndex chunk(first.hashes.size()); left > 0 && set->layout().Has(chunk); chunk = chunk.Next()) {
      first.hashes.push_back(DigestBytes(set->ReadChunk(*replicas_, chunk).bytes(), 0));
      left -= set->layout().SizeOf(chunk);
    }
    if (first.hashes.size() < set->layout().chunks()) return;
    outlet_->SendOnRoute(step,
                         StateManifest{std::move(back), first.wanted.transfer, set->Shape(), std::move(first.hashes)});
    manifests_.pop_front();
  }
}

void ReplicaServer::OnRequest(StepContext& step, const StateRequest& request) {
  const absl::StatusOr<ReplicaSet> set = ReplicaSet::ToGive(*replicas_, request.replica);
  if (!set.ok()) {
    return outlet_->SendOnRoute(
        step, StateRefused{Reversed(request.route), request.transfer, std::string(set.status().message())});
  }
  std::vector<ChunkIndex> chunks;
  for (const StateRequest::Run& run : request.chunks) {
    for (ChunkIndex chunk = run.first; chunk <= run.last; chunk = chunk.Next()) {
      if (!set->layout().Has(chunk) || chunks.size() >= kMostChunks) {
        return step.rejections.Reject("request for chunks of a replica that there are not, or too many",
                                      absl::StrCat("from node ", request.route.source().value()), step.actions);
      }
      chunks.push_back(chunk);
    }
  }
  for (const ChunkIndex chunk : chunks) SendChunk(step, request, chunk, set->ReadChunk(*replicas_, chunk));
}

void ReplicaServer::SendChunk(StepContext& step, const StateRequest& request, ChunkIndex chunk, Buffer bytes) {
  ChunkMessage message;
  message.id = StateChunkId(request.transfer, request.attempt, chunk);
  message.route = Reversed(request.route);
  message.elements = bytes.size_bytes();
  message.frames = {{CodecId::kFp32, 0, bytes.size_bytes(), bytes.size_bytes()}};
  outlet_->SendStateChunk(step, std::move(message), {std::move(bytes)});
}

}  // namespace banyan
