// The control socket of a running emulator: one request per connection, one answer, no waiting for slow clients.
// Thread-compatible; lives in the forwarder's loop.
#ifndef BANYAN_WAN_CONTROL_SERVER_H_
#define BANYAN_WAN_CONTROL_SERVER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posix/file_descriptor.h"

namespace banyan {

// An answer travels in packets of at most this size, "ok TEXT" or "error TEXT" when they are joined; the connection's
// end ends it.
inline constexpr size_t kControlPacketBytes = 32 * 1024;
inline constexpr absl::string_view kControlOk = "ok ";
inline constexpr absl::string_view kControlError = "error ";

struct ControlReply {
  std::string text;
  int file = -1;  // goes beside it; the handler keeps it
};

class ControlServer {
 public:
  using Handler = std::function<absl::StatusOr<ControlReply>(absl::string_view request)>;

  // Listens at `path` for this user only and answers with `handler`. FAILED_PRECONDITION when somebody listens there
  // already.
  static absl::StatusOr<std::unique_ptr<ControlServer>> Listen(const std::string& path, Handler handler);

  // Readable when Serve has something to do.
  int fd() const { return epoll_.get(); }
  void Serve();

 private:
  struct Connection {
    FileDescriptor socket;
    bool answered = false;
    std::string unsent;
    int file = -1;
  };

  ControlServer(FileDescriptor listener, FileDescriptor epoll, Handler handler);

  void Accept();
  // Both return whether the connection goes on.
  bool ReadRequest(Connection& connection);
  bool SendRest(Connection& connection);

  const FileDescriptor listener_;
  const FileDescriptor epoll_;
  const Handler handler_;
  std::map<int, Connection> connections_;  // by their descriptors
};

}  // namespace banyan

#endif  // BANYAN_WAN_CONTROL_SERVER_H_
