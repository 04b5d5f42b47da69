// Several nodes of an emulated WAN send gradients to one at the same time, in datagrams that its queues may cut, or by
// TCP: the incast of "When ML Training Cuts Through Congestion", in a closed loop with real queues. Nothing comes back
// of what was cut or lost. Blocking; one at a time, on one thread.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_INCAST_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_INCAST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "wan/wan_client.h"

namespace banyan {

struct IncastOptions {
  std::vector<std::string> senders;  // nodes
  std::string receiver;
  double rate_bps = 0;        // of each sender; it does not yield, but for TCP
  int64_t rows = 4;           // of 2^15 numbers, that each sends
  bool is_tcp = false;        // as many bytes
  bool is_trimmable = false;  // packets say that they may be cut
  uint64_t seed = 1;
};

struct IncastResult {
  double seconds = 0;  // until the last packet arrived
  // Shares of the packets that were sent; of what TCP sends all is whole.
  double whole = 0;
  double cut = 0;
  double lost = 0;
  double error = 0;  // the square of what a sender's gradient lacks, over its own; the mean of all senders
};

// DEADLINE_EXCEEDED where TCP does not end in two minutes; other errors are those of WanClient and of the system.
absl::StatusOr<IncastResult> RunIncast(const WanClient& client, const IncastOptions& options);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_INCAST_H_
