#include "tools/view/recording_server.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "tools/page/job_history.h"
#include "tools/page/job_page.h"
#include "tools/reports/status_text.h"

namespace banyan {
namespace {

constexpr char kRecordingPath[] = "/api/recording/";
constexpr char kJson[] = "application/json";
// A reader waits for a part no longer than a moment.
constexpr size_t kSamplesOfPart = 20;

std::string Seconds(double at_s) { return absl::StrFormat("%.3f", at_s); }

std::string SecondsOrNull(std::optional<double> at_s) { return at_s.has_value() ? Seconds(*at_s) : "null"; }

// The page's files, whose HTML says to its script that it shows a recording.
std::vector<HttpRoute> PageRoutes() {
  std::vector<HttpRoute> routes;
  for (const PageFile& file : PageFiles()) {
    routes.push_back({file.path, [file] {
                        return HttpContent{file.content_type,
                                           absl::StrReplaceAll(file.bytes, {{"<body>", "<body data-recording>"}})};
                      }});
  }
  return routes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordingServer>> RecordingServer::Serve(const std::string& http, Recording recording,
                                                                        double speed, HttpAccess access) {
  std::unique_ptr<RecordingServer> server(new RecordingServer(std::move(recording), speed));
  std::vector<HttpRoute> routes = PageRoutes();
  HttpRoute below;
  below.path = kRecordingPath;
  below.below = [self = server.get()](absl::string_view path) { return self->Answer(path); };
  routes.push_back(std::move(below));
  absl::StatusOr<std::unique_ptr<HttpServer>> served = HttpServer::Serve(http, std::move(routes), std::move(access));
  if (!served.ok()) return served.status();
  server->server_ = *std::move(served);
  return server;
}

std::optional<HttpContent> RecordingServer::Answer(absl::string_view path) const {
  if (path == "facts") return HttpContent{kJson, Facts()};
  absl::StatusOr<std::string> answer = absl::NotFoundError("");
  double at_s = 0;
  size_t part = 0;
  if (absl::ConsumePrefix(&path, "at/")) {
    if (absl::SimpleAtod(path, &at_s) && std::isfinite(at_s)) answer = At(at_s);
  } else if (absl::ConsumePrefix(&path, "history/")) {
    if (absl::SimpleAtoi(path, &part)) answer = History(part);
  } else if (absl::ConsumePrefix(&path, "trace/")) {
    if (absl::SimpleAtoi(path, &part) && part < recording_.traces()) answer = recording_.ReadTrace(part);
  }
  if (!answer.ok()) return std::nullopt;
  return HttpContent{kJson, *std::move(answer)};
}

size_t RecordingServer::samples() const { return std::min(recording_.size(), JobHistory::kMostRounds); }

std::string RecordingServer::Facts() const {
  const size_t parts = (samples() + kSamplesOfPart - 1) / kSamplesOfPart;
  return absl::StrFormat(R"({"from_s":%s,"to_s":%s,"speed":%g,"history_parts":%d})", Seconds(recording_.from_s()),
                         Seconds(recording_.to_s()), speed_, parts);
}

absl::StatusOr<std::string> RecordingServer::At(double at_s) const {
  const size_t moment = recording_.Find(at_s);
  const absl::StatusOr<std::string> status = recording_.Read(moment);
  if (!status.ok()) return status;
  const std::optional<size_t> trace = recording_.FindTrace(at_s);
  std::optional<double> traced_s;
  if (trace.has_value()) traced_s = recording_.trace_at_s(*trace);
  std::optional<double> next_s;
  if (moment + 1 < recording_.size()) next_s = recording_.at_s(moment + 1);
  if (const size_t next = trace.has_value() ? *trace + 1 : 0; next < recording_.traces()) {
    next_s = std::min(next_s.value_or(recording_.to_s()), recording_.trace_at_s(next));
  }
  const double since_s = std::max(recording_.at_s(moment), traced_s.value_or(recording_.from_s()));
  return absl::StrCat("{\"at_s\":", Seconds(since_s), ",\"next_s\":", SecondsOrNull(next_s),
                      ",\"trace\":", trace.has_value() ? absl::StrCat(*trace) : "null",
                      ",\"traced_s\":", SecondsOrNull(traced_s), ",\"status\":", *status, "}");
}

absl::StatusOr<std::string> RecordingServer::History(size_t part) const {
  const size_t count = samples();
  if (part > count / kSamplesOfPart) return absl::NotFoundError("no such part");
  JobHistory history;
  for (size_t i = part * kSamplesOfPart; i < std::min(count, (part + 1) * kSamplesOfPart); ++i) {
    const size_t moment = count == 1 ? 0 : i * (recording_.size() - 1) / (count - 1);
    const absl::StatusOr<std::string> json = recording_.Read(moment);
    if (!json.ok()) return json;
    const absl::StatusOr<JobStatus> status = ParseStatus(*json);
    if (status.ok()) history.Add(*status, absl::UnixEpoch() + absl::Seconds(recording_.at_s(moment)), i + 1);
  }
  const std::string json = history.JsonSince(0);
  return json.empty() ? R"({"all":false,"rounds":[],"policies":[]})" : json;
}

}  // namespace banyan
