#include "posix/port_reservation.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

absl::Status CannotReserve(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot reserve a port of 127.0.0.1: ", what, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<PortReservation> PortReservation::Take(int count) {
  PortReservation reservation;
  for (int i = 0; i < count; ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return CannotReserve("socket");
    reservation.sockets_.push_back(socket);
    const int on = 1;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return CannotReserve("setsockopt");
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0) return CannotReserve("bind");
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return CannotReserve("getsockname");
    reservation.ports_.push_back(ntohs(address.sin_port));
  }
  return reservation;
}

PortReservation::~PortReservation() {
  for (int socket : sockets_) close(socket);
}

std::string PortReservation::Address(int index) const { return absl::StrCat("tcp://127.0.0.1:", ports_[index]); }

}  // namespace banyan
