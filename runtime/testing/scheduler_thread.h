// A scheduler on a thread of its own, and nodes of its job in the same process, for tests. Stops at its end.
// Thread-compatible.
#ifndef BANYAN_RUNTIME_TESTING_SCHEDULER_THREAD_H_
#define BANYAN_RUNTIME_TESTING_SCHEDULER_THREAD_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/local_node.h"
#include "runtime/protocol_host.h"
#include "scheduler/scheduler_core.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

class SchedulerThread {
 public:
  // Runs the scheduler of this overlay on a free port.
  explicit SchedulerThread(const std::string& overlay) : host_(ProtocolHost::Create({.name = "scheduler"}).value()) {
    auto core = std::make_unique<SchedulerCore>(ParseOverlay(overlay, "test").value(), SchedulerOptions());
    thread_ = std::thread([this, core = std::move(core)]() mutable { (void)host_->Run(std::move(core)); });
  }
  SchedulerThread(const SchedulerThread&) = delete;
  SchedulerThread& operator=(const SchedulerThread&) = delete;
  ~SchedulerThread() {
    host_->RequestStop();
    thread_.join();
  }

  std::string address() const { return host_->bound_address(); }

  // Starts n<number>.
  std::unique_ptr<LocalNode> StartNode(int number, std::function<void(int, absl::string_view)> log = {}) const {
    auto node = LocalNode::Start({.name = absl::StrCat("n", number), .scheduler = address(), .log = std::move(log)});
    EXPECT_TRUE(node.ok()) << node.status();
    return *std::move(node);
  }

 private:
  const std::unique_ptr<ProtocolHost> host_;
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_SCHEDULER_THREAD_H_
