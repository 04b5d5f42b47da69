// The directory that an emulated WAN is known by: a lock that its forwarder holds as long as it lives, its control
// socket and its log. For whoever comes after its end the directory also keeps what the WAN was. One per emulated WAN.
// Thread-compatible.
#ifndef BANYAN_WAN_WAN_DIRECTORY_H_
#define BANYAN_WAN_WAN_DIRECTORY_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/file_descriptor.h"
#include "wan/wan_status.h"

namespace banyan {

// Returns the directory that is used unless the user says otherwise. It is /run/banyan-wan for root, else below the
// user's own runtime directory, or /tmp where there is none.
std::string DefaultWanDirectory();

class WanDirectory {
 public:
  // Makes nothing.
  explicit WanDirectory(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string socket_path() const { return path_ + "/control"; }
  std::string log_path() const { return path_ + "/log"; }
  // The nodes' names and addresses, in the form of /etc/hosts.
  std::string hosts_path() const { return path_ + "/hosts"; }
  // A folder for records of processes that somebody looks after in the nodes.
  std::string processes_path() const { return path_ + "/processes"; }

  // Makes the directory where it is missing. FAILED_PRECONDITION when it belongs to someone else or is no directory.
  absl::Status Make() const;
  // The lock, for as long as the descriptor or a copy of it is open. ALREADY_EXISTS when somebody holds it. Needs Make.
  absl::StatusOr<FileDescriptor> Lock() const;
  // Returns whether a forwarder holds the lock. Only looks: a forwarder that starts meanwhile gets it.
  bool IsLocked() const;

  // Reads what the last forwarder was, without links; empty when none has been started or `down` has removed it.
  absl::StatusOr<std::optional<WanStatus>> ReadState() const;
  // Writes the state and the file of hosts.
  absl::Status WriteState(const WanStatus& status) const;
  // Removes the files that an emulator makes, the records of processes, and the directory unless something else is in
  // it.
  absl::Status Remove() const;

 private:
  std::string lock_path() const { return path_ + "/lock"; }
  std::string state_path() const { return path_ + "/state.json"; }

  const std::string path_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_WAN_DIRECTORY_H_
