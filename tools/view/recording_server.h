// The page of a job over a recording of it: the same as the live one, with controls over time. What is shown when is
// the page's to say; the server has no state, so that several pages may look at different times. Thread-compatible.
#ifndef BANYAN_TOOLS_VIEW_RECORDING_SERVER_H_
#define BANYAN_TOOLS_VIEW_RECORDING_SERVER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/http/http_server.h"
#include "tools/view/recording.h"

namespace banyan {

class RecordingServer {
 public:
  // Serves at `http`, host:port; pages begin with `speed` times the recorded pace. UNAVAILABLE when it cannot be bound.
  // Below /api/recording/ there are
  // - facts: {`from_s`, `to_s`, `speed`, `history_parts`}
  // - at/TIME: {`at_s`, `next_s`, `trace`, `traced_s`, `status`}: what had come until then. `status` is the last one,
  //   `trace` the number of the last trace and `traced_s` its time, null before the first. It is so from `at_s` to
  //   before `next_s`, null at the end.
  // - trace/NUMBER: a trace, as tools/reports/round_chart.h has it
  // - history/PART, from 0 on: what JobHistory::JsonSince tells of some of the statuses. All parts together are of at
  //   most JobHistory::kMostRounds statuses, evenly over the recording.
  static absl::StatusOr<std::unique_ptr<RecordingServer>> Serve(const std::string& http, Recording recording,
                                                                double speed, HttpAccess access = {});
  RecordingServer(const RecordingServer&) = delete;
  RecordingServer& operator=(const RecordingServer&) = delete;

  // http://host:port/, with the real port.
  std::string url() const { return server_->url() + "/"; }

 private:
  RecordingServer(Recording recording, double speed) : recording_(std::move(recording)), speed_(speed) {}

  // `path` is what follows /api/recording/. Nothing when there is no such.
  std::optional<HttpContent> Answer(absl::string_view path) const;
  std::string Facts() const;
  absl::StatusOr<std::string> At(double at_s) const;
  absl::StatusOr<std::string> History(size_t part) const;
  size_t samples() const;

  const Recording recording_;
  const double speed_;
  // Last, so that nobody asks for what is gone.
  std::unique_ptr<HttpServer> server_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_RECORDING_SERVER_H_
