#include "access/key_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KeyFileTest : public testing::Test {
 protected:
  KeyFileTest() {
    const char* temporary = std::getenv("TEST_TMPDIR");
    directory_ = absl::StrCat(temporary == nullptr ? "/tmp" : temporary, "/keys_XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/n1.key";
  }

  std::string directory_;
  std::string path_;
  const KeyFile file_ = {MakeCurveKeys(), {MakeCurveKeys().public_key}};
};

TEST_F(KeyFileTest, WhatIsWrittenIsReadByItsOwnerAlone) {
  ASSERT_TRUE(WriteKeyFile(path_, file_, "n1").ok());
  struct stat facts = {};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  const absl::StatusOr<KeyFile> read = ReadKeyFile(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->keys.secret_key, file_.keys.secret_key);
  EXPECT_EQ(read->keys.public_key, file_.keys.public_key);
  EXPECT_EQ(read->scheduler_keys, file_.scheduler_keys);
  EXPECT_EQ(FindKeyFile({"", directory_ + "/none", directory_}, "n1"), path_);
  EXPECT_EQ(FindKeyFile({directory_}, "n2"), "");
}

TEST_F(KeyFileTest, AKeyIsNotOverwritten) {
  ASSERT_TRUE(WriteKeyFile(path_, file_, "n1").ok());
  const absl::Status again = WriteKeyFile(path_, {MakeCurveKeys(), {}}, "n1");
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
  EXPECT_EQ(ReadKeyFile(path_)->keys.secret_key, file_.keys.secret_key);
}

TEST_F(KeyFileTest, RefusesWhatOthersCanRead) {
  ASSERT_TRUE(WriteKeyFile(path_, file_, "n1").ok());
  for (const mode_t mode : {0644, 0604, 0620}) {
    chmod(path_.c_str(), mode);
    const absl::Status status = ReadKeyFile(path_).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("chmod 600"));
  }
}

TEST_F(KeyFileTest, SaysWhatIsWrongWithAFile) {
  EXPECT_TRUE(absl::IsNotFound(ReadKeyFile(path_).status()));
  EXPECT_FALSE(ReadKeyFile(directory_).ok());
  std::ofstream(path_) << std::string(5000, '#');
  chmod(path_.c_str(), 0600);
  EXPECT_THAT(std::string(ReadKeyFile(path_).status().message()), HasSubstr("is not a secret key"));
}

TEST_F(KeyFileTest, ReadsNoOtherText) {
  const std::string secret = absl::StrCat("secret_key: '", file_.keys.secret_key, "'\n");
  EXPECT_EQ(ParseKeyFile(secret, "k")->keys.public_key, file_.keys.public_key);
  EXPECT_THAT(ParseKeyFile(absl::StrCat("# x\n", secret, "scheduler_public_key: a\nscheduler_public_key: b"), "k")
                  ->scheduler_keys,
              ElementsAre("a", "b"));
  EXPECT_THAT(std::string(ParseKeyFile("", "k").status().message()), HasSubstr("secret_key: expected a secret key"));
  EXPECT_THAT(std::string(ParseKeyFile("\nnonsense", "k").status().message()), HasSubstr("k:2: expected secret_key"));
  const std::string foreign = absl::StrCat(secret, "public_key: '", MakeCurveKeys().public_key, "'\n");
  EXPECT_THAT(std::string(ParseKeyFile(foreign, "k").status().message()), HasSubstr("is not that of secret_key"));
}

}  // namespace
}  // namespace banyan
