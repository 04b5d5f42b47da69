// Keeps the last status of a scheduler at hand: a thread of its own asks again and again. Thread-safe.
#ifndef BANYAN_TOOLS_STATUS_FEED_H_
#define BANYAN_TOOLS_STATUS_FEED_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/protocol_host.h"
#include "tools/status_view.h"

namespace banyan {

class StatusFeed {
 public:
  // `scheduler` is tcp://host:port.
  static absl::StatusOr<std::unique_ptr<StatusFeed>> Start(const std::string& scheduler, absl::Duration interval);
  StatusFeed(const StatusFeed&) = delete;
  StatusFeed& operator=(const StatusFeed&) = delete;
  ~StatusFeed();

  // What came since the last call; nothing when nothing did.
  std::optional<StatusView> Take();

 private:
  explicit StatusFeed(std::unique_ptr<ProtocolHost> host) : host_(std::move(host)) {}
  void Keep(const std::string& json);

  const std::unique_ptr<ProtocolHost> host_;
  std::mutex mutex_;
  std::optional<StatusView> latest_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_STATUS_FEED_H_
