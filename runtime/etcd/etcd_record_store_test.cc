#include "runtime/etcd/etcd_record_store.h"

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "protocol/testing/fake_leadership.h"
#include "protocol/testing/record_store_conformance.h"
#include "runtime/etcd/testing/fake_etcd.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kLeader[] = "/banyan/test/leader";
constexpr char kGeneration[] = "/banyan/test/generation";
constexpr char kFirstPart[] = "0000000000000000";

// Whoever opens the storage has become its leader before.
struct EtcdStorage {
  std::unique_ptr<RecordStore> NewStore() {
    etcd->Delete(kLeader);
    etcd->Put(kLeader, "tcp://a:1");
    const int64_t revision = etcd->NewApi()->Read(EtcdRead(kLeader))->kvs(0).create_revision();
    return std::make_unique<EtcdRecordStore>(etcd->NewApi(), "test", LeaderFence{kLeader, revision}, leadership.get(),
                                             seal);
  }

  std::unique_ptr<FakeEtcd> etcd = std::make_unique<FakeEtcd>();
  std::unique_ptr<FakeLeadership> leadership = std::make_unique<FakeLeadership>();
  RecordSeal seal;
};

struct SealedStorage : EtcdStorage {
  SealedStorage() { seal = RecordSeal("the secret of all schedulers", "test"); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Sealed, RecordStoreConformance, SealedStorage);

INSTANTIATE_TYPED_TEST_SUITE_P(Etcd, RecordStoreConformance, EtcdStorage);

class EtcdRecordStoreTest : public testing::Test {
 protected:
  FakeEtcd& etcd() { return *storage_.etcd; }
  absl::StatusOr<StoredRecords> Open() {
    store_ = storage_.NewStore();
    return store_->Open();
  }
  // Snapshot "one" with the records "two" and "three" after it.
  void MakeRecords() {
    ASSERT_TRUE(Open().ok());
    ASSERT_TRUE(store_->Replace("one").ok());
    ASSERT_TRUE(store_->Append({"two"}).ok());
    ASSERT_TRUE(store_->Append({"three"}).ok());
  }
  void ExpectDataLoss(const std::string& key) {
    const absl::Status status = Open().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(key));
    EXPECT_THAT(std::string(status.message()), HasSubstr("bring etcd back from a copy"));
  }

  EtcdStorage storage_;
  std::unique_ptr<RecordStore> store_;
  const StoredRecords old_ = {"one", {"two", "three"}, ""};
};

TEST_F(EtcdRecordStoreTest, RecordsOfOthersAreRefused) {
  storage_.seal = RecordSeal("the secret of all schedulers", "test");
  MakeRecords();
  EXPECT_EQ(*Open(), old_);
  // Somebody who may write there, and knows how, begins a generation with a state of their own.
  storage_.seal = RecordSeal();
  EtcdStorage other;
  const std::unique_ptr<RecordStore> forger = other.NewStore();
  ASSERT_TRUE(forger->Open().ok());
  ASSERT_TRUE(forger->Replace("forged").ok());
  for (const auto& [key, value] : other.etcd->Values()) etcd().Put(key, value);
  storage_.seal = RecordSeal("the secret of all schedulers", "test");
  ExpectDataLoss("it is not sealed with the key of this job's schedulers");
}

TEST_F(EtcdRecordStoreTest, ARecordIsNotMovedToAnotherPlace) {
  storage_.seal = RecordSeal("the secret of all schedulers", "test");
  MakeRecords();
  std::map<std::string, std::string> values = etcd().Values();
  const auto last = std::prev(values.end());  // parts of the log come last
  for (const auto& [key, value] : values) {
    if (key == last->first || key.find("log") == std::string::npos) continue;
    etcd().Put(key, last->second);
    return ExpectDataLoss("it is not sealed");
  }
  FAIL() << "expected two parts of a log";
}

TEST_F(EtcdRecordStoreTest, HoldsOneGeneration) {
  MakeRecords();
  EXPECT_EQ(etcd().Values().size(), 5u);  // leader, generation, a snapshot, two parts of the log
  EXPECT_EQ(etcd().Values()[kGeneration], "2");
  ASSERT_TRUE(store_->Replace("all").ok());
  EXPECT_EQ(etcd().Values().size(), 3u);
  EXPECT_EQ(etcd().Values()[kGeneration], "3");
}

TEST_F(EtcdRecordStoreTest, WhoDoesNotLeadMayLook) {
  EtcdRecordStore before(etcd().NewApi(), "test", LeaderFence(), storage_.leadership.get());
  EXPECT_EQ(*before.Peek(), StoredRecords());
  MakeRecords();
  const auto values = etcd().Values();
  EtcdRecordStore other(etcd().NewApi(), "test", LeaderFence(), storage_.leadership.get());
  EXPECT_EQ(*other.Peek(), old_);
  EXPECT_EQ(etcd().Values(), values);
}

// The outcome of a change that ends with the process after any of its calls: all or nothing.
class CrashTest : public EtcdRecordStoreTest {
 protected:
  void ExpectAllOrNothing(const std::function<absl::Status()>& change, const StoredRecords& after) {
    bool was_whole = false;
    for (int calls = 0; !was_whole; ++calls) {
      for (const FakeEtcdLoss loss : {FakeEtcdLoss::kRequest, FakeEtcdLoss::kAnswer}) {
        storage_ = EtcdStorage();
        MakeRecords();
        etcd().FailAfter(calls, loss, 1);
        storage_.leadership->Lose();
        was_whole = change().ok();
        etcd().FailAfter(0, loss, 0);
        storage_.leadership->Win();
        absl::StatusOr<StoredRecords> found = Open();
        ASSERT_TRUE(found.ok()) << found.status();
        found->warning = "";
        if (was_whole) {
          EXPECT_EQ(*found, after);
        } else {
          EXPECT_THAT(*found, testing::AnyOf(old_, after));
        }
        // What the crash has left is gone, and what comes late from before it changes nothing.
        etcd().DeliverLostCommits();
        const absl::StatusOr<StoredRecords> again = Open();
        ASSERT_TRUE(again.ok()) << again.status();
        EXPECT_EQ(*again, *found);
      }
    }
  }
};

TEST_F(CrashTest, LeavesAnAppendWholeOrNot) {
  StoredRecords after = old_;
  after.tail.push_back("four");
  ExpectAllOrNothing([this] { return store_->Append({"four"}); }, after);
}

TEST_F(CrashTest, LeavesAnAppendOfManyPartsWholeOrNot) {
  const std::string large(3 * EtcdRecordStore::kPartBytes, 'x');
  StoredRecords after = old_;
  after.tail.push_back(large);
  after.tail.push_back("small");
  ExpectAllOrNothing([this, &large] { return store_->Append({large, "small"}); }, after);
}

TEST_F(CrashTest, LeavesASnapshotWholeOrNot) {
  ExpectAllOrNothing([this] { return store_->Replace("all"); }, {"all", {}, ""});
}

TEST_F(CrashTest, LeavesASnapshotOfManyPartsWholeOrNot) {
  const std::string large(3 * EtcdRecordStore::kPartBytes, 'x');
  ExpectAllOrNothing([this, &large] { return store_->Replace(large); }, {large, {}, ""});
}

TEST_F(EtcdRecordStoreTest, TriesAgainUntilThereIsAnAnswer) {
  for (const FakeEtcdLoss loss : {FakeEtcdLoss::kRequest, FakeEtcdLoss::kAnswer}) {
    storage_ = EtcdStorage();
    MakeRecords();
    etcd().FailAfter(0, loss, 2);
    EXPECT_TRUE(store_->Append({"four"}).ok());
    etcd().FailAfter(0, loss, 2);
    EXPECT_TRUE(store_->Replace("all").ok());
    etcd().FailAfter(0, loss, 2);
    EXPECT_TRUE(store_->Replace("all and more").ok());
    EXPECT_TRUE(store_->Append({"five"}).ok());
    // The requests that were lost come late, and say nothing new.
    etcd().DeliverLostCommits();
    EXPECT_EQ(*Open(), (StoredRecords{"all and more", {"five"}, ""}));
  }
}

TEST_F(EtcdRecordStoreTest, GivesUpWhenItsProcessLeadsNoMore) {
  MakeRecords();
  etcd().FailAfter(0, FakeEtcdLoss::kRequest, 1000);
  storage_.leadership->Lose();
  EXPECT_EQ(store_->Append({"four"}), storage_.leadership->WhyLost());
}

TEST_F(EtcdRecordStoreTest, ADeposedLeaderWritesNothing) {
  MakeRecords();
  const std::unique_ptr<RecordStore> deposed = std::move(store_);
  ASSERT_TRUE(Open().ok());
  const auto before = etcd().Values();
  for (const absl::Status& status :
       {deposed->Append({"four"}), deposed->Replace("all"), deposed->Append({std::string(size_t{3} << 20, 'x')})}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("of tcp://a:1: this process leads no more"));
  }
  EXPECT_EQ(etcd().Values(), before);
  EXPECT_TRUE(store_->Append({"four"}).ok());
}

TEST_F(EtcdRecordStoreTest, OneWhoWasDeposedMeanwhileDoesNotOpen) {
  MakeRecords();
  const std::unique_ptr<RecordStore> deposed = storage_.NewStore();
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(deposed->Open().status().code(), absl::StatusCode::kAborted);
  etcd().Delete(kLeader);
  EXPECT_THAT(std::string(store_->Append({"four"}).message()), HasSubstr("got no such key"));
}

TEST_F(EtcdRecordStoreTest, AStrangeChangeIsNotOverwritten) {
  MakeRecords();
  etcd().Put(kGeneration, "7");
  const absl::Status status = store_->Append({"four"});
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected 2 in /banyan/test/generation, got 7"));
}

TEST_F(EtcdRecordStoreTest, ReadsManyLargeParts) {
  ASSERT_TRUE(Open().ok());
  StoredRecords expected;
  for (int i = 0; i < 12; ++i) {
    expected.tail.push_back(std::string(900000, static_cast<char>('a' + i)));
    ASSERT_TRUE(store_->Append({expected.tail.back()}).ok());
  }
  EXPECT_EQ(*Open(), expected);
}

TEST_F(EtcdRecordStoreTest, WhatIsMissingIsDataLoss) {
  const std::string part = std::string(EtcdRecordStore::kPartBytes, 'x');
  MakeRecords();
  ASSERT_TRUE(store_->Replace(part).ok());
  ASSERT_TRUE(store_->Append({part, part}).ok());
  ASSERT_TRUE(store_->Append({"last"}).ok());
  const auto all = etcd().Values();
  ASSERT_EQ(all.size(), 8u);
  // Nobody can see that the last batch of all is missing.
  const std::string all_log_end = std::prev(all.lower_bound("/banyan/test/snapshot/"))->second;
  for (const auto& [key, value] : all) {
    if (key == kLeader || value == all_log_end) continue;
    etcd().Delete(key);
    ExpectDataLoss(key == kGeneration ? key : key.substr(0, key.rfind('/')));
    etcd().Put(key, value);
  }
  EXPECT_TRUE(Open().ok());
}

TEST_F(EtcdRecordStoreTest, WhatIsDamagedIsDataLoss) {
  MakeRecords();
  for (const std::string& key :
       {std::string(kGeneration), "/banyan/test/snapshot/0000000000000002/" + std::string(kFirstPart)}) {
    const std::string value = etcd().Values()[key];
    for (const std::string& damaged : {std::string("x"), value + "x", std::string()}) {
      etcd().Put(key, damaged);
      ExpectDataLoss(key.substr(0, key.rfind('/')));
    }
    etcd().Put(key, value);
  }
  EXPECT_EQ(*Open(), old_);
}

TEST_F(EtcdRecordStoreTest, TellsOfAWriteThatWasNotFinished) {
  MakeRecords();
  etcd().FailAfter(1, FakeEtcdLoss::kRequest, 1);
  storage_.leadership->Lose();
  EXPECT_FALSE(store_->Append({std::string(2 * EtcdRecordStore::kPartBytes, 'x')}).ok());
  storage_.leadership->Win();
  const absl::StatusOr<StoredRecords> stored = Open();
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->tail, old_.tail);
  EXPECT_THAT(stored->warning, HasSubstr("after 2 whole records 1048576 bytes of a write that was not finished"));
  EXPECT_EQ(*Open(), old_);
}

TEST_F(EtcdRecordStoreTest, JobsDoNotSeeEachOther) {
  MakeRecords();
  etcd().Put("/banyan/test2/generation", "9");
  etcd().Put("/banyan/tess/log/0000000000000002/0000000000000010", "x");
  ASSERT_TRUE(store_->Replace("all").ok());
  EXPECT_EQ(*Open(), (StoredRecords{"all", {}, ""}));
  EXPECT_EQ(etcd().Values().size(), 5u);
}

}  // namespace
}  // namespace banyan
