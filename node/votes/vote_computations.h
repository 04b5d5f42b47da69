// The work on a low-bit round that NodeCore gives to the compute pool: casting the votes of this node's workers, adding
// up counts, deciding at the root, settling what votes have left out. Each object holds shares of the buffers that it
// works on and touches nothing else; see protocol/computation.h for who owns it when.
#ifndef BANYAN_NODE_VOTES_VOTE_COMPUTATIONS_H_
#define BANYAN_NODE_VOTES_VOTE_COMPUTATIONS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "node/votes/open_votes.h"
#include "proto/precision/vote_rules.h"
#include "protocol/computation.h"
#include "topology/chunk_assignment.h"

namespace banyan {

// Turns the gradients of a node's workers into votes. Each worker is a voter of its own, with a scale for each whole
// slice; so how a slice is cut into chunks changes no vote.
class CastVotes : public Computation {
 public:
  // A chunk to vote on, and the slice of the tensor that it is in.
  struct Chunk {
    ElementRange range;
    ElementRange slice;
  };
  // What earlier votes have left out: by chunk, then by voter. What has no voter now, the last one takes up; a buffer
  // may be empty.
  using Residuals = std::vector<std::vector<Buffer>>;

  // `gradients` are of one tensor, one for each worker; `chunks` are in its order, and those of a slice make up all of
  // it. With `residuals` these are added to the gradients, and cast() says who has voted on what. REQUIRES: there is a
  // gradient; nothing writes one, or a residual, until this has finished, and all votes of cast() are gone.
  CastVotes(std::vector<Buffer> gradients, std::vector<Chunk> chunks, const VoteRules& rules,
            std::optional<Residuals> residuals = std::nullopt);

  void Run() override;
  int64_t size_bytes() const override;
  std::optional<ServiceKind> service() const override { return ServiceKind::kCast; }

  // After Run(): the counts of all workers, by chunk.
  const std::vector<CheckedChunk>& votes() const { return votes_; }
  // Each voter's, by chunk; none without residuals. Its caller may take them.
  std::vector<std::vector<CastVote>>& cast() { return cast_; }

 private:
  // Returns what each voter offers on a chunk, by voter, without its vote.
  std::vector<CastVote> OffersOn(size_t chunk) const;
  // Casts the votes of all on the chunks of a slice, from `first` to the one before `end`.
  void CastOnSlice(size_t first, size_t end);

  std::vector<Buffer> gradients_;
  std::vector<Chunk> chunks_;
  VoteRules rules_;
  std::optional<Residuals> residuals_;
  std::vector<CheckedChunk> votes_;
  std::vector<std::vector<CastVote>> cast_;
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

// At every member whose votes are in a result: takes what they were worth from what they were cast on. That is what
// they leave out, to be offered again; so the result times its voters and what all of them leave is what was offered.
// What is no finite number drops out, as in compression/error_feedback.h.
class SettleVotes : public Computation {
 public:
  // REQUIRES: the votes are on the elements of `result`.
  SettleVotes(std::vector<CastVote> votes, CheckedChunk result)
      : votes_(std::move(votes)), result_(std::move(result)) {}

  void Run() override;
  int64_t size_bytes() const override;

  // After Run(): what is left, by voter.
  const std::vector<Buffer>& left() const { return left_; }

 private:
  std::vector<CastVote> votes_;
  CheckedChunk result_;
  std::vector<Buffer> left_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_VOTES_VOTE_COMPUTATIONS_H_
