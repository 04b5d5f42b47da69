#include "node/service_probe.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "node/rounds/chunk_computations.h"
#include "node/votes/vote_computations.h"

namespace banyan {
namespace {

// So much work that its start counts little; 256 KiB of floats.
constexpr int64_t kSampleElements = 1 << 16;
// Votes are small: as many summands as a node with many children has.
constexpr size_t kSampleVotes = 8;

}  // namespace

void MeasureServices(StepContext& step, ComputationTable* computations, const VoteRules& rules) {
  const Buffer sample = Buffer::Allocate(kSampleElements);
  const CheckedChunk floats = EncodeChunk({.codec = CodecId::kFp32}, sample, 1);
  computations->Start<AccumulateChunk>(
      step, std::make_unique<AccumulateChunk>(Buffer(), true, std::vector<CheckedChunk>(2, floats), kSampleElements),
      [](StepContext&, AccumulateChunk&) {});
  computations->Start<CastVotes>(
      step,
      std::make_unique<CastVotes>(std::vector<Buffer>{sample},
                                  std::vector<CastVotes::Chunk>{{{0, kSampleElements}, {0, kSampleElements}}}, rules),
      [computations](StepContext& later, CastVotes& done) {
        std::vector<CheckedChunk> votes(kSampleVotes, done.votes().front());
        computations->Start<AddVotes>(later, std::make_unique<AddVotes>(std::move(votes)),
                                      [](StepContext&, AddVotes&) {});
      });
}

}  // namespace banyan
