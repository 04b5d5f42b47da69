// A node inside the training process: the same protocol as the node daemon on a thread of its own, and the same session
// on top. Installed as <banyan/local_node.h>; include <banyan/session.h> as well.
#ifndef BANYAN_RUNTIME_LOCAL_NODE_H_
#define BANYAN_RUNTIME_LOCAL_NODE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace banyan {

class NodeHost;
class Session;

struct LocalNodeOptions {
  std::string name = {};                     // as in the job's overlay.yaml
  std::string scheduler = {};                // tcp://host:port; of several, with commas between them
  std::string job = {};                      // empty: whichever job the scheduler runs
  std::string listen = "tcp://127.0.0.1:0";  // port 0: a free one
  std::string advertise = {};                // where other nodes reach this one; empty: where it listens
  std::string worker_socket = {};            // unix:/path for further training processes; empty: none
  // The node's secret key, as `banyan keygen` makes it; empty: this node has none, and talks to nobody who has.
  std::string key_file = {};
  // The public key of the schedulers; empty: as the key file says.
  std::string scheduler_key = {};
  // Listen beyond this machine without keys: whoever reaches the port may speak as anybody.
  bool insecure = false;
  int compute_threads = 1;
  // Gets every line that the node logs, on its protocol thread; empty: nobody does. `level` is 0 for what helps to find
  // faults, 1 for information, 2 for a warning and 3 for an error.
  std::function<void(int level, absl::string_view line)> log = {};
};

// A node that has fallen out of its job joins again by itself. Its sessions end with UNAVAILABLE then: open new ones.
// Thread-safe. Sessions may outlive it: their operations then end with UNAVAILABLE. A forked child uses nothing of it:
// calls end with FAILED_PRECONDITION there, and destroying it changes nothing for the parent.
class LocalNode {
 public:
  static absl::StatusOr<std::unique_ptr<LocalNode>> Start(const LocalNodeOptions& options);
  LocalNode(std::unique_ptr<NodeHost> host, std::string address);
  LocalNode(const LocalNode&) = delete;
  LocalNode& operator=(const LocalNode&) = delete;
  // Stops.
  ~LocalNode();

  // Attaches one worker of this process; waits until the node has joined the job, at most for `timeout`. Its calls wait
  // for room as SessionOptions::room_timeout says.
  absl::StatusOr<std::unique_ptr<Session>> OpenSession(uint32_t worker = 0, absl::Duration timeout = absl::Seconds(60),
                                                       absl::Duration room_timeout = absl::InfiniteDuration());
  // Where other nodes reach this one.
  const std::string& address() const { return address_; }
  // Leaves the job and ends the node's threads. The status is why the node ended: OK when it was asked to.
  absl::Status Stop();

 private:
  std::unique_ptr<NodeHost> host_;
  const std::string address_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_LOCAL_NODE_H_
