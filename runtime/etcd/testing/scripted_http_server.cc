#include "runtime/etcd/testing/scripted_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

// Reads up to the end of the body that the headers announce; empty when the other side closes before.
std::string ReadRequest(int connection) {
  constexpr char kLength[] = "content-length: ";
  std::string request;
  char bytes[65536];
  while (true) {
    const size_t end = request.find("\r\n\r\n");
    if (end != std::string::npos) {
      const std::string head = absl::AsciiStrToLower(request.substr(0, end));
      const size_t at = head.find(kLength) + sizeof(kLength) - 1;
      size_t length = 0;
      BANYAN_CHECK(absl::SimpleAtoi(head.substr(at, head.find('\r', at) - at), &length));
      if (request.size() >= end + 4 + length) return request;
    }
    const ssize_t count = recv(connection, bytes, sizeof bytes, 0);
    if (count <= 0) return "";
    request.append(bytes, static_cast<size_t>(count));
  }
}

}  // namespace

ScriptedHttpServer::ScriptedHttpServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  BANYAN_CHECK(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
  BANYAN_CHECK(listen(listener_.get(), 16) == 0);
  BANYAN_CHECK(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

ScriptedHttpServer::~ScriptedHttpServer() {
  shutdown(listener_.get(), SHUT_RDWR);
  thread_.join();
}

std::string ScriptedHttpServer::url() const { return absl::StrCat("http://127.0.0.1:", port_); }

void ScriptedHttpServer::Answer(int code, const std::string& body) {
  std::lock_guard<std::mutex> lock(mutex_);
  code_ = code;
  body_ = body;
}

std::vector<std::string> ScriptedHttpServer::requests() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void ScriptedHttpServer::Serve() {
  while (true) {
    FileDescriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) return;
    ServeOne(connection.get());
    std::lock_guard<std::mutex> lock(mutex_);
    if (code_ == 0) unanswered_.push_back(std::move(connection));
  }
}

void ScriptedHttpServer::ServeOne(int connection) {
  const std::string request = ReadRequest(connection);
  const size_t path = request.find(' ') + 1;
  std::lock_guard<std::mutex> lock(mutex_);
  requests_.push_back(absl::StrCat(request.substr(path, request.find(' ', path) - path), " ",
                                   request.substr(request.find("\r\n\r\n") + 4)));
  if (code_ == 0) return;
  const std::string answer =
      absl::StrCat("HTTP/1.1 ", code_, " X\r\nConnection: close\r\nContent-Length: ", body_.size(), "\r\n\r\n", body_);
  BANYAN_CHECK(send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(answer.size()));
}

}  // namespace banyan
