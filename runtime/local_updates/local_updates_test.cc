// Local updates over real nodes equal an emulation of all workers in plain words, the one that the tests of
// banyan.torch use.
#include "runtime/local_updates/local_updates.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compression/kernels/half_float.h"
#include "gtest/gtest.h"
#include "runtime/local_node.h"
#include "runtime/session/session.h"
#include "runtime/testing/scheduler_thread.h"

namespace banyan {
namespace {

constexpr absl::Duration kLong = absl::Seconds(60);
constexpr int kSites = 2;
constexpr int kWorkersOfSite = 2;
constexpr int kWorkers = kSites * kWorkersOfSite;
constexpr int kSteps = 24;

// Tensors by name.
using Model = std::map<std::string, std::vector<float>>;

Model MakeModel() {
  return {{"a", std::vector<float>(7, 0.5f)}, {"b", {-1}}, {"c", std::vector<float>(100, 2)}, {"d", {}}};
}

// An inner step, which goes another way in each worker.
void Train(Model& model, int worker, int64_t step) {
  for (auto& [name, values] : model) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto target = static_cast<float>(std::sin(static_cast<double>(step * 7 + worker * 3) + 0.1 * i));
      values[i] -= 0.1f * (values[i] - target);
    }
  }
}

double WeightOf(int worker) { return worker + 1; }

// A way to train, and the fragment of each tensor.
struct Kind {
  LocalUpdateOptions options;
  std::map<std::string, size_t> fragment_of = {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}};
};

const std::map<std::string, size_t> kInTwo = {{"a", 0}, {"b", 1}, {"c", 1}, {"d", 0}};

std::map<std::string, Kind> Kinds() {
  std::map<std::string, Kind> kinds = {
      {"diloco", {DiLoCo(8)}},      {"fragments", {DiLoCo(8), kInTwo}}, {"streaming", {StreamingDiLoCo(8), kInTwo}},
      {"local-sgd", {LocalSgd(4)}}, {"weighted", {DiLoCo(6)}},          {"hfa", {Hfa({}, 2, 3)}}};
  kinds["weighted"].options.is_weighted = true;
  for (auto& [name, kind] : kinds) {
    kind.options.name = name;
  }
  return kinds;
}

size_t FragmentsOf(const Kind& kind) {
  size_t count = 1;
  for (const auto& [name, fragment] : kind.fragment_of) count = std::max(count, fragment + 1);
  return count;
}

std::vector<std::vector<ModelTensor>> Cut(Model& model, const Kind& kind) {
  std::vector<std::vector<ModelTensor>> fragments(FragmentsOf(kind));
  for (const auto& [name, fragment] : kind.fragment_of) {
    fragments[fragment].push_back({name, absl::MakeSpan(model.at(name))});
  }
  return fragments;
}

// All workers in one thread, without a line of the code that is tested.
class Emulation {
 public:
  explicit Emulation(const Kind& kind)
      : kind_(kind), models_(kWorkers, MakeModel()), begin_(MakeModel()), speed_(MakeModel()) {
    for (auto& [name, values] : speed_) values.assign(values.size(), 0);
  }

  std::vector<Model> Run() {
    const LocalUpdateOptions& options = kind_.options;
    const size_t count = FragmentsOf(kind_);
    for (int64_t step = 1; step <= kSteps; ++step) {
      for (int worker = 0; worker < kWorkers; ++worker) Train(models_[worker], worker, step);
      if (options.site_every > 0 && step % options.site_every == 0) TakeSiteMeans();
      for (size_t i = 0; i < count; ++i) {
        if (under_way_.count(i) > 0 && under_way_[i].first == step) Finish(i);
        if (step % options.sync_every != static_cast<int64_t>(i) * options.sync_every / static_cast<int64_t>(count))
          continue;
        under_way_[i] = {step + options.fragment_sync_delay, MeanOf(i)};
        if (options.fragment_sync_delay == 0) Finish(i);
      }
    }
    while (!under_way_.empty()) Finish(under_way_.begin()->first);
    return models_;
  }

 private:
  void TakeSiteMeans() {
    for (int first = 0; first < kWorkers; first += kWorkersOfSite) {
      for (auto& [name, values] : models_[first]) {
        for (size_t i = 0; i < values.size(); ++i) {
          const float mean = (values[i] + models_[first + 1][name][i]) / 2;
          values[i] = models_[first + 1][name][i] = mean;
        }
      }
    }
  }

  Model MeanOf(size_t fragment) {
    Model mean;
    for (const auto& [name, values] : begin_) {
      if (kind_.fragment_of.at(name) != fragment) continue;
      for (size_t i = 0; i < values.size(); ++i) {
        double sum = 0;
        double weights = 0;
        for (int worker = 0; worker < kWorkers; ++worker) {
          const double weight = kind_.options.is_weighted ? WeightOf(worker) : 1;
          sum += weight * (static_cast<double>(values[i]) - static_cast<double>(models_[worker][name][i]));
          weights += weight;
        }
        mean[name].push_back(static_cast<float>(sum / weights));
      }
    }
    return mean;
  }

  void Finish(size_t fragment) {
    const auto momentum = static_cast<float>(kind_.options.momentum);
    const auto alpha = static_cast<float>(kind_.options.fragment_update_alpha);
    for (const auto& [name, mean] : under_way_[fragment].second) {
      for (size_t i = 0; i < mean.size(); ++i) {
        float& speed = speed_[name][i];
        speed = momentum * speed + mean[i];
        begin_[name][i] -= static_cast<float>(kind_.options.learning_rate) * (mean[i] + momentum * speed);
        for (Model& model : models_) model[name][i] = alpha * model[name][i] + (1 - alpha) * begin_[name][i];
      }
    }
    under_way_.erase(fragment);
  }

  const Kind& kind_;
  std::vector<Model> models_;
  Model begin_;
  Model speed_;
  std::map<size_t, std::pair<int64_t, Model>> under_way_;  // the step at which it is awaited, and its mean
};

// The relative L2 distance.
double DistanceOf(const Model& one, const Model& other) {
  double square = 0;
  double whole = 0;
  for (const auto& [name, values] : one) {
    for (size_t i = 0; i < values.size(); ++i) {
      square += std::pow(static_cast<double>(values[i]) - static_cast<double>(other.at(name)[i]), 2);
      whole += std::pow(static_cast<double>(values[i]), 2);
    }
  }
  return std::sqrt(square / whole);
}

// What one worker has in the end.
struct Outcome {
  Model model;
  std::string state;  // the bytes of all parts
  int64_t sent_elements = 0;
};

std::string BytesOf(const std::vector<StatePart>& parts) {
  std::string bytes;
  for (const StatePart& each : parts)
    absl::StrAppend(&bytes, each.name, ":", std::string(each.memory.begin(), each.memory.end()));
  return bytes;
}

// Overlays of `nodes` sites with `workers` workers each.
std::string Overlay(int nodes, int workers, const std::string& more = "") {
  std::string text = absl::StrCat("job: test\nscheduler: {address: tcp://127.0.0.1:7700}\n", more, "nodes:\n");
  for (int i = 1; i <= nodes; ++i) {
    absl::StrAppend(&text, "  - {name: n", i, ", address: tcp://127.0.0.1:770", i, ", workers: ", workers, "}\n");
  }
  return text;
}

std::unique_ptr<Session> OpenSession(LocalNode& node, uint32_t worker = 0) {
  auto session = node.OpenSession(worker, kLong);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

// Runs body(i) for each of `count` in a thread of its own.
void RunThreads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& each : threads) each.join();
}

// The mean over the workers of a site, which are threads here. Thread-safe.
class SiteMeans {
 public:
  // For the worker with this number at the site.
  SiteMean Of(int worker) {
    return [this, worker](TensorView values) {
      spans_[worker] = values.floats();
      all_are_here_.arrive_and_wait();
      if (worker == 0) {
        for (size_t i = 0; i < spans_[0].size(); ++i) {
          spans_[0][i] = (spans_[0][i] + spans_[1][i]) / 2;
          spans_[1][i] = spans_[0][i];
        }
      }
      all_are_here_.arrive_and_wait();
      return absl::OkStatus();
    };
  }

 private:
  std::barrier<> all_are_here_{kWorkersOfSite};
  absl::Span<float> spans_[kWorkersOfSite];
};

// One worker's training in a way.
void TrainKind(Session& session, SiteMean site_mean, int worker, Kind kind, Outcome& outcome) {
  outcome.model = MakeModel();
  // The lowest worker's parameters count.
  for (auto& [name, values] : outcome.model) {
    for (float& each : values) each += static_cast<float>(worker);
  }
  if (kind.options.site_every > 0) kind.options.site_mean = std::move(site_mean);
  auto updates = LocalUpdates::Begin(session, Cut(outcome.model, kind), kind.options, kLong);
  ASSERT_TRUE(updates.ok()) << updates.status();
  EXPECT_EQ(outcome.model, MakeModel());
  if (kind.options.is_weighted) {
    EXPECT_TRUE((*updates)->set_weight(WeightOf(worker)).ok());
  }
  for (int64_t step = 1; step <= kSteps; ++step) {
    Train(outcome.model, worker, step);
    const absl::Status done = (*updates)->Step(kLong);
    ASSERT_TRUE(done.ok()) << done;
  }
  EXPECT_EQ((*updates)->is_pending(), kind.options.fragment_sync_delay > 0);
  ASSERT_TRUE((*updates)->Flush(kLong).ok());
  EXPECT_FALSE((*updates)->is_pending());
  outcome.state = BytesOf((*updates)->StateParts());
  outcome.sent_elements = (*updates)->sent_elements();
}

TEST(LocalUpdatesTest, SitesEqualAnEmulationInOnePlace) {
  const std::map<std::string, Kind> kinds = Kinds();
  const SchedulerThread scheduler(Overlay(kSites, kWorkersOfSite));
  std::vector<std::unique_ptr<LocalNode>> nodes;
  for (int site = 1; site <= kSites; ++site) nodes.push_back(scheduler.StartNode(site));
  SiteMeans site_means[kSites];
  std::map<std::string, std::vector<Outcome>> outcomes;
  for (const auto& [name, kind] : kinds) outcomes[name].resize(kWorkers);
  RunThreads(kWorkers, [&](int worker) {
    const int site = worker / kWorkersOfSite;
    const int number = worker % kWorkersOfSite;
    const auto session = OpenSession(*nodes[site], number);
    ASSERT_TRUE(session);
    for (const auto& [name, kind] : kinds) {
      TrainKind(*session, site_means[site].Of(number), worker, kind, outcomes.at(name)[worker]);
    }
  });
  for (const auto& [name, kind] : kinds) {
    SCOPED_TRACE(name);
    const std::vector<Model> emulated = Emulation(kind).Run();
    for (int worker = 0; worker < kWorkers; ++worker) {
      EXPECT_LT(DistanceOf(emulated[worker], outcomes[name][worker].model), 1e-6) << "worker " << worker;
      EXPECT_EQ(outcomes[name][worker].state, outcomes[name][0].state) << "worker " << worker;
      EXPECT_EQ(outcomes[name][worker].sent_elements, kSteps / kind.options.sync_every * 108);
    }
  }
}

// Two workers, each with a node of its own.
class TwoWorkersTest : public testing::Test {
 protected:
  explicit TwoWorkersTest(const std::string& more = "") : scheduler_(Overlay(2, 1, more)) {
    for (int i = 0; i < 2; ++i) nodes_.push_back(scheduler_.StartNode(i + 1));
    RunThreads(2, [&](int i) { sessions_[i] = OpenSession(*nodes_[i]); });
  }

  SchedulerThread scheduler_;
  std::vector<std::unique_ptr<LocalNode>> nodes_;
  std::unique_ptr<Session> sessions_[2];
};

TEST_F(TwoWorkersTest, AfterATimeOutAWorkerWaitsOn) {
  Model models[2] = {MakeModel(), MakeModel()};
  std::unique_ptr<LocalUpdates> updates[2];
  RunThreads(2, [&](int i) {
    auto begun = LocalUpdates::Begin(*sessions_[i], Cut(models[i], Kind()), DiLoCo(1), kLong);
    ASSERT_TRUE(begun.ok()) << begun.status();
    updates[i] = *std::move(begun);
    Train(models[i], i, 1);
  });
  ASSERT_TRUE(updates[0] && updates[1]);
  EXPECT_TRUE(absl::IsDeadlineExceeded(updates[0]->Step(absl::Milliseconds(1))));
  EXPECT_TRUE(updates[0]->is_pending());
  RunThreads(2, [&](int i) { EXPECT_TRUE((i == 0 ? updates[0]->Flush(kLong) : updates[1]->Step(kLong)).ok()); });
  EXPECT_EQ(models[0], models[1]);
  EXPECT_EQ(updates[0]->outer_step(), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(updates[0]->set_weight(1)));
}

TEST_F(TwoWorkersTest, AStartThatFoundNoRoomIsMadeUpFor) {
  sessions_[0].reset();
  nodes_[0] = scheduler_.StartNode(1);
  sessions_[0] = *nodes_[0]->OpenSession(0, kLong, /*room_timeout=*/absl::Milliseconds(1));
  Model models[2] = {MakeModel(), MakeModel()};
  std::unique_ptr<LocalUpdates> updates[2];
  std::vector<ConstTensorView> gradients[2];
  RunThreads(2, [&](int i) {
    const auto fragments = Cut(models[i], Kind());
    updates[i] = *LocalUpdates::Begin(*sessions_[i], fragments, DiLoCo(1), kLong);
    for (const ModelTensor& each : fragments[0]) gradients[i].push_back(each.values);
  });
  // A round that the other worker does not take part in yet.
  EXPECT_TRUE(sessions_[0]->PushGroup("outer/0", gradients[0]).Wait(kLong).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(updates[0]->Step(kLong)));
  EXPECT_FALSE(updates[0]->is_pending());
  EXPECT_TRUE(sessions_[1]->PushGroup("outer/0", gradients[1]).Wait(kLong).ok());
  RunThreads(2, [&](int i) {
    absl::Status status = i == 0 ? updates[0]->Flush(kLong) : updates[1]->Step(kLong);
    while (absl::IsDeadlineExceeded(status)) status = updates[i]->Flush(kLong);
    EXPECT_TRUE(status.ok()) << status;
  });
  EXPECT_EQ(models[0], models[1]);
  EXPECT_EQ(updates[0]->outer_step(), 1);
}

TEST_F(TwoWorkersTest, AModelOfHalvesTravelsInHalves) {
  RunThreads(2, [&](int i) {
    std::vector<uint16_t> model(2);
    auto* const bytes = reinterpret_cast<uint8_t*>(model.data());
    const std::vector<std::vector<ModelTensor>> fragments = {{{"h", TensorView(bytes, 2, DataType::kBFloat16)}}};
    const auto updates = LocalUpdates::Begin(*sessions_[i], fragments, LocalSgd(1), kLong);
    ASSERT_TRUE(updates.ok()) << updates.status();
    const auto number = static_cast<float>(i);
    FloatsToBrainFloats({{1 + number, -4 * number}}, bytes);
    ASSERT_TRUE((*updates)->Step(kLong).ok());
    std::vector<float> mean(2);
    BrainFloatsToFloats(bytes, absl::MakeSpan(mean));
    EXPECT_EQ(mean, std::vector<float>({1.5f, -2}));
  });
}

TEST_F(TwoWorkersTest, WrongOptionsAreRefused) {
  Model model = MakeModel();
  std::vector<double> doubles(1);
  const Kind kind;
  const auto expect_refusal = [&](LocalUpdateOptions options, const std::string& part) {
    const auto begun = LocalUpdates::Begin(*sessions_[0], Cut(model, kind), options);
    EXPECT_TRUE(absl::IsInvalidArgument(begun.status()) && absl::StrContains(begun.status().message(), part))
        << begun.status();
  };
  expect_refusal({.sync_every = 0}, "sync_every");
  expect_refusal({.sync_every = 2, .fragment_sync_delay = 2}, "fragment_sync_delay");
  expect_refusal({.fragment_update_alpha = 1}, "fragment_update_alpha");
  expect_refusal({.learning_rate = std::numeric_limits<double>::quiet_NaN()}, "learning_rate");
  expect_refusal({.momentum = 1}, "momentum");
  expect_refusal({.site_every = 1}, "site_mean");
  const auto begun = LocalUpdates::Begin(*sessions_[0], {{{"x", absl::MakeSpan(doubles)}}}, DiLoCo());
  EXPECT_TRUE(absl::StrContains(begun.status().message(), "x: expected float32")) << begun.status();
}

class SkippingJobTest : public TwoWorkersTest {
 protected:
  SkippingJobTest() : TwoWorkersTest("aggregation: {not_finite: skip}\n") {}
};

TEST_F(SkippingJobTest, WeightsAreRefusedAsRoundsMayBeWithoutTheirGradients) {
  EXPECT_TRUE(sessions_[0]->may_leave_out());
  Model model = MakeModel();
  LocalUpdateOptions options = LocalSgd(1);
  options.is_weighted = true;
  const auto refused = LocalUpdates::Begin(*sessions_[0], Cut(model, Kind()), options, kLong);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()) &&
              absl::StrContains(refused.status().message(), "leave aggregation.quorum and not_finite: skip away"))
      << refused.status();
}

class SummingJobTest : public TwoWorkersTest {
 protected:
  SummingJobTest() : TwoWorkersTest("aggregation: {op: sum}\n") {}
};

TEST_F(SummingJobTest, OnlyWeightedWorkersKnowAMean) {
  RunThreads(2, [&](int i) {
    Model model = MakeModel();
    EXPECT_EQ(sessions_[i]->aggregation_op(), "sum");
    EXPECT_FALSE(sessions_[i]->may_leave_out());
    const auto refused = LocalUpdates::Begin(*sessions_[i], Cut(model, Kind()), LocalSgd(1), kLong);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()) &&
                absl::StrContains(refused.status().message(), "expected a job whose aggregation.op is mean, got sum"))
        << refused.status();
    LocalUpdateOptions options = LocalSgd(1);
    options.is_weighted = true;
    const auto updates = LocalUpdates::Begin(*sessions_[i], Cut(model, Kind()), options, kLong);
    ASSERT_TRUE(updates.ok()) << updates.status();
    ASSERT_TRUE((*updates)->set_weight(i == 0 ? 3 : 1).ok());
    model["b"] = {i == 0 ? 1.0f : 5.0f};
    ASSERT_TRUE((*updates)->Step(kLong).ok());
    EXPECT_FLOAT_EQ(model["b"][0], 2);
  });
}

class ReturningSiteTest : public TwoWorkersTest {
 protected:
  static constexpr int64_t kSyncEvery = 4;

  ReturningSiteTest() : TwoWorkersTest("membership: {heartbeat_seconds: 0.1, lost_after_seconds: 5}\n") {}

  // Trains until after the step `until` or `last_`, from where the other is if `is_back`.
  void TrainAlong(int site, bool is_back, int64_t until = std::numeric_limits<int64_t>::max()) {
    Model& model = models_[site] = MakeModel();
    const auto begun = LocalUpdates::Begin(*sessions_[site], Cut(model, Kind()), DiLoCo(kSyncEvery), kLong);
    ASSERT_TRUE(begun.ok()) << begun.status();
    LocalUpdates& updates = **begun;
    if (is_back) {
      const absl::Status late = updates.Step(kLong);
      EXPECT_TRUE(absl::IsFailedPrecondition(late) && absl::StrContains(late.message(), "the job is past round"))
          << late;
    }
    ASSERT_TRUE(sessions_[site]->ShareState(updates.StateParts()).ok());
    const absl::StatusOr<uint64_t> step = sessions_[site]->FetchState(kLong);
    ASSERT_EQ(step.ok(), is_back) << step.status();
    if (is_back) Return(updates, *step);
    while (updates.local_step() < std::min(until, last_.load())) {
      Train(model, site, updates.local_step() + 1);
      const absl::Status done = updates.Step(kLong);
      ASSERT_TRUE(done.ok()) << done;
      const absl::Status passed = sessions_[site]->PassBoundary(updates.local_step(), kLong);
      ASSERT_TRUE(passed.ok()) << passed;
    }
    states_[site] = BytesOf(updates.StateParts());
  }
  // Both stop a few rounds later.
  void Return(LocalUpdates& updates, uint64_t step) {
    updates.Load();
    EXPECT_EQ(updates.local_step(), static_cast<int64_t>(step));
    EXPECT_GE(updates.outer_step(), 1);
    last_ = (updates.local_step() / kSyncEvery + 5) * kSyncEvery;
  }

  Model models_[2];
  std::string states_[2];
  std::atomic<int64_t> last_ = std::numeric_limits<int64_t>::max();
};

TEST_F(ReturningSiteTest, ItHasTheOuterParametersTheMomentumAndItsPlace) {
  std::thread first([&] { TrainAlong(0, /*is_back=*/false); });
  TrainAlong(1, /*is_back=*/false, 6);
  {
    // It does not say good-bye.
    const Ticket open = sessions_[1]->Barrier();
    sessions_[1].reset();
  }
  sessions_[1] = OpenSession(*nodes_[1]);
  TrainAlong(1, /*is_back=*/true);
  first.join();
  EXPECT_EQ(states_[0], states_[1]);
  EXPECT_EQ(models_[0], models_[1]);
}

}  // namespace
}  // namespace banyan
