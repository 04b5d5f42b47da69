// A network between two processes that a test can break: forwards TCP connections of 127.0.0.1 to a port, until told to
// drop them, to fall silent or to swallow what they carry. Thread-safe; forwards on a thread of its own.
#ifndef BANYAN_TESTS_TCP_PROXY_H_
#define BANYAN_TESTS_TCP_PROXY_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "posix/file_descriptor.h"

struct pollfd;

namespace banyan {

class TcpProxy {
 public:
  // Bytes that are kept of each connection, for recorded().
  static constexpr size_t kRecordedBytes = size_t{1} << 20;
  // Bytes with which a connection begins.
  static constexpr size_t kOpeningBytes = 512;

  // Nobody needs to listen on `target_port` yet.
  explicit TcpProxy(int target_port);
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy();

  // tcp://127.0.0.1:port.
  std::string address() const;
  int port() const { return port_; }

  // From now on nothing passes, and neither end is told: bytes and new connections wait.
  void FallSilent();
  // The same of those connections alone that begin with bytes in which `opening` is; it passes itself.
  void FallSilent(const std::string& opening);
  void SpeakAgain();
  // From now on a connection that has taken more than so many bytes of its client swallows all that follows, and tells
  // nobody: what the client sends, and unless `one_way` what it is sent too.
  void SwallowAfter(int64_t size_bytes, bool one_way);
  // The same of the connections that there are, at once. Those to come pass all.
  void SwallowOfPresent(bool one_way);
  // No connection swallows more from now on than swallows already.
  void SwallowNoMore();
  // Connections that swallow.
  int swallowing() const;
  // Resets all connections. New ones are welcome.
  void Drop();
  // The same, once, as soon as so many more bytes have passed.
  void DropAfter(int64_t size_bytes);

  int64_t passed_bytes() const;
  // Connections that were reset.
  int dropped() const;
  // Waits until at least so many connections have been reset; false after `timeout`.
  bool WaitUntilDropped(int connections, absl::Duration timeout);
  // The first bytes of each connection so far, in the direction in which it was opened.
  std::vector<std::string> recorded() const;

 private:
  // One direction of a connection.
  struct Flow {
    std::string waiting;
    int64_t taken_bytes = 0;
    bool swallows = false;
    bool ended = false;
  };
  struct Connection {
    FileDescriptor client;
    FileDescriptor target;
    Flow up;    // from client to target
    Flow down;  // from target to client
    size_t record = 0;
    bool broken = false;
  };

  void Wake();
  void Work();
  void Wait(std::vector<pollfd>& items);
  void Accept();
  void Move(Connection& connection);
  bool IsHeldBack(const Connection& connection) const;
  void BeginToSwallow(Connection& connection);
  int64_t Forward(int from, int to, int64_t most_bytes, Flow& flow, std::string* record);
  void DropAll();

  int port_ = 0;
  const FileDescriptor listener_;  // sets port_
  const FileDescriptor wakeup_;
  const int target_port_;
  std::list<Connection> connections_;  // of the thread

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool stopping_ = false;
  bool silent_ = false;
  std::string silent_opening_;  // empty: of no connection alone
  bool drop_ = false;
  bool swallow_present_ = false;
  bool swallow_one_way_ = false;
  int64_t swallow_after_bytes_ = -1;
  int swallowing_ = 0;
  int64_t drop_at_bytes_ = -1;
  int64_t passed_bytes_ = 0;
  int dropped_ = 0;
  std::vector<std::string> records_;

  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_TESTS_TCP_PROXY_H_
