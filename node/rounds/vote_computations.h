// The work on a low-bit round that NodeCore gives to the compute pool: casting the votes of this node's workers, adding
// up counts, deciding at the root. Each object holds shares of the buffers that it works on and touches nothing else;
// see protocol/computation.h for who owns it when.
#ifndef BANYAN_NODE_ROUNDS_VOTE_COMPUTATIONS_H_
#define BANYAN_NODE_ROUNDS_VOTE_COMPUTATIONS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "proto/precision/vote_rules.h"
#include "protocol/computation.h"
#include "topology/chunk_assignment.h"

namespace banyan {

// Turns the gradients of a node's workers into votes. Each worker is a voter of its own, with a scale for its whole
// tensor; so how a tensor is cut into chunks changes no vote.
class CastVotes : public Computation {
 public:
  // `gradients` are of one tensor, one for each worker; `ranges` are its chunks. REQUIRES: there is a gradient; nothing
  // writes one until this has finished.
  CastVotes(std::vector<Buffer> gradients, std::vector<ElementRange> ranges, const VoteRules& rules);

  void Run() override;
  int64_t size_bytes() const override;
  std::optional<ServiceKind> service() const override { return ServiceKind::kCast; }

  // After Run(): the counts of all workers, by chunk.
  const std::vector<CheckedChunk>& votes() const { return votes_; }

 private:
  std::vector<Buffer> gradients_;
  std::vector<ElementRange> ranges_;
  VoteRules rules_;
  std::vector<CheckedChunk> votes_;
};

// Adds up counts of a chunk.
class AddVotes : public Computation {
 public:
  // REQUIRES: there is one, and all are votes of one kind on as many elements.
  explicit AddVotes(std::vector<CheckedChunk> votes) : votes_(std::move(votes)) {}

  void Run() override;
  int64_t size_bytes() const override;
  std::optional<ServiceKind> service() const override { return ServiceKind::kCount; }

  // After Run().
  const CheckedChunk& sum() const { return sum_; }

 private:
  std::vector<CheckedChunk> votes_;
  CheckedChunk sum_;
};

// At the root: makes the round's one result of all votes on a chunk.
class DecideVotesOfChunk : public Computation {
 public:
  DecideVotesOfChunk(CheckedChunk votes, const VoteRules& rules) : votes_(std::move(votes)), rules_(rules) {}

  void Run() override;
  int64_t size_bytes() const override { return 2 * votes_.payload_bytes(); }
  std::optional<ServiceKind> service() const override { return ServiceKind::kCount; }

  // After Run().
  const CheckedChunk& result() const { return result_; }

 private:
  CheckedChunk votes_;
  VoteRules rules_;
  CheckedChunk result_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_VOTE_COMPUTATIONS_H_
