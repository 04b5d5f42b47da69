// What tests of sessions share: a node for tests, reached in either way. Thread-compatible.
#ifndef BANYAN_RUNTIME_TESTING_TESTING_SESSION_H_
#define BANYAN_RUNTIME_TESTING_TESTING_SESSION_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/node_host.h"
#include "runtime/session/session.h"
#include "runtime/testing/testing_node.h"

namespace banyan {

inline constexpr absl::Duration kLong = absl::Seconds(120);

enum class PortKind { kUnix, kLocal };

// Every test runs with both ways to reach a node.
class SessionTest : public testing::TestWithParam<PortKind> {
 protected:
  void StartNode(TestingNodeOptions options = {}, int64_t max_worker_bytes = int64_t{1} << 40) {
    std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    socket_ = "unix:" + directory + "/n1";
    options.on_detach = [this](bool clean) {
      std::lock_guard<std::mutex> lock(mutex_);
      detached_.push_back(clean);
      changed_.notify_one();
    };
    auto host = NodeHost::Start({.name = "n1", .worker_socket = socket_, .max_worker_bytes = max_worker_bytes},
                                [&](const ProtocolHost&) { return std::make_unique<TestingNode>(options); });
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }

  absl::StatusOr<std::unique_ptr<Session>> TryOpen(uint32_t worker = 0) {
    if (GetParam() == PortKind::kLocal) return host_->OpenSession(worker, kLong, room_timeout_);
    return Session::Open({.node = socket_, .worker = worker, .open_timeout = kLong, .room_timeout = room_timeout_});
  }
  std::unique_ptr<Session> Open(uint32_t worker = 0) {
    auto session = TryOpen(worker);
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  // Whether each worker that has left did so cleanly, once `count` have.
  std::vector<bool> Detached(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return detached_.size() >= count; });
    return detached_;
  }

  std::string socket_;
  absl::Duration room_timeout_ = absl::InfiniteDuration();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> detached_;  // guarded by mutex_
  std::unique_ptr<NodeHost> host_;
};

inline std::string PortName(const testing::TestParamInfo<PortKind>& info) {
  return info.param == PortKind::kUnix ? "Unix" : "Local";
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_TESTING_SESSION_H_
