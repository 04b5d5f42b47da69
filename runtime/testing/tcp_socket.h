// A TCP connection without ZeroMQ at its end. Function.
#ifndef BANYAN_RUNTIME_TESTING_TCP_SOCKET_H_
#define BANYAN_RUNTIME_TESTING_TCP_SOCKET_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"

namespace banyan {

// Connects to the port of `address`, tcp://host:port, on loopback.
inline FileDescriptor ConnectByTcp(const std::string& address) {
  FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  return made;
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_TCP_SOCKET_H_
