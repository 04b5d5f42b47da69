#include "scheduler/state/state_log.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr uint32_t kNodes = 3;
constexpr uint64_t kWindowRounds = 8;

std::vector<std::string> Names() { return {"n1", "n2", "n3"}; }

// Makes records as a scheduler would, at random: jobs that start, run, are reconfigured, lose members, and end.
class RandomHistory {
 public:
  explicit RandomHistory(uint64_t seed) : random_(seed) {}

  StateRecord Next() {
    if (!has_started_ || random_.Chance(0.01)) return StartScheduler();
    if (!is_running_) return random_.Chance(0.5) ? AnyNode() : AnyEpoch();
    // A change of membership: the epoch, its policy, and its plan.
    if (epoch_ > policy_epoch_) return AnyPolicy();
    if (epoch_ > planned_epoch_) return AnyPlan();
    switch (random_.Below(20)) {
      case 0:
        return AnyPolicy();
      case 1:
        return AnyKeys();
      case 2:
        return AnyBarrier();
      case 3:
        if (random_.Chance(0.4)) return AnyEpoch();
        if (random_.Chance(0.5)) return AnyRemoval();
        return LeaveRecord{members_[random_.Below(members_.size())], random_.Chance(0.5)};
      case 4:
        if (random_.Chance(0.1)) return End();
        return AnyKeys();
      default:
        return random_.Chance(0.5) ? AnyBindings() : AnyClosed();
    }
  }

 private:
  struct OpenKey {
    uint64_t next = 0;  // the first round that is not bound
    std::vector<uint64_t> open;
  };

  StateRecord StartScheduler() {
    has_started_ = true;
    return TermRecord{Term(++term_), "test"};
  }
  StateRecord AnyNode() {
    const uint32_t node = 1 + static_cast<uint32_t>(random_.Below(kNodes));
    nodes_.insert(node);
    return NodeRecord{NodeId(node), Names()[node - 1], absl::StrCat("tcp://h:", random_.Between(1, 99)),
                      Incarnation(random_.Below(1000))};
  }
  StateRecord AnyPolicy() {
    PolicyRecord record;
    policy_epoch_ = epoch_;
    record.policy.members = members_;
    record.policy.version = PolicyVersion(++policy_);
    record.policy.epoch = Epoch(epoch_);
    record.reason = absl::StrCat("reason ", policy_);
    if (random_.Chance(0.3)) record.overlay = OverlayText{absl::StrCat("nodes: ", policy_), "o.yaml"};
    return record;
  }
  StateRecord AnyKeys() {
    KeysRecord record = {KeyId(static_cast<uint32_t>(keys_.size() + 1)), {}};
    for (uint64_t count = random_.Below(3); count > 0; --count) {
      keys_.emplace_back();
      record.keys.push_back({absl::StrCat("key ", keys_.size()), 7});
    }
    return record;
  }
  StateRecord AnyBarrier() {
    BarrierRecord record = {next_barrier_++, {}};
    for (const NodeId node : members_) {
      if (random_.Chance(0.2)) record.left_out.push_back(node);
    }
    return record;
  }
  StateRecord AnyEpoch() {
    if (nodes_.empty()) return AnyNode();
    is_running_ = true;
    EpochRecord record = {Epoch(++epoch_), {}, "a change"};
    members_.clear();
    for (const uint32_t node : nodes_) {
      if (record.members.size() > 0 && random_.Chance(0.3)) continue;
      record.members.push_back({NodeId(node), Incarnation(random_.Below(1000)), Epoch(random_.Below(epoch_ + 1)), 2});
      members_.push_back(NodeId(node));
    }
    return record;
  }
  StateRecord AnyPlan() {
    EpochPlanRecord record = {Epoch(epoch_), PolicyVersion(policy_), {}, {}};
    planned_epoch_ = epoch_;
    for (size_t i = 0; i < keys_.size(); ++i) {
      OpenKey& key = keys_[i];
      std::sort(key.open.begin(), key.open.end());
      if (!key.open.empty() && random_.Chance(0.5)) key.open.erase(key.open.begin());
      const KeyId id(static_cast<uint32_t>(i + 1));
      record.frontiers.push_back({id, id, Round(key.open.empty() ? key.next : key.open.front())});
      for (const uint64_t round : key.open) {
        record.bindings.push_back({id, id, Round(round), Round(round), Attempt(1), 50});
      }
    }
    return record;
  }
  StateRecord AnyRemoval() {
    const uint32_t node = 1 + static_cast<uint32_t>(random_.Below(kNodes));
    const bool is_back = removed_.erase(node) > 0;
    if (!is_back) removed_.insert(node);
    return RemovedRecord{NodeId(node), is_back};
  }
  StateRecord AnyBindings() {
    BindingsRecord record;
    for (size_t i = 0; i < keys_.size(); ++i) {
      OpenKey& key = keys_[i];
      if (key.open.size() >= kWindowRounds || random_.Chance(0.5)) continue;
      const uint64_t first = key.next;
      key.next += 1 + random_.Below(3);
      for (uint64_t round = first; round < key.next; ++round) key.open.push_back(round);
      record.bindings.push_back(
          {KeyId(static_cast<uint32_t>(i + 1)), Round(first), Round(key.next - 1), PolicyVersion(policy_), Attempt(0)});
    }
    return record;
  }
  StateRecord AnyClosed() {
    ClosedRecord record;
    for (size_t i = 0; i < keys_.size(); ++i) {
      std::vector<uint64_t>& open = keys_[i].open;
      if (open.empty()) continue;
      const auto round = open.begin() + static_cast<int64_t>(random_.Below(std::min<size_t>(open.size(), 3)));
      record.rounds.push_back({KeyId(static_cast<uint32_t>(i + 1)), Round(*round)});
      open.erase(round);
    }
    return record;
  }
  StateRecord End() {
    keys_.clear();
    removed_.clear();
    is_running_ = false;
    next_barrier_ = 0;
    return EndRecord{"it is over"};
  }

  Random random_;
  bool has_started_ = false;
  uint64_t term_ = 0, epoch_ = 0, policy_ = 0, next_barrier_ = 0;
  bool is_running_ = false;
  uint64_t policy_epoch_ = 0, planned_epoch_ = 0;
  std::set<uint32_t> nodes_;
  std::set<uint32_t> removed_;
  std::vector<NodeId> members_;
  std::vector<OpenKey> keys_;
};

// A log and the rounds that its records lead to, which it does not keep.
struct LogWithRounds {
  std::string Append(const StateRecord& record) {
    EXPECT_TRUE(ApplyStateRecord(record, whole).ok());
    return log.Append(record);
  }
  std::string TakeSnapshot() { return log.TakeSnapshot(whole.rounds); }

  StateLog log;
  RecoveredState whole = {};
};

// Hands the records with which a job of so many keys begins to `append`.
void BeginJob(uint32_t keys, const std::function<void(const StateRecord&)>& append) {
  append(TermRecord{Term(1), "test"});
  for (uint32_t node = 1; node <= kNodes; ++node) {
    append(NodeRecord{NodeId(node), absl::StrCat("n", node), absl::StrCat("tcp://n", node, ":1"), Incarnation(node)});
  }
  append(
      EpochRecord{Epoch(1), {{NodeId(1), Incarnation(1), Epoch(1), 0}, {NodeId(2), Incarnation(2), Epoch(1), 0}}, ""});
  PolicyRecord policy;
  policy.policy.version = PolicyVersion(1);
  policy.policy.epoch = Epoch(1);
  policy.policy.members = {NodeId(1), NodeId(2)};
  append(policy);
  append(EpochPlanRecord{Epoch(1), PolicyVersion(1), {}, {}});
  KeysRecord table = {KeyId(1), {}};
  for (uint32_t key = 1; key <= keys; ++key) table.keys.push_back({absl::StrCat("layer", key, ".weight"), 256});
  append(table);
}

TEST(StateLogTest, SnapshotAndTailLeadWhereAllRecordsLead) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomHistory history(seed);
    Random random(seed);
    LogWithRounds log{StateLog(/*least_tail_bytes=*/0)};
    StoredRecords all;
    StoredRecords stored;
    for (int step = 0; step < 300; ++step) {
      const std::string bytes = log.Append(history.Next());
      all.tail.push_back(bytes);
      stored.tail.push_back(bytes);
      if (random.Chance(0.05)) stored = {log.TakeSnapshot(), {}, ""};
      if (step % 10 > 0) continue;
      const absl::StatusOr<RecoveredState> full = ReplayStateRecords(all, "test", Names());
      const absl::StatusOr<RecoveredState> brief = ReplayStateRecords(stored, "test", Names());
      ASSERT_TRUE(full.ok() && brief.ok()) << seed << ": " << full.status() << brief.status();
      ASSERT_EQ(*full, *brief) << "seed " << seed << ", step " << step;
      // A snapshot of what a restart finds is that of the scheduler that wrote it.
      if (stored.tail.empty()) {
        ASSERT_EQ(MakeSnapshot(*brief), stored.snapshot);
      }
    }
  }
}

TEST(StateLogTest, ASnapshotIsDueWhenTheTailOutgrowsIt) {
  StateLog log(/*least_tail_bytes=*/1000);
  log.Append(TermRecord{Term(1), "test"});
  EXPECT_FALSE(log.IsSnapshotDue());
  log.Append(KeysRecord{KeyId(1), {{std::string(200, 'a'), 1}}});
  EXPECT_FALSE(log.IsSnapshotDue());
  log.Append(KeysRecord{KeyId(2), {{std::string(900, 'b'), 1}}});
  EXPECT_TRUE(log.IsSnapshotDue());
  EXPECT_GT(log.TakeSnapshot({}).size(), 1100u);
  EXPECT_FALSE(log.IsSnapshotDue());
  log.Append(KeysRecord{KeyId(3), {{std::string(1200, 'c'), 1}}});
  EXPECT_FALSE(log.IsSnapshotDue()) << "not yet twice the snapshot";
  log.Append(KeysRecord{KeyId(4), {{std::string(1200, 'd'), 1}}});
  EXPECT_TRUE(log.IsSnapshotDue());
}

TEST(StateLogTest, ALongTailFromBeforeMakesASnapshotDue) {
  StoredRecords stored;
  for (int i = 0; i < 100; ++i) stored.tail.push_back(std::string(100, 'x'));
  StateLog log(/*least_tail_bytes=*/5000);
  log.Restore(RecoveredState(), stored);
  EXPECT_TRUE(log.IsSnapshotDue());
  stored.snapshot = std::string(8000, 'y');
  log.Restore(RecoveredState(), stored);
  EXPECT_FALSE(log.IsSnapshotDue());
}

TEST(StateLogTest, EntriesOfEarlierStartsCountToo) {
  constexpr uint32_t kKeys = 1000;
  StateLog log(/*least_tail_bytes=*/size_t{1} << 30);
  StoredRecords stored;
  const auto append = [&](const StateRecord& record) { stored.tail.push_back(log.Append(record)); };
  BeginJob(kKeys, append);
  for (Round round(0); !log.IsSnapshotDue(); round = round.Next()) {
    BindingsRecord bound;
    ClosedRecord closed;
    for (KeyId key(1); key <= KeyId(kKeys); key = key.Next()) {
      bound.bindings.push_back({key, round, round, PolicyVersion(1), Attempt(0), 0});
      closed.rounds.push_back({key, round});
    }
    append(bound);
    append(closed);
    // A scheduler that restarts often must not begin to count anew each time.
    log.Restore(log.state(), stored);
    ASSERT_LT(round, Round(StateLog::kMostTailEntries / kKeys));
  }
}

// A long run, as the scheduler writes it: all keys move from round to round. BANYAN_LONG runs a day: 10^8 rounds of
// keys.
TEST(StateLogTest, OfALongJobTheLogStaysSmallAndARestartReadsLittle) {
  constexpr uint32_t kKeys = 1000;
  constexpr size_t kMostBytes = size_t{10} << 20;
  const uint64_t rounds = std::getenv("BANYAN_LONG") != nullptr ? 100'000 : 1'000;
  LogWithRounds log;
  StoredRecords stored;
  size_t tail_bytes = 0, most_bytes = 0, most_records = 0;
  const auto append = [&](const StateRecord& record) {
    stored.tail.push_back(log.Append(record));
    tail_bytes += stored.tail.back().size();
    most_bytes = std::max(most_bytes, stored.snapshot.size() + tail_bytes);
    most_records = std::max(most_records, stored.tail.size());
    if (!log.log.IsSnapshotDue()) return;
    stored = {log.TakeSnapshot(), {}, ""};
    tail_bytes = 0;
  };
  BeginJob(kKeys, append);
  BindingsRecord bound;
  ClosedRecord closed;
  for (KeyId key(1); key <= KeyId(kKeys); key = key.Next()) {
    bound.bindings.push_back({key, Round(0), Round(0), PolicyVersion(1), Attempt(0), 0});
    closed.rounds.push_back({key, Round(0)});
  }
  for (Round round(0); round < Round(rounds); round = round.Next()) {
    for (BoundRounds& binding : bound.bindings) binding.first_round = binding.last_round = round;
    for (ClosedEverywhere::Entry& entry : closed.rounds) entry.round = round;
    append(bound);
    append(closed);
  }
  EXPECT_LT(most_bytes, kMostBytes);
  // With those of the job's beginning.
  EXPECT_LE(most_records, StateLog::kMostTailEntries / kKeys + 20) << "what a restart reads after a snapshot";
  EXPECT_LT(tail_bytes / stored.tail.size(), 64u) << "a record of all keys has the size of one of one key";
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<RecoveredState> restored = ReplayStateRecords(stored, "test", Names());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->rounds.closed().at(KeyId(kKeys)).first_open, Round(rounds));
  std::cout << rounds << " rounds of " << kKeys << " keys: at most " << most_bytes << " bytes and " << most_records
            << " records after a snapshot; read in " << took.count() << " s\n";
}

}  // namespace
}  // namespace banyan
