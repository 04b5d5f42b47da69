// Gloo's ring all-reduce over TCP on the loopback interface: what `banyan bench loopback` is compared with. Blocking;
// thread-compatible.
#ifndef BANYAN_BENCH_GLOO_RING_H_
#define BANYAN_BENCH_GLOO_RING_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace banyan {

class GlooRing {
 public:
  // Connects `world` processes, of which this is the `rank`-th; all name the same empty directory, through which they
  // find each other.
  static absl::StatusOr<std::unique_ptr<GlooRing>> Connect(int rank, int world, const std::string& directory);
  ~GlooRing();

  // Until every process has come here.
  absl::Status Barrier();
  // Every process's values become the sum of all.
  absl::Status AllReduce(absl::Span<float> values);

 private:
  struct Connection;
  explicit GlooRing(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace banyan

#endif  // BANYAN_BENCH_GLOO_RING_H_
