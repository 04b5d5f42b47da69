#include "runtime/records/record_writer.h"

#include <future>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

using Batch = std::vector<std::string>;

// Notes what it is told to store. Its first call waits until it is let go.
class NotingStore : public RecordStore {
 public:
  struct Notes {
    std::promise<void> has_begun;
    std::promise<void> may_go_on;
    std::vector<Batch> batches;  // a snapshot is one of its own, in brackets
    absl::Status next_status;
  };
  explicit NotingStore(Notes* notes) : notes_(notes) {}

  absl::StatusOr<StoredRecords> Open() override { return StoredRecords(); }
  absl::Status Append(const Batch& records) override { return Note(records); }
  absl::Status Replace(const std::string& snapshot) override { return Note({"[" + snapshot + "]"}); }

 private:
  absl::Status Note(const Batch& batch) {
    if (notes_->batches.empty()) {
      notes_->has_begun.set_value();
      notes_->may_go_on.get_future().wait();
    }
    notes_->batches.push_back(batch);
    return notes_->next_status;
  }

  Notes* notes_;
};

class RecordWriterTest : public testing::Test {
 protected:
  std::unique_ptr<RecordWriter> NewWriter() {
    return std::make_unique<RecordWriter>(
        std::make_unique<NotingStore>(&notes_), [this](RecordId record) { persisted_.push_back(record.value()); },
        [this](absl::Status status) { failures_.push_back(std::move(status)); });
  }
  static PersistRecord Record(uint64_t id, bool is_snapshot = false) {
    return PersistRecord{RecordId(id), std::to_string(id), is_snapshot};
  }

  // Of the writer's thread; read after the writer has gone.
  NotingStore::Notes notes_;
  std::vector<uint64_t> persisted_;
  std::vector<absl::Status> failures_;
};

TEST_F(RecordWriterTest, WhatComesMeanwhileIsOneBatch) {
  std::unique_ptr<RecordWriter> writer = NewWriter();
  writer->Write(Record(1));
  notes_.has_begun.get_future().wait();
  for (const uint64_t id : {2, 3, 4}) writer->Write(Record(id));
  notes_.may_go_on.set_value();
  writer.reset();
  EXPECT_THAT(notes_.batches, ElementsAre(Batch{"1"}, Batch{"2", "3", "4"}));
  EXPECT_THAT(persisted_, ElementsAre(1, 2, 3, 4));
}

TEST_F(RecordWriterTest, ASnapshotTakesThePlaceOfWhatWaits) {
  std::unique_ptr<RecordWriter> writer = NewWriter();
  writer->Write(Record(1));
  notes_.has_begun.get_future().wait();
  writer->Write(Record(2));
  writer->Write(Record(3, /*is_snapshot=*/true));
  writer->Write(Record(4));
  writer->Write(Record(5));
  notes_.may_go_on.set_value();
  writer.reset();
  EXPECT_THAT(notes_.batches, ElementsAre(Batch{"1"}, Batch{"[3]"}, Batch{"4", "5"}));
  EXPECT_THAT(persisted_, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(RecordWriterTest, AfterAFailureNothingIsPersisted) {
  notes_.next_status = absl::ResourceExhaustedError("the disk is full");
  std::unique_ptr<RecordWriter> writer = NewWriter();
  writer->Write(Record(1));
  notes_.has_begun.get_future().wait();
  writer->Write(Record(2));
  notes_.may_go_on.set_value();
  writer.reset();
  EXPECT_THAT(notes_.batches, ElementsAre(Batch{"1"}));
  EXPECT_THAT(persisted_, ElementsAre());
  EXPECT_THAT(failures_, ElementsAre(notes_.next_status));
}

}  // namespace
}  // namespace banyan
