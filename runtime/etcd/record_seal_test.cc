#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "runtime/etcd/etcd_record_store.h"

namespace banyan {
namespace {

const RecordSeal& Seal() {
  static const auto& seal = *new RecordSeal("the secret of all schedulers", "job");
  return seal;
}

TEST(RecordSealTest, OpensWhatItHasClosed) {
  for (const std::string& bytes : {std::string(), std::string("record"), std::string(100000, '\0')}) {
    EXPECT_EQ(*Seal().Open("/banyan/job/log/1", Seal().Close("/banyan/job/log/1", bytes)), bytes);
  }
}

TEST(RecordSealTest, NothingElseIsOpened) {
  const std::string closed = Seal().Close("key", "record");
  for (size_t i = 0; i < closed.size(); ++i) {
    std::string changed = closed;
    changed[i] ^= 1;
    EXPECT_TRUE(absl::IsDataLoss(Seal().Open("key", changed).status())) << i;
  }
  EXPECT_TRUE(absl::IsDataLoss(Seal().Open("key", closed.substr(1)).status()));
  EXPECT_TRUE(absl::IsDataLoss(Seal().Open("key", "record").status()));
  EXPECT_TRUE(absl::IsDataLoss(Seal().Open("another key", closed).status()));
  EXPECT_TRUE(absl::IsDataLoss(Seal().Open("ke", "y" + closed).status()));
  EXPECT_TRUE(absl::IsDataLoss(RecordSeal("another secret", "job").Open("key", closed).status()));
  EXPECT_TRUE(absl::IsDataLoss(RecordSeal("the secret of all schedulers", "jobs").Open("key", closed).status()));
}

TEST(RecordSealTest, WithoutASecretNothingIsSealed) {
  EXPECT_EQ(RecordSeal().Close("key", "record"), "record");
  EXPECT_EQ(*RecordSeal().Open("key", "record"), "record");
}

}  // namespace
}  // namespace banyan
