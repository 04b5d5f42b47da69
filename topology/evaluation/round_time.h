// Predicts how long one round of a model takes under a policy. Rates alone say what a large model needs, while a small
// one is done before the pipeline has filled. Pure functions.
#ifndef BANYAN_TOPOLOGY_EVALUATION_ROUND_TIME_H_
#define BANYAN_TOPOLOGY_EVALUATION_ROUND_TIME_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// Returns the seconds, on average, from the last bit's leaving on a link to its being there for who reads the
// connection in order. They are the propagation delay, and what lost packets add on a link that is kept busy. A lost
// packet comes a round trip later, and what the same connection sent in the meantime waits for it. Whoever waits for
// `arrivals` over links like this one waits for the latest. No more can be lost than of the `sent_bits` that the link
// carries. The rate is taken to be what it is with the losses.
double TravelSeconds(const NetworkLink& link, double arrivals = 1,
                     double sent_bits = std::numeric_limits<double>::infinity());

// The bits of a float32 element as it is, when nothing is compressed.
inline constexpr double kBitsPerElement = 32;

// The time that sending or taking a chunk costs one thread of a node, whatever the chunk's size (docs/performance.md).
inline constexpr double kSecondsPerChunkEnd = 35e-6;

// What a node's threads that sum read and write together, as the simulator takes it too.
inline constexpr double kSumBytesPerSecond = 1e10;

// Long enough for links of trees that meet to fall behind, short enough to be asked for many policies.
inline constexpr int64_t kScheduledChunks = 1024;

// From the push of all tensors at once, in KeyId order, until every node has the whole result. `tensors` are
// these; each element takes the width of its type.
//
// Every link passes on one chunk after the other (topology/evaluation/flow_shop.h); the first kScheduledChunks are
// scheduled one by one, the others take as long as the busiest link needs for them. A node handles chunks and sums them
// while links carry others, so that the round is only longer where that takes longer than the links do, or where leaves
// on fast links send more than their parent sums meanwhile: what comes from farther away then waits. Headers,
// acknowledgements and auxiliary paths count nothing, results go in the order of gradients though nodes send them a
// little later (LinkChunks::kGradientsBeforeResult; plans that counted on it were worse, docs/performance.md). Lost
// packets count as the mean of the latest that a sum, or the round, waits for. Infinite when a link of the policy is
// not in the view. Of the bits of elements as they are, links carry `sent_part`: codecs and votes leave out the rest,
// while nodes sum floats. REQUIRES: sizes are at least 1, and the policy was valid for some view with the same nodes.
absl::Duration PredictRoundTime(const Policy& policy, const NetworkView& view,
                                const std::vector<PlannedTensor>& tensors, double sent_part = 1);

struct RoundPrediction {
  absl::Duration time;                     // as PredictRoundTime says
  std::vector<absl::Duration> tree_times;  // until every node has the last scheduled chunk of each tree
};

RoundPrediction PredictRound(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors,
                             double sent_part = 1);

// Returns the bits that the counts of so many votes on an element take (compression/counts/vote_frame.h).
double BitsOfVotes(double voters, bool has_zero_votes);

// What a round of one tensor is made of, as floats or as votes, and how fast one thread of each node works on it.
struct RoundWork {
  // Bytes of memory per second, of one thread.
  struct Processor {
    double workers = 1;
    int threads = 1;                         // that compute at once, each on another chunk
    double sum_rate = kSumBytesPerSecond;    // adding up and reading floats
    double cast_rate = kSumBytesPerSecond;   // turning gradients into votes
    double count_rate = kSumBytesPerSecond;  // adding up votes
  };
  bool is_low_bit = false;
  bool has_zero_votes = false;           // of votes: those against have counts of their own
  double result_bits = kBitsPerElement;  // of an element on its way down, where is_low_bit
  double cast_passes = 2;                // over the gradients of each worker, likewise
  std::vector<Processor> processors;     // by positions of the view's nodes
};

// What a round of one tensor takes.
struct TensorRound {
  absl::Duration time;  // where nothing else goes on
  absl::Duration busy;  // of the busiest link or processor: what it adds to a round of many tensors at least
};

// Predicts a round of one tensor as PredictRoundTime does, with processors as stations, too: a node works on a chunk
// before it sends it. Votes are cast of a whole tensor, by one thread, before the first chunk leaves, and are as wide
// as the voters below an edge make them. Other tensors count as cast before or after it. Where nodes have several
// threads casting counts half as much again: without that some such rounds were predicted to be a seventh too short
// (bench reducer --replay).
TensorRound PredictRoundOf(const Policy& policy, const NetworkView& view, const PlannedTensor& tensor,
                           const RoundWork& work);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_ROUND_TIME_H_
