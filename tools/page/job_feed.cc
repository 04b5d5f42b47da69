#include "tools/page/job_feed.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/page/page_files.h"
#include "tools/reports/status_view.h"

namespace banyan {

void JobFeed::Set(const std::string& json, absl::Time now) {
  const absl::StatusOr<StatusView> view = ParseStatus(json);
  auto status = std::make_shared<const std::string>(json);
  const std::lock_guard<std::mutex> lock(mutex_);
  ++heard_;
  if (status_ != nullptr && *status_ == json) return;
  status_.swap(status);
  changed_at_ = heard_;
  if (view.ok()) history_.Add(*view, now, heard_);
}

void JobFeed::SetTrace(std::string json) {
  const std::lock_guard<std::mutex> lock(mutex_);
  traced_at_ = ++heard_;
  trace_ = std::move(json);
}

std::shared_ptr<const std::string> JobFeed::Status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

std::string JobFeed::NextEvents(uint64_t& place) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (place == heard_) return "";
  if (place >= changed_at_ && place >= traced_at_) {
    place = heard_;
    return "event: beat\ndata: {}\n\n";
  }
  std::string events;
  if (place < changed_at_) {
    const std::string history = history_.JsonSince(place);
    if (!history.empty()) absl::StrAppend(&events, "event: history\ndata: ", history, "\n\n");
    absl::StrAppend(&events, "event: status\ndata: ", *status_, "\n\n");
  }
  if (place < traced_at_) absl::StrAppend(&events, "event: trace\ndata: ", trace_, "\n\n");
  place = heard_;
  return events;
}

std::vector<HttpRoute> JobPageRoutes(const JobFeed* feed) {
  std::vector<HttpRoute> routes;
  for (const PageFile& file : PageFiles()) {
    routes.push_back({file.path, [file] { return HttpContent{file.content_type, std::string(file.bytes)}; }});
  }
  routes.push_back({"/api/status", [feed] {
                      const std::shared_ptr<const std::string> status = feed->Status();
                      // As the scheduler's own before its first second has passed.
                      return HttpContent{"application/json", status == nullptr ? "{}" : *status};
                    }});
  routes.push_back({"/api/events", nullptr, [feed](uint64_t& place) { return feed->NextEvents(place); }});
  return routes;
}

}  // namespace banyan
