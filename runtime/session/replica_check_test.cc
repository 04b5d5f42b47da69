// CompareReplicas over real nodes: all workers hear who differs from the lowest, and in what.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/local_node.h"
#include "runtime/session/session.h"
#include "runtime/testing/scheduler_thread.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Seconds(60);
constexpr int kSites = 3;

template <typename T>
absl::Span<uint8_t> BytesOf(std::vector<T>& values) {
  return {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(T)};
}

class ReplicaCheckTest : public testing::Test {
 protected:
  explicit ReplicaCheckTest(const std::string& more = "") {
    std::string overlay = absl::StrCat("job: test\nscheduler: {address: tcp://127.0.0.1:7700}\n", more, "nodes:\n");
    for (int i = 1; i <= kSites; ++i) {
      absl::StrAppend(&overlay, "  - {name: n", i, ", address: tcp://127.0.0.1:770", i, ", workers: 1}\n");
    }
    scheduler_ = std::make_unique<SchedulerThread>(overlay);
    for (int i = 0; i < kSites; ++i) nodes_.push_back(scheduler_->StartNode(i + 1));
    OnAll([this](int i) { sessions_[i] = *nodes_[i]->OpenSession(0, kLong); });
  }
  template <typename Body>
  void OnAll(Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kSites; ++i) threads.emplace_back([&body, i] { body(i); });
    for (std::thread& thread : threads) thread.join();
  }
  // What each site hears of its values.
  std::vector<absl::Status> Compare() {
    std::vector<absl::Status> heard(kSites);
    OnAll([&](int i) {
      heard[i] = sessions_[i]->CompareReplicas(
          "model", {{"weight", BytesOf(weights_[i])}, {"bias", BytesOf(biases_[i])}}, kLong);
    });
    return heard;
  }

  std::unique_ptr<SchedulerThread> scheduler_;
  std::vector<std::unique_ptr<LocalNode>> nodes_;
  std::unique_ptr<Session> sessions_[kSites];
  std::vector<std::vector<float>> weights_{kSites, {1, 2, 3}};
  std::vector<std::vector<double>> biases_{kSites, {4}};
};

TEST_F(ReplicaCheckTest, SaysWhoDiffersAndInWhat) {
  for (int call = 0; call < 3; ++call) {
    for (const absl::Status& heard : Compare()) EXPECT_TRUE(heard.ok()) << heard;
  }
  biases_[0][0] = biases_[2][0] = 5;
  for (const absl::Status& heard : Compare()) {
    EXPECT_EQ(heard.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(
        heard.message(),
        "model: replicas have parted by round 4: n2 differ from n1, first in bias. Look at what one site alone does "
        "to parameters or gradients: a step, a clip, a load, a schedule");
  }
  weights_[1][2] = weights_[2][2] = -3;
  for (const absl::Status& heard : Compare()) {
    EXPECT_THAT(heard.message(), HasSubstr("by round 5: n2, n3 differ from n1, first in weight."));
  }
}

TEST_F(ReplicaCheckTest, NothingIsNoReplica) {
  EXPECT_EQ(sessions_[0]->CompareReplicas("model", {}).code(), absl::StatusCode::kInvalidArgument);
}

class QuorumReplicaCheckTest : public ReplicaCheckTest {
 protected:
  QuorumReplicaCheckTest() : ReplicaCheckTest("aggregation: {quorum: 0.6}\n") {}
};

TEST_F(QuorumReplicaCheckTest, RoundsThatLeaveWorkersOutCompareNothing) {
  EXPECT_THAT(std::string(sessions_[0]->CompareReplicas("model", {{"weight", BytesOf(weights_[0])}}).message()),
              AllOf(HasSubstr("counts all workers"), HasSubstr("aggregation.quorum")));
}

}  // namespace
}  // namespace banyan
