// Nine data centres with batch b each train the same parameters as one process with batch 9b on the same samples.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/training_loop.h"
#include "examples/fashion_mnist/worker_training.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "posix/port_reservation.h"
#include "runtime/local_node.h"
#include "runtime/session/session.h"

namespace banyan {
namespace {

constexpr int kNodes = 9;
constexpr int64_t kBatch = 8;
constexpr int kRounds = 50;
constexpr double kLearningRate = 0.01;

// A sparse overlay, so that sums travel over several hops and several trees.
constexpr char kOverlay[] = R"(
job: equivalence
scheduler: {address: tcp://127.0.0.1:7700}
nodes:
  - {name: n1, address: tcp://127.0.0.1:7701}
  - {name: n2, address: tcp://127.0.0.1:7702}
  - {name: n3, address: tcp://127.0.0.1:7703}
  - {name: n4, address: tcp://127.0.0.1:7704}
  - {name: n5, address: tcp://127.0.0.1:7705}
  - {name: n6, address: tcp://127.0.0.1:7706}
  - {name: n7, address: tcp://127.0.0.1:7707}
  - {name: n8, address: tcp://127.0.0.1:7708}
  - {name: n9, address: tcp://127.0.0.1:7709}
links:
  - {between: [n1, n2], mbps: [38, 54]}
  - {between: [n1, n3], mbps: [135, 81]}
  - {between: [n2, n3], mbps: [123, 108]}
  - {between: [n2, n5], mbps: [87, 78]}
  - {between: [n3, n4], mbps: [127, 32]}
  - {between: [n4, n6], mbps: [133, 80]}
  - {between: [n5, n7], mbps: [123, 142]}
  - {between: [n6, n8], mbps: [51, 93]}
  - {between: [n6, n9], mbps: [148, 49]}
  - {between: [n7, n8], mbps: [23, 147]}
  - {between: [n8, n9], mbps: [71, 77]}
chunks: {max_elements: 4096}
membership: {heartbeat_seconds: 1, lost_after_seconds: 60}
)";

// A scheduler daemon; its nodes say at joining where they really are.
class Scheduler {
 public:
  void Start() {
    absl::StatusOr<PortReservation> port = PortReservation::Take(1);
    ASSERT_TRUE(port.ok()) << port.status();
    port_.emplace(*std::move(port));
    const std::string overlay = ::testing::TempDir() + "/equivalence.yaml";
    std::ofstream(overlay) << kOverlay;
    absl::StatusOr<std::unique_ptr<ChildProcess>> process =
        ChildProcess::Start({.name = "the scheduler",
                             .arguments = {absl::StrCat(std::getenv("TEST_SRCDIR"), "/banyan/tools/banyan"),
                                           "scheduler", overlay, "--listen", address(), "--forgetful"},
                             .log_path = ::testing::TempDir() + "/scheduler.log"});
    ASSERT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
  }
  ~Scheduler() {
    if (::testing::Test::HasFailure() && process_ != nullptr) std::cerr << process_->LogTail(50);
  }
  std::string address() const { return port_->Address(0); }

 private:
  std::optional<PortReservation> port_;
  std::unique_ptr<ChildProcess> process_;
};

// Images with some structure, the same at each call.
ImageSet MakeImages(int64_t count) {
  ImageSet images;
  Random random(7);
  for (int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<uint8_t>(random.Below(kClasses));
    for (int64_t pixel = 0; pixel < kImagePixels; ++pixel) {
      const bool bright = pixel % kImageSide / 2 == label;
      images.pixels.push_back(static_cast<uint8_t>(random.Below(100) + (bright ? 150 : 0)));
    }
    images.labels.push_back(label);
  }
  return images;
}

std::vector<float> ValuesOf(const Classifier& classifier) {
  std::vector<float> values;
  for (const Classifier::Parameter& parameter : classifier.parameters()) {
    values.insert(values.end(), parameter.values.begin(), parameter.values.end());
  }
  return values;
}

void SetValues(const std::vector<float>& values, Classifier& classifier) {
  auto next = values.begin();
  for (const Classifier::Parameter& parameter : classifier.parameters()) {
    std::copy_n(next, parameter.values.size(), parameter.values.begin());
    next += static_cast<ptrdiff_t>(parameter.values.size());
  }
}

double RelativeL2(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference / norm);
}

// Samples of round `round` that worker `rank` of `world` gets; together they are those of a single worker.
Batch BatchOf(const ImageSet& images, int round, int rank, int world) {
  std::vector<int64_t> indices;
  const int64_t share = kNodes * kBatch / world;
  for (int64_t i = 0; i < share; ++i) indices.push_back((round * kNodes * kBatch + rank * share + i) % images.size());
  return MakeBatch(images, indices);
}

class EquivalenceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { UseOneThread(); }

  void SetUp() override {
    for (int rank = 0; rank < kNodes; ++rank) {
      classifiers_.push_back(std::make_unique<Classifier>(
          ClassifierOptions{.seed = 100 + static_cast<uint64_t>(rank), .learning_rate = kLearningRate}));
    }
  }

  // Parameters of all replicas after each round, and before the first.
  std::vector<std::vector<float>> TrainTogether(double momentum) {
    Scheduler scheduler;
    scheduler.Start();
    if (HasFatalFailure()) return {};
    std::vector<std::vector<float>> history(kRounds + 1);
    std::vector<std::thread> workers;
    for (int rank = 0; rank < kNodes; ++rank) {
      workers.emplace_back([&, rank] {
        const absl::Status status = TrainOne(scheduler.address(), rank, momentum, history);
        EXPECT_TRUE(status.ok()) << "worker " << rank << ": " << status;
      });
    }
    for (std::thread& worker : workers) worker.join();
    return history;
  }

  absl::Status TrainOne(const std::string& scheduler, int rank, double momentum,
                        std::vector<std::vector<float>>& history) {
    LocalNodeOptions options;
    options.name = absl::StrCat("n", rank + 1);
    options.scheduler = scheduler;
    absl::StatusOr<std::unique_ptr<LocalNode>> node = LocalNode::Start(options);
    if (!node.ok()) return node.status();
    absl::StatusOr<std::unique_ptr<Session>> session = (*node)->OpenSession();
    if (!session.ok()) return session.status();
    TrainingLoop loop(**session, *classifiers_[rank], rank, momentum);
    if (absl::Status status = loop.ShareParameters(); !status.ok()) return status;
    if (rank == 0) history[0] = ValuesOf(*classifiers_[rank]);
    for (int round = 0; round < kRounds; ++round) {
      const absl::StatusOr<RoundProgress> done = loop.TrainRound(BatchOf(images_, round, rank, kNodes));
      if (!done.ok()) return done.status();
      if (rank == 0) history[round + 1] = ValuesOf(*classifiers_[rank]);
    }
    return (*session)->Barrier().Wait();
  }

  const ImageSet images_ = MakeImages(2000);
  std::vector<std::unique_ptr<Classifier>> classifiers_;
};

TEST_F(EquivalenceTest, NineNodesAreOneProcess) {
  const std::vector<std::vector<float>> together = TrainTogether(/*momentum=*/0);
  ASSERT_FALSE(HasFailure());
  for (const std::unique_ptr<Classifier>& classifier : classifiers_) {
    EXPECT_EQ(classifier->HashValues(), classifiers_[0]->HashValues());
  }

  Classifier alone({.learning_rate = kLearningRate});
  double worst_round = 0;
  for (int round = 0; round < kRounds; ++round) {
    SetValues(together[round], alone);
    alone.ComputeGradients(BatchOf(images_, round, 0, 1), [](size_t) {});
    alone.ApplyGradients();
    const double error = RelativeL2(together[round + 1], ValuesOf(alone));
    EXPECT_LE(error, 1e-6) << "round " << round + 1;
    worst_round = std::max(worst_round, error);
  }

  SetValues(together[0], alone);
  for (int round = 0; round < kRounds; ++round) {
    alone.ComputeGradients(BatchOf(images_, round, 0, 1), [](size_t) {});
    alone.ApplyGradients();
  }
  const double error = RelativeL2(together[kRounds], ValuesOf(alone));
  EXPECT_LE(error, 1e-4);
  EXPECT_GT(RelativeL2(together[kRounds], together[0]), 1e-3) << "the parameters have hardly moved";
  RecordProperty("worst_round", absl::StrCat(worst_round));
  RecordProperty("after_50_rounds", absl::StrCat(error));
}

// Added up by nine workers before they push, or by one process before its step.
TEST_F(EquivalenceTest, MomentumOfNineNodesIsThatOfOneProcess) {
  constexpr double kMomentum = 0.9;
  const std::vector<std::vector<float>> together = TrainTogether(kMomentum);
  ASSERT_FALSE(HasFailure());
  Classifier alone({.learning_rate = kLearningRate});
  LocalMomentum momentum(kMomentum);
  for (int round = 0; round < kRounds; ++round) {
    SetValues(together[round], alone);
    alone.ComputeGradients(BatchOf(images_, round, 0, 1), [](size_t) {});
    for (size_t i = 0; i < alone.parameters().size(); ++i) momentum.AddTo(i, alone.parameters()[i].gradient);
    alone.ApplyGradients();
    EXPECT_LE(RelativeL2(together[round + 1], ValuesOf(alone)), 1e-6) << "round " << round + 1;
  }
}

}  // namespace
}  // namespace banyan
