// Gloo's all-reduce over TCP, with which Banyan is compared. Blocking; thread-compatible.
#ifndef BANYAN_BENCH_GLOO_ALL_REDUCE_H_
#define BANYAN_BENCH_GLOO_ALL_REDUCE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace banyan {

// kDirect is Gloo's bcube with one group of all processes: each sends a part to each, and its sums back.
enum class GlooAlgorithm { kRing, kHalvingDoubling, kDirect };

// "ring", "halving-doubling", "direct"; INVALID_ARGUMENT lists them.
absl::StatusOr<GlooAlgorithm> ParseGlooAlgorithm(absl::string_view name);

struct GlooOptions {
  int rank = 0;
  int world = 1;
  std::string directory;              // the same, empty at first, for all processes, which find each other through it
  std::string address = "127.0.0.1";  // of this process
  GlooAlgorithm algorithm = GlooAlgorithm::kRing;
  absl::Duration patience = absl::Seconds(120);  // for one message
};

class GlooAllReduce {
 public:
  // Connects every process with every other.
  static absl::StatusOr<std::unique_ptr<GlooAllReduce>> Connect(const GlooOptions& options);
  ~GlooAllReduce();

  // Until every process has come here.
  absl::Status Barrier();
  // Every process's values become the sum of all. REQUIRES: the same memory at each call.
  absl::Status Sum(absl::Span<float> values);

 private:
  struct Connection;
  explicit GlooAllReduce(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace banyan

#endif  // BANYAN_BENCH_GLOO_ALL_REDUCE_H_
