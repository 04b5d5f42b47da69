// An emulated WAN in this process: a namespace with a TUN device per node, the forwarder between them, the control
// socket. All of it is gone when the object or the process is, by whatever end, but for the files of its directory,
// which StopEmulator removes. Thread-compatible.
#ifndef BANYAN_WAN_EMULATOR_H_
#define BANYAN_WAN_EMULATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "posix/file_descriptor.h"
#include "topology/network_view.h"
#include "topology/overlay/link_schedule.h"
#include "wan/control_server.h"
#include "wan/forwarder.h"
#include "wan/wan_directory.h"
#include "wan/wan_status.h"

namespace banyan {

// Chooses the length of the trains of segments that the kernel of an emulated node sends at once. Pure function.
//
// A kernel that paces sends at once what a connection may send in 1 ms. So slow connections cost a timer and a wake-up
// for every few segments. It adds 64 KB, halved for each time that 2 to the power of tcp_tso_rtt_log goes into the
// connection's round trip in microseconds. Returns the setting with which trains over the shortest link that begins at
// the node are all of the 64 KB longer. Where one of the node's links is slow and none is shorter than 5 ms, the trains
// are 8 to 16 KB longer. Longer trains would fill that link's queue, and the processor has less to do anyway. Empty for
// the kernel's own setting, where the slowest link is slower still or no link begins there. Links cut trains into
// shorter pieces again.
std::optional<int> TsoRttLog(const NetworkView& view, NodeId node);

// Every node has a device of its own; more would want more than one forwarder anyway.
inline constexpr size_t kMaxWanNodes = 200;

struct EmulatorOptions {
  std::string directory;
  std::string overlay;  // the file, for people
  NetworkView view;
  uint64_t seed = 1;                         // of losses
  std::optional<absl::Duration> queue_time;  // this and the next as in ForwardingOptions
  uint32_t trim_bytes = 0;
  std::string congestion;           // TCP's in all nodes; empty for the machine's
  std::vector<LinkChange> changes;  // in order of time
  std::optional<LinkRedraw> redraw;
  std::string tun_path = "/dev/net/tun";
};

class Emulator {
 public:
  // Takes the directory's lock. ALREADY_EXISTS names the emulator that runs there; FAILED_PRECONDITION tells of one
  // that has died there; other errors say what the system lacks. The process must have one thread, and may find itself
  // in another user namespace afterwards.
  static absl::StatusOr<std::unique_ptr<Emulator>> Start(const EmulatorOptions& options);
  ~Emulator();

  // Until `stop_fd` is readable or the control socket asks for the end.
  absl::Status Run(int stop_fd);

 private:
  Emulator(const EmulatorOptions& options, FileDescriptor lock);

  absl::Status Open(const EmulatorOptions& options);
  absl::StatusOr<ControlReply> Answer(absl::string_view request);
  absl::StatusOr<ControlReply> AnswerRate(absl::string_view from, absl::string_view to, absl::string_view rate);
  absl::StatusOr<ControlReply> AnswerCut(absl::string_view from, absl::string_view to, bool is_cut);
  absl::StatusOr<ControlReply> AnswerNamespace(absl::string_view node);
  absl::StatusOr<const NetworkNode*> FindNode(absl::string_view name) const;
  WanStatus Status();

  const WanDirectory directory_;
  const NetworkView view_;
  const FileDescriptor lock_;
  WanStatus identity_;  // without links and counters
  Timestamp start_;
  std::vector<FileDescriptor> namespaces_;  // in order of the view's nodes
  FileDescriptor user_namespace_;
  std::unique_ptr<Forwarder> forwarder_;
  std::unique_ptr<ControlServer> control_;
};

// Starts an emulator in a process of its own, which goes on when this one ends, and returns when it runs. Errors are
// those of Emulator::Start. The caller must have one thread.
absl::Status StartEmulatorInBackground(const EmulatorOptions& options);

// Ends the emulator of the directory if it runs, and what runs in its nodes, and removes what is left of it. OK too
// when nothing is there.
absl::Status StopEmulator(const std::string& directory);

}  // namespace banyan

#endif  // BANYAN_WAN_EMULATOR_H_
