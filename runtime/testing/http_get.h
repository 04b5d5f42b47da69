// A web client for tests, on plain sockets. Functions; thread-safe.
#ifndef BANYAN_RUNTIME_TESTING_HTTP_GET_H_
#define BANYAN_RUNTIME_TESTING_HTTP_GET_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "posix/file_descriptor.h"

namespace banyan {

// Connected to 127.0.0.1:port; empty when nobody answers.
inline FileDescriptor Connect(int port) {
  FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return FileDescriptor();
  return fd;
}

// All that comes until the other side closes.
inline std::string ReadAll(int socket) {
  std::string answer;
  char bytes[4096];
  for (ssize_t count; (count = recv(socket, bytes, sizeof bytes, 0)) > 0;) {
    answer.append(bytes, static_cast<size_t>(count));
  }
  return answer;
}

// The whole answer of http://127.0.0.1:port/path, headers included; empty when nobody answers.
inline std::string HttpGet(int port, const std::string& path, const std::string& host = "localhost") {
  const FileDescriptor fd = Connect(port);
  const std::string request = absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: ", host, "\r\n\r\n");
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return "";
  return ReadAll(fd.get());
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_HTTP_GET_H_
