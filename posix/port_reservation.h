// Free TCP ports of the loopback interface, kept free for processes that are still to be started. Nobody else on the
// machine is given them as long as the reservation lives. Yet a process that listens with SO_REUSEADDR (as ZeroMQ does)
// can take them. Thread-compatible; movable.
#ifndef BANYAN_POSIX_PORT_RESERVATION_H_
#define BANYAN_POSIX_PORT_RESERVATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace banyan {

class PortReservation {
 public:
  // `count` different ports. Fails when the machine has no more.
  static absl::StatusOr<PortReservation> Take(int count);
  PortReservation(PortReservation&&) noexcept = default;
  PortReservation& operator=(PortReservation&&) = delete;
  ~PortReservation();

  const std::vector<int>& ports() const { return ports_; }
  // tcp://127.0.0.1:port of the `index`-th port.
  std::string Address(int index) const;

 private:
  PortReservation() = default;

  std::vector<int> sockets_;
  std::vector<int> ports_;
};

}  // namespace banyan

#endif  // BANYAN_POSIX_PORT_RESERVATION_H_
