// What every RecordStore must do, as tests over a type that says where an implementation stores:
//
//   struct DirectoryStorage { std::unique_ptr<RecordStore> NewStore(); };   // one storage, whoever opens it
//   INSTANTIATE_TYPED_TEST_SUITE_P(Directory, RecordStoreConformance, DirectoryStorage);
//
// Thread-compatible.
#ifndef BANYAN_PROTOCOL_TESTING_RECORD_STORE_CONFORMANCE_H_
#define BANYAN_PROTOCOL_TESTING_RECORD_STORE_CONFORMANCE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/record_store.h"

namespace banyan {

template <typename Storage>
class RecordStoreConformance : public testing::Test {
 protected:
  using Records = std::vector<std::string>;

  // Opens the storage as the next process would, after the end of the one before.
  StoredRecords Reopen() {
    store_.reset();
    store_ = storage_.NewStore();
    absl::StatusOr<StoredRecords> stored = store_->Open();
    EXPECT_TRUE(stored.ok()) << stored.status();
    return stored.ok() ? *std::move(stored) : StoredRecords();
  }
  void Append(const Records& records) { EXPECT_TRUE(store_->Append(records).ok()); }
  void Replace(const std::string& snapshot) { EXPECT_TRUE(store_->Replace(snapshot).ok()); }

  Storage storage_;
  std::unique_ptr<RecordStore> store_;
};

TYPED_TEST_SUITE_P(RecordStoreConformance);

TYPED_TEST_P(RecordStoreConformance, BeginsEmpty) {
  EXPECT_EQ(this->Reopen(), StoredRecords());
  EXPECT_EQ(this->Reopen(), StoredRecords());
}

TYPED_TEST_P(RecordStoreConformance, KeepsRecordsInTheirOrder) {
  const std::string binary("\0\xff\n\0", 4);
  this->Reopen();
  this->Append({"term 1", "", binary});
  EXPECT_EQ(this->Reopen(), (StoredRecords{"", {"term 1", "", binary}, ""}));
  this->Append({"term 2"});
  this->Append({"binding", "closed"});
  EXPECT_EQ(this->Reopen(), (StoredRecords{"", {"term 1", "", binary, "term 2", "binding", "closed"}, ""}));
}

TYPED_TEST_P(RecordStoreConformance, ASnapshotTakesThePlaceOfAllBefore) {
  this->Reopen();
  this->Append({"one", "two"});
  this->Replace("one and two");
  EXPECT_EQ(this->Reopen(), (StoredRecords{"one and two", {}, ""}));
  this->Append({"three"});
  this->Append({"four"});
  EXPECT_EQ(this->Reopen(), (StoredRecords{"one and two", {"three", "four"}, ""}));
  this->Replace("all four");
  this->Append({"five"});
  EXPECT_EQ(this->Reopen(), (StoredRecords{"all four", {"five"}, ""}));
}

TYPED_TEST_P(RecordStoreConformance, SnapshotsMayFollowEachOther) {
  this->Reopen();
  for (int i = 0; i < 20; ++i) this->Replace("snapshot " + std::to_string(i));
  EXPECT_EQ(this->Reopen(), (StoredRecords{"snapshot 19", {}, ""}));
  this->Replace("");
  EXPECT_EQ(this->Reopen(), StoredRecords());
}

TYPED_TEST_P(RecordStoreConformance, TakesLargeOnes) {
  const std::string large(size_t{5} << 20, 'x');
  this->Reopen();
  this->Append({large, "small", large});
  EXPECT_EQ(this->Reopen(), (StoredRecords{"", {large, "small", large}, ""}));
  this->Replace(large);
  this->Append({"small"});
  EXPECT_EQ(this->Reopen(), (StoredRecords{large, {"small"}, ""}));
}

REGISTER_TYPED_TEST_SUITE_P(RecordStoreConformance, BeginsEmpty, KeepsRecordsInTheirOrder,
                            ASnapshotTakesThePlaceOfAllBefore, SnapshotsMayFollowEachOther, TakesLargeOnes);

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_TESTING_RECORD_STORE_CONFORMANCE_H_
