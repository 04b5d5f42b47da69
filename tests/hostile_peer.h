// Floods sockets of daemons: TCP connections to a ROUTER with everything from noise to well-formed nonsense, and
// connections to a node's AF_UNIX socket. Sockets without a library in between, so that all of it really goes out.
// Thread-compatible.
#ifndef BANYAN_TESTS_HOSTILE_PEER_H_
#define BANYAN_TESTS_HOSTILE_PEER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "posix/file_descriptor.h"
#include "tests/hostile_messages.h"

namespace banyan {

class HostilePeer {
 public:
  explicit HostilePeer(HostileMessages messages) : messages_(std::move(messages)) {}

  // At least so many messages or broken ones, over as many connections as it takes.
  void FloodRouter(int port, int64_t messages);
  void FloodWorkerSocket(const std::string& path, int64_t packets);
  // Says the same once more.
  void Replay(int port, absl::string_view bytes);

  // So many connections one after the other. Each says a part of what ZeroMQ begins with, and lasts until kBeside
  // others have come, or as long as this.
  void OpenInTurn(int port, int64_t count);
  // So many connections one after the other that begin with `handshake`, say `bytes`, and end when the daemon ends them
  // or the next comes.
  void SayInTurn(int port, const std::string& handshake, const std::string& bytes, int64_t count);

  // Connections that say nothing and last as long as this.
  void OpenSilently(int port);
  void OpenSilently(const std::string& path);

  static constexpr size_t kBeside = 1500;

  // Messages and packets that were given to the kernel so far.
  int64_t sent() const { return sent_; }

 private:
  // What one connection says.
  struct Volley {
    std::string bytes;
    int64_t messages = 0;
  };

  Volley NextVolley();
  Volley BrokenVolley(uint64_t kind);
  void Append(const std::vector<std::string>& message, Volley& volley);
  void WorkerVolley(const std::string& path, int64_t packets);
  std::string NextPacket();

  HostileMessages messages_;
  int64_t sent_ = 0;
  std::deque<FileDescriptor> silent_;
};

}  // namespace banyan

#endif  // BANYAN_TESTS_HOSTILE_PEER_H_
