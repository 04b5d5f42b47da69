// The part of overlay.yaml that nodes act on; the scheduler sends it when a node joins. Values; thread-compatible.
#ifndef BANYAN_PROTO_JOB_CONFIG_H_
#define BANYAN_PROTO_JOB_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/compression/compression_check.h"
#include "proto/fields.h"
#include "proto/precision/vote_rules.h"
#include "proto/trimming_config.h"

namespace banyan {

enum class AggregationOp : uint8_t { kSum, kMean, kSgd, kMomentum, kNesterov, kAdam };

// What happens to a worker's gradient in which not all values are finite: it goes into the sum like another; it is left
// out of its round, with its weight; or the job ends.
enum class NotFiniteRule : uint8_t { kKeep, kSkip, kFail };

// How contributions become results. The root divides the sum by its weight unless the op is kSum. With one of the four
// optimizers every member then steps its own parameters along the mean gradient g, and workers get the parameters.
struct AggregationConfig {
  AggregationOp op = AggregationOp::kMean;
  double learning_rate = 0.01;
  double momentum = 0.9;      // momentum, nesterov
  double beta1 = 0.9;         // adam
  double beta2 = 0.999;       // adam
  double epsilon = 1e-8;      // adam
  double weight_decay = 0.0;  // added to g as weight_decay * parameters, by all four optimizers
  NotFiniteRule not_finite = NotFiniteRule::kKeep;
  // The share of the members' workers that must have pushed a round before it may close without the others; 0: it
  // waits for all.
  double quorum = 0;
  // For so long a round waits for the others from then on; empty: as past rounds say (node/workers/grace.h).
  std::optional<absl::Duration> grace = std::nullopt;
  // Each sum adds its parts in the order of the nodes they come from, and not in that of their arrival: results are a
  // function of the contributions alone, to the last bit.
  bool fixed_order = false;

  friend bool operator==(const AggregationConfig&, const AggregationConfig&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, AggregationConfig& m) {
  v(1, "op", m.op, UpTo{AggregationOp::kAdam});
  v(2, "learning_rate", m.learning_rate, kFinite);
  v(3, "momentum", m.momentum, kFinite);
  v(4, "beta1", m.beta1, kFinite);
  v(5, "beta2", m.beta2, kFinite);
  v(6, "epsilon", m.epsilon, kFinite);
  v(7, "weight_decay", m.weight_decay, kFinite);
  v(8, "not_finite", m.not_finite, UpTo{NotFiniteRule::kFail});
  v(9, "quorum", m.quorum, Range{0.0, 1.0});
  v(10, "grace", m.grace, kNotNegative);
  v(11, "fixed_order", m.fixed_order);
}

// A node of a job that runs, as its workers know it.
struct JobMember {
  std::string name;
  uint32_t workers = 1;  // as overlay.yaml says
  friend bool operator==(const JobMember&, const JobMember&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, JobMember& m) {
  v(1, "name", m.name, kName);
  v(2, "workers", m.workers, Range{1u, kMaxWorkersPerNode});
}

// What workers are told of a job before they train, since it says what they may do with results.
struct JobTraits {
  AggregationOp op = AggregationOp::kMean;
  // Rounds of a step may each be without other workers' gradients. What one key counts is then no measure of another.
  bool may_leave_out = false;

  friend bool operator==(const JobTraits&, const JobTraits&) = default;
};

inline JobTraits TraitsOf(const AggregationConfig& config) {
  return {config.op, config.quorum > 0 || config.not_finite == NotFiniteRule::kSkip};
}

inline constexpr size_t kMaxSchedulers = 16;

struct JobConfig {
  std::string job;
  AggregationConfig aggregation;
  int64_t chunk_max_elements = 65536;
  uint32_t workers = 1;           // of the joining node
  uint32_t rounds_in_flight = 1;  // per key
  uint32_t connections_per_link = 4;
  // A link uses no more connections than have so many bytes each of its bandwidth-delay product. Where losses do not
  // hold a connection back, each has a multiple of that (node/peers/link_windows.h). 0: a link uses all.
  int64_t bytes_per_connection = 65536;
  int64_t window_bytes = 0;  // in flight per directed link; 0: what suits the link (node/peers/link_windows.h)
  int64_t early_bytes = 0;   // room for data whose policy is not yet known; 0: as much as the model
  int64_t relay_bytes = 0;   // room for chunks to be forwarded; 0: 64 chunks
  absl::Duration heartbeat = absl::Seconds(1);
  absl::Duration lost_after = absl::Seconds(5);
  absl::Duration scheduler_lost_after = absl::Hours(1);  // without a word of it a node ends the job by itself
  absl::Duration resend_after =
      absl::Seconds(2);  // without a delivery ack, while the connection stands; doubles each time
  CompressionConfig compression;
  TrimmingConfig trimming;
  std::optional<VoteRules> low_bit;     // of rounds with that route; empty: there are none
  std::vector<std::string> schedulers;  // tcp://host:port, of all that may lead; empty: only the one that says this

  friend bool operator==(const JobConfig&, const JobConfig&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, JobConfig& m) {
  constexpr Range kMemoryBytes = {int64_t{0}, int64_t{1} << 50};
  constexpr AtLeast kSomeTime = {absl::Nanoseconds(1)};
  v(1, "job", m.job, kName);
  v(2, "aggregation", m.aggregation);
  v(3, "chunk_max_elements", m.chunk_max_elements, Range{int64_t{1}, v.limits().max_chunk_elements});
  v(4, "workers", m.workers, Range{1u, kMaxWorkersPerNode});
  v(5, "rounds_in_flight", m.rounds_in_flight, Range{1u, 1024u});
  v(6, "connections_per_link", m.connections_per_link, Range{1u, 1024u});
  v(7, "window_bytes", m.window_bytes, kMemoryBytes);
  v(8, "early_bytes", m.early_bytes, kMemoryBytes);
  v(9, "relay_bytes", m.relay_bytes, kMemoryBytes);
  v(10, "heartbeat", m.heartbeat, kSomeTime);
  v(11, "lost_after", m.lost_after, kSomeTime);
  v(12, "resend_after", m.resend_after, kSomeTime);
  v(14, "compression", m.compression);
  v(15, "bytes_per_connection", m.bytes_per_connection, kMemoryBytes);
  v(16, "scheduler_lost_after", m.scheduler_lost_after, kSomeTime);
  v(17, "trimming", m.trimming);
  v(18, "schedulers", m.schedulers, Entries{0, kMaxSchedulers}, kName);
  v(19, "low_bit", m.low_bit);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_JOB_CONFIG_H_
