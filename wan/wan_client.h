// Talks to the emulator that runs in a directory. Thread-compatible; every call is a connection of its own and waits
// for the answer.
#ifndef BANYAN_WAN_WAN_CLIENT_H_
#define BANYAN_WAN_WAN_CLIENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posix/file_descriptor.h"
#include "wan/wan_directory.h"
#include "wan/wan_status.h"

namespace banyan {

// Every call fails with FAILED_PRECONDITION, saying what to do, when no emulator runs there (any more). It fails with
// INVALID_ARGUMENT when the emulator refuses, and with UNAVAILABLE when it runs but does not answer within seconds.
class WanClient {
 public:
  explicit WanClient(const std::string& directory) : directory_(directory) {}

  absl::StatusOr<WanStatus> Status() const;
  // Returns the JSON text that Status reads.
  absl::StatusOr<std::string> StatusJson() const;
  // Gives the link from node `from` to node `to`, in this direction, the rate `rate_bps` until a schedule changes it
  // again.
  absl::Status SetRate(absl::string_view from, absl::string_view to, double rate_bps) const;
  // Lets nothing that `from` sends reach `to` until Heal of the same direction. There must be a link between them. What
  // others send over its wire passes.
  absl::Status Cut(absl::string_view from, absl::string_view to) const;
  absl::Status Heal(absl::string_view from, absl::string_view to) const;
  // The network namespace of a node, for setns; whoever is in another user namespace enters OpenUserNamespace first.
  absl::StatusOr<FileDescriptor> OpenNamespace(absl::string_view node) const;
  absl::StatusOr<FileDescriptor> OpenUserNamespace() const;
  // Asks the emulator to end; it may take a moment.
  absl::Status Stop() const;

 private:
  struct Answer {
    std::string text;
    FileDescriptor file;
  };

  absl::StatusOr<Answer> Ask(const std::string& request) const;
  absl::StatusOr<FileDescriptor> AskForFile(const std::string& request) const;
  absl::Status Explain(const absl::Status& failure) const;

  const WanDirectory directory_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_WAN_CLIENT_H_
