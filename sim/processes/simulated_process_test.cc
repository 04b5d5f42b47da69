#include "sim/processes/simulated_process.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sim/simulator.h"
#include "sim/testing/scripted_protocol.h"

namespace banyan {
namespace {

Timestamp Ms(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

class CountingComputation : public Computation {
 public:
  CountingComputation(int64_t size_bytes, int* runs) : size_bytes_(size_bytes), runs_(runs) {}
  void Run() override { ++*runs_; }
  int64_t size_bytes() const override { return size_bytes_; }

 private:
  int64_t size_bytes_;
  int* runs_;
};

class SimulatedProcessTest : public testing::Test {
 protected:
  SimulatedProcessTest() : simulator_(1, NetworkOptions()) {}

  SimulatedProcess* Add(const ProcessOptions& options, ScriptedProtocol::Script script) {
    auto core = std::make_unique<ScriptedProtocol>(std::move(script));
    core_ = core.get();
    return simulator_.AddProcess(NodeId(1), "one", options, std::move(core), Ms(5));
  }
  void Run(int64_t until_ms) {
    simulator_.RunUntil([] { return false; }, Ms(until_ms));
  }

  Simulator simulator_;
  ScriptedProtocol* core_ = nullptr;
};

TEST_F(SimulatedProcessTest, HasAClockOfItsOwn) {
  ProcessOptions options;
  options.clock_start = Ms(1000);
  Add(options, [this](Timestamp, const Event& event, Actions*) {
    core_->set_deadline(std::holds_alternative<Started>(event) ? Ms(1017) : kNever);
  });
  Run(100);
  EXPECT_EQ(core_->TimesOf<Started>(), std::vector<Timestamp>{Ms(1005)});
  EXPECT_EQ(core_->TimesOf<DeadlineReached>(), std::vector<Timestamp>{Ms(1017)});
}

TEST_F(SimulatedProcessTest, ADeadlineThatMovesIsKeptWhereItIs) {
  SimulatedProcess* process = Add(ProcessOptions(), [this](Timestamp now, const Event& event, Actions*) {
    if (std::holds_alternative<Started>(event)) core_->set_deadline(Ms(50));
    if (std::holds_alternative<StopRequested>(event)) core_->set_deadline(now + absl::Milliseconds(100));
    if (std::holds_alternative<DeadlineReached>(event)) core_->set_deadline(kNever);
  });
  Run(20);
  process->RequestStop();
  Run(1000);
  EXPECT_EQ(core_->TimesOf<DeadlineReached>(), std::vector<Timestamp>{Ms(120)});
}

TEST_F(SimulatedProcessTest, AClockThatDriftsReachesItsDeadlinesSoonerOrLater) {
  for (const double drift_ppm : {-200.0, 200.0}) {
    ProcessOptions options;
    options.clock_start = Ms(3600000);
    options.clock_drift_ppm = drift_ppm;
    Simulator simulator(1, NetworkOptions());
    auto core = std::make_unique<ScriptedProtocol>(nullptr);
    ScriptedProtocol* scripted = core.get();
    scripted->set_deadline(Ms(3600000 + 10000));
    SimulatedProcess* process = simulator.AddProcess(NodeId(1), "1", options, std::move(core), Ms(0));
    const auto rung = [&] { return scripted->seen().size() == 2; };
    ASSERT_TRUE(simulator.RunUntil(rung, Ms(20000)));
    EXPECT_GE(scripted->seen()[1].now, Ms(3600000 + 10000));
    EXPECT_NEAR(static_cast<double>(simulator.now().nanoseconds()), 1e10 * (1 - drift_ppm * 1e-6), 1e4);
    scripted->set_deadline(kNever);
    simulator.RunUntil([] { return false; }, Ms(1000000));
    EXPECT_EQ((process->LocalNow() - Ms(3600000)) - absl::Seconds(1000), absl::Milliseconds(drift_ppm));
  }
}

TEST_F(SimulatedProcessTest, APauseHoldsEventsAndDeadlinesInTheirOrder) {
  SimulatedProcess* process = Add(ProcessOptions(), [this](Timestamp, const Event& event, Actions*) {
    core_->set_deadline(std::holds_alternative<DeadlineReached>(event) ? kNever : Ms(30));
  });
  Run(10);
  process->PauseUntil(Ms(60));
  process->CallLater(absl::Milliseconds(5), WorkerBarrier());
  process->CallLater(absl::Milliseconds(6), WorkerPull());
  Run(100);
  ASSERT_EQ(core_->seen().size(), 4u);
  EXPECT_EQ(std::get<WorkerCalled>(core_->seen()[1].event).call.index(), WorkerCall(WorkerBarrier()).index());
  EXPECT_EQ(core_->seen()[1].now, Ms(60));
  EXPECT_EQ(core_->seen()[2].now, Ms(60));
  EXPECT_TRUE(std::holds_alternative<DeadlineReached>(core_->seen()[3].event));
}

TEST_F(SimulatedProcessTest, ComputationsShareTheThreads) {
  ProcessOptions options;
  options.compute_threads = 2;
  options.memory_bytes_per_second = 1e6;
  options.computation_overhead = absl::ZeroDuration();
  options.scale = 10;
  int runs = 0;
  Add(options, [&runs](Timestamp, const Event& event, Actions* actions) {
    if (!std::holds_alternative<Started>(event)) return;
    for (uint64_t i = 0; i < 3; ++i) {
      // 1,000 bytes ten times at a megabyte per second: 10 ms.
      actions->emplace_back(StartComputation{ComputationId(i), std::make_unique<CountingComputation>(1000, &runs)});
    }
  });
  Run(100);
  EXPECT_EQ(core_->TimesOf<ComputationFinished>(), (std::vector<Timestamp>{Ms(15), Ms(15), Ms(25)}));
  EXPECT_EQ(runs, 3);
}

TEST_F(SimulatedProcessTest, RecordsAreOnStableStorageWhenTheCoreIsTold) {
  SimulatedProcess* process = Add(ProcessOptions(), [](Timestamp, const Event& event, Actions* actions) {
    if (std::holds_alternative<Started>(event)) actions->emplace_back(PersistRecord{RecordId(3), "three"});
  });
  Run(6);
  EXPECT_EQ(process->stored(), StoredRecords());
  Run(100);
  EXPECT_EQ(process->stored(), (StoredRecords{"", {"three"}, ""}));
  EXPECT_EQ(core_->TimesOf<RecordPersisted>(), std::vector<Timestamp>{Ms(7)});
}

TEST_F(SimulatedProcessTest, ASnapshotTakesThePlaceOfRecords) {
  SimulatedProcess* process = Add(ProcessOptions(), [](Timestamp, const Event& event, Actions* actions) {
    if (!std::holds_alternative<Started>(event)) return;
    actions->emplace_back(PersistRecord{RecordId(1), "one"});
    actions->emplace_back(PersistRecord{RecordId(2), "all so far", /*is_snapshot=*/true});
    actions->emplace_back(PersistRecord{RecordId(3), "three"});
  });
  Run(100);
  EXPECT_EQ(process->stored(), (StoredRecords{"all so far", {"three"}, ""}));
}

TEST_F(SimulatedProcessTest, AKillCutsOffWhatWasNotPersistedAndARestartStartsAnew) {
  SimulatedProcess* process = Add(ProcessOptions(), [](Timestamp, const Event& event, Actions* actions) {
    if (!std::holds_alternative<Started>(event)) return;
    for (int i = 0; i < 5; ++i) actions->emplace_back(PersistRecord{RecordId(i), std::to_string(i)});
  });
  Run(6);
  process->Kill(/*silently=*/false);
  const StoredRecords stored = process->stored();
  Run(50);
  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->stored(), stored) << "nothing comes after the end";
  for (size_t i = 0; i < stored.tail.size(); ++i) EXPECT_EQ(stored.tail[i], std::to_string(i));
  process->ForgetStored();
  EXPECT_EQ(process->stored(), StoredRecords());
  auto second = std::make_unique<ScriptedProtocol>(nullptr);
  core_ = second.get();
  process->Restart(std::move(second));
  Run(60);
  EXPECT_EQ(core_->seen().size(), 1u);
}

TEST_F(SimulatedProcessTest, AStorageThatStandsStillHoldsUpRecordsInTheirOrder) {
  SimulatedProcess* process = Add(ProcessOptions(), [](Timestamp, const Event& event, Actions* actions) {
    if (std::holds_alternative<WorkerCalled>(event)) actions->emplace_back(PersistRecord{RecordId(1), "one"});
  });
  Run(6);
  process->StallStorageUntil(Ms(40));
  process->CallLater(absl::Milliseconds(1), WorkerBarrier());
  Run(41);
  EXPECT_EQ(process->stored(), StoredRecords());
  process->SlowStorage(absl::Milliseconds(20));
  process->CallLater(absl::Milliseconds(2), WorkerBarrier());
  Run(100);
  EXPECT_EQ(core_->TimesOf<RecordPersisted>(), (std::vector<Timestamp>{Ms(42), Ms(63)}));
}

TEST_F(SimulatedProcessTest, AStorageThatFailsEndsTheProcessWithItsError) {
  SimulatedProcess* process = Add(ProcessOptions(), [](Timestamp, const Event& event, Actions* actions) {
    if (!std::holds_alternative<WorkerCalled>(event)) return;
    actions->emplace_back(PersistRecord{RecordId(1), "one"});
    actions->emplace_back(PersistRecord{RecordId(2), "two"});
  });
  absl::Status told;
  Run(6);
  process->set_on_stopped([&told](const absl::Status& status) { told = status; });
  process->FailStorage(absl::ResourceExhaustedError("no room"));
  process->CallLater(absl::Milliseconds(1), WorkerBarrier());
  Run(100);
  EXPECT_FALSE(process->running());
  EXPECT_EQ(told, absl::ResourceExhaustedError("no room"));
  EXPECT_EQ(process->stored(), StoredRecords());
}

TEST_F(SimulatedProcessTest, StepsThatCostTimeQueueUp) {
  ProcessOptions options;
  options.step_costs = StepCosts{.worker_call = absl::Milliseconds(10), .deadline = absl::Milliseconds(1)};
  SimulatedProcess* process = Add(options, [this](Timestamp now, const Event& event, Actions*) {
    if (std::holds_alternative<DeadlineReached>(event)) core_->set_deadline(kNever);
    if (std::holds_alternative<WorkerCalled>(event)) core_->set_deadline(now);
  });
  Run(10);
  for (int i = 0; i < 3; ++i) process->CallLater(absl::ZeroDuration(), WorkerBarrier());
  Run(15);
  process->PauseUntil(Ms(35));
  Run(100);
  EXPECT_EQ(core_->TimesOf<WorkerCalled>(), (std::vector<Timestamp>{Ms(35), Ms(45), Ms(55)}));
  EXPECT_EQ(core_->TimesOf<DeadlineReached>(), (std::vector<Timestamp>{Ms(56)}));
}

TEST_F(SimulatedProcessTest, AStopEndsTheProcess) {
  SimulatedProcess* process = Add(ProcessOptions(), [](Timestamp, const Event& event, Actions* actions) {
    if (std::holds_alternative<StopRequested>(event)) actions->emplace_back(Stop{absl::CancelledError("asked to")});
  });
  Run(6);
  process->RequestStop();
  process->CallLater(absl::Milliseconds(1), WorkerBarrier());
  Run(50);
  ASSERT_TRUE(process->stopped().has_value());
  EXPECT_EQ(*process->stopped(), absl::CancelledError("asked to"));
  EXPECT_EQ(core_->seen().size(), 2u);
}

TEST_F(SimulatedProcessTest, ACoreThatAlwaysWantsItsDeadlineIsAViolation) {
  Add(ProcessOptions(), [this](Timestamp now, const Event&, Actions*) { core_->set_deadline(now); });
  Run(50);
  EXPECT_TRUE(simulator_.violations()->Has("nothing hangs"));
}

TEST_F(SimulatedProcessTest, TheSameSeedGivesTheSameTrace) {
  const auto hash_of = [](uint64_t seed) {
    NetworkOptions options;
    options.scheduler_jitter = absl::Milliseconds(20);
    Simulator simulator(seed, options);
    for (uint32_t id = 0; id < 3; ++id) {
      simulator.AddProcess(NodeId(id), std::to_string(id), ProcessOptions(),
                           std::make_unique<ScriptedProtocol>([id](Timestamp, const Event& event, Actions* actions) {
                             if (id == 0) return;
                             if (std::holds_alternative<Started>(event))
                               actions->emplace_back(Connect{ConnectionId(1), "0"});
                             if (std::holds_alternative<ConnectionUp>(event)) {
                               for (int i = 0; i < 50; ++i)
                                 actions->emplace_back(Send{ConnectionId(1), Heartbeat(), {}});
                             }
                           }),
                           Ms(0));
    }
    simulator.RunUntil([] { return false; }, Ms(1000));
    return simulator.trace()->hash();
  };
  EXPECT_EQ(hash_of(1), hash_of(1));
  EXPECT_NE(hash_of(1), hash_of(2));
}

}  // namespace
}  // namespace banyan
