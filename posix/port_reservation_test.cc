#include "posix/port_reservation.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "gtest/gtest.h"

namespace banyan {
namespace {

// Whether a daemon could listen on the port.
bool CanListen(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool listens =
      bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(socket, 1) == 0;
  close(socket);
  return listens;
}

TEST(PortReservationTest, TwoReservationsShareNoPort) {
  absl::StatusOr<PortReservation> first = PortReservation::Take(20);
  absl::StatusOr<PortReservation> second = PortReservation::Take(20);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  std::set<int> ports(first->ports().begin(), first->ports().end());
  ports.insert(second->ports().begin(), second->ports().end());
  EXPECT_EQ(ports.size(), 40u);
}

TEST(PortReservationTest, ADaemonCanListenOnAReservedPort) {
  const absl::StatusOr<PortReservation> reservation = PortReservation::Take(1);
  ASSERT_TRUE(reservation.ok()) << reservation.status();
  EXPECT_TRUE(CanListen(reservation->ports()[0]));
}

}  // namespace
}  // namespace banyan
