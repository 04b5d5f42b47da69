// A real flow from one node of an emulated WAN to another, in bursts: it takes its part of the links' queues like what
// a job sends. UDP yields to nobody; TCP sends as much of the rate as its congestion control lets it.
// Thread-compatible.
#ifndef BANYAN_WAN_CROSS_FLOW_H_
#define BANYAN_WAN_CROSS_FLOW_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "posix/file_descriptor.h"
#include "wan/wan_client.h"

namespace banyan {

struct CrossFlowOptions {
  std::string from;
  std::string to;
  bool is_tcp = false;
  double rate_bps = 0;  // in a burst, with IP and UDP headers; of TCP's payload
  absl::Duration on = absl::Seconds(2);
  absl::Duration off = absl::Seconds(3);      // between two bursts
  absl::Duration length = absl::Seconds(60);  // of it all
};

class CrossFlow {
 public:
  // Opens the flow's sockets. Errors are those of WanClient and of the system.
  static absl::StatusOr<CrossFlow> Open(const WanClient& client, const CrossFlowOptions& options);

  // Sends until its length has passed, or `stop_fd` is readable; -1 for none. UNAVAILABLE when the WAN ends meanwhile.
  absl::Status Run(int stop_fd);

  // Payload.
  int64_t sent_bytes() const { return sent_bytes_; }
  int64_t received_bytes() const { return received_bytes_; }

 private:
  CrossFlow(const CrossFlowOptions& options, FileDescriptor sender, FileDescriptor receiver)
      : options_(options), sender_(std::move(sender)), receiver_(std::move(receiver)) {}

  // Returns how much time of bursts has passed at `elapsed` after the start.
  absl::Duration BurstTime(absl::Duration elapsed) const;
  // Sends what is due at `elapsed`.
  absl::Status SendDue(absl::Duration elapsed);
  void Receive();

  CrossFlowOptions options_;
  FileDescriptor sender_;
  FileDescriptor receiver_;
  double due_bytes_ = 0;  // that should have been sent by now, and were not
  absl::Duration counted_;
  int64_t sent_bytes_ = 0;
  int64_t received_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_WAN_CROSS_FLOW_H_
