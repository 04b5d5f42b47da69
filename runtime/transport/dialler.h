// Looks names up for connections, and finds out why some are not made. Both may take long, and so have a thread of
// their own. Nobody waits for it: who asks looks again later. Thread-compatible.
//
// Invariants:
// - Of each question at most one is under way, and an answer stands for kFresh: looking a name up again and again
//   costs its servers little.
// - The end of a Dialler waits for no name server: the thread goes when that has answered.
#ifndef BANYAN_RUNTIME_TRANSPORT_DIALLER_H_
#define BANYAN_RUNTIME_TRANSPORT_DIALLER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "runtime/transport/tcp_endpoint.h"

namespace banyan {

class Dialler {
 public:
  static constexpr absl::Duration kFresh = absl::Seconds(1);
  // For an attempt to find out why a connection is not made.
  static constexpr absl::Duration kPatience = absl::Seconds(2);

  using Endpoints = absl::StatusOr<std::vector<TcpEndpoint>>;

  Dialler();
  Dialler(const Dialler&) = delete;
  Dialler& operator=(const Dialler&) = delete;
  ~Dialler();

  // Has the host of `address` looked up, unless there is a fresh answer.
  void LookUp(const std::string& address, Timestamp now);
  // Returns where `address` leads, or why that is not known; empty while it is looked up.
  std::optional<Endpoints> Found(const std::string& address) const;

  // Has it found out why `endpoint` cannot be reached, unless there is a fresh answer.
  void Diagnose(const TcpEndpoint& endpoint, Timestamp now);
  // Returns the reason, which is empty when it can be; nothing while that is found out.
  std::optional<std::string> Diagnosis(const TcpEndpoint& endpoint) const;

 private:
  class Thread;

  std::shared_ptr<Thread> thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_DIALLER_H_
