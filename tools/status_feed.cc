#include "tools/status_feed.h"

#include <utility>

#include "tools/scheduler_probe.h"

namespace banyan {

absl::StatusOr<std::unique_ptr<StatusFeed>> StatusFeed::Start(const std::string& scheduler, absl::Duration interval) {
  ProtocolHostOptions options;
  options.name = "status";
  absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create(std::move(options));
  if (!host.ok()) return host.status();
  std::unique_ptr<StatusFeed> feed(new StatusFeed(*std::move(host)));
  auto probe = std::make_unique<SchedulerProbe>(
      SchedulerProbeOptions{.scheduler = scheduler,
                            .question = StatusRequest{},
                            // The display may miss it; whoever watches the scheduler's process tells when it is gone.
                            .patience = absl::InfiniteDuration(),
                            .interval = interval,
                            .on_answer = [feed = feed.get()](const Message& message) {
                              const auto* reply = std::get_if<StatusReply>(&message);
                              if (reply != nullptr) feed->Keep(reply->json);
                              return reply != nullptr;
                            }});
  feed->thread_ = std::thread([feed = feed.get(), probe = std::move(probe)]() mutable {
    // It ends when asked to, and then without an error.
    feed->host_->Run(std::move(probe)).IgnoreError();
  });
  return feed;
}

StatusFeed::~StatusFeed() {
  host_->RequestStop();
  thread_.join();
}

void StatusFeed::Keep(const std::string& json) {
  absl::StatusOr<StatusView> status = ParseStatus(json);
  if (!status.ok()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  latest_ = *std::move(status);
}

std::optional<StatusView> StatusFeed::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(latest_, std::nullopt);
}

}  // namespace banyan
