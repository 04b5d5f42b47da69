#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "access/exposure.h"
#include "posix/stop_signals.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/view/recording.h"
#include "tools/view/recording_server.h"
#include "topology/overlay/overlay_address.h"

namespace banyan {
namespace {

constexpr double kLeastSpeed = 0.01;
constexpr double kMostSpeed = 10000;

struct ViewFlags {
  std::string path;
  std::string http = "127.0.0.1:0";
  std::vector<std::string> http_hosts;
  double speed = 1;
};

CommandLine MakeCommandLine(ViewFlags& flags) {
  CommandLine line(
      "banyan view",
      "Opens the page of a job for a recording of it, with controls over time, until Ctrl-C. `banyan status "
      "--watch --record FILE` records a job, `banyan sim OVERLAY.yaml --record FILE` a simulation.",
      "banyan view job.rec --speed 10");
  line.Positional("FILE", "the recording", &flags.path);
  line.Text("http", "HOST:PORT", "where to serve the page (default 127.0.0.1:0; port 0 is a free one)", &flags.http);
  line.Repeated("http-host", "NAME",
                "a host name under which browsers ask for the page, as that of a proxy; default: addresses and this "
                "machine's name alone",
                [&flags](absl::string_view text) {
                  flags.http_hosts.emplace_back(text);
                  return absl::OkStatus();
                });
  line.Number("speed", "X", "times the recorded pace (default 1)", kLeastSpeed, kMostSpeed, &flags.speed);
  return line;
}

absl::Status View(const ViewFlags& flags, std::ostream& out, std::ostream& err) {
  // Before the server's thread.
  const StopSignals signals;
  absl::StatusOr<Recording> recording = Recording::Open(flags.path);
  if (!recording.ok()) return recording.status();
  const absl::Duration length = absl::Seconds(recording->to_s() - recording->from_s());
  const absl::StatusOr<std::unique_ptr<RecordingServer>> server =
      RecordingServer::Serve(flags.http, *std::move(recording), flags.speed, {.hosts = flags.http_hosts});
  if (!server.ok()) return server.status();
  if (!IsLoopback(absl::StrCat("tcp://", flags.http))) {
    err << "banyan view: other machines reach " << flags.http << ", and may look at the recording too" << std::endl;
  }
  out << flags.path << ", " << absl::FormatDuration(absl::Trunc(length, absl::Milliseconds(1))) << ", at "
      << (*server)->url() << " until Ctrl-C" << std::endl;
  pollfd stopped = {.fd = signals.fd(), .events = POLLIN, .revents = 0};
  while (!signals.received()) poll(&stopped, 1, -1);
  return absl::OkStatus();
}

}  // namespace

int ViewCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  ViewFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (const absl::Status status = CheckHttpAddress(flags.http); !status.ok()) {
    return line.UsageError(absl::StrCat("--http: ", status.message()), err);
  }
  const absl::Status status = View(flags, out, err);
  return status.ok() ? kExitSuccess : line.Failure(status, err);
}

}  // namespace banyan
