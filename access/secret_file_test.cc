#include "access/secret_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& text, mode_t mode = 0600) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

TEST(SecretFileTest, ATokenIsWhatItsFileHolds) {
  EXPECT_EQ(*ReadTokenFile(Write("good", "0123456789abcdef-._~+/=\n")), "0123456789abcdef-._~+/=");
}

TEST(SecretFileTest, WhatOthersCanReadIsRefused) {
  const std::string path = Write("open", "0123456789abcdef\n", 0644);
  const absl::Status status = ReadTokenFile(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("got mode 0644 of user "));
  EXPECT_THAT(status.message(), HasSubstr("; `chmod 600 " + path + "`"));
}

TEST(SecretFileTest, RootMayHandItToTheGroupOfThisProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to own the file";
  EXPECT_TRUE(ReadTokenFile(Write("handed", "0123456789abcdef", 0440)).ok());
  for (const mode_t mode : {0460, 0444, 0450}) {
    EXPECT_TRUE(absl::IsPermissionDenied(ReadTokenFile(Write("open", "0123456789abcdef", mode)).status())) << mode;
  }
  const std::string foreign = Write("foreign", "0123456789abcdef", 0440);
  if (chown(foreign.c_str(), 0, 54321) != 0) GTEST_SKIP() << "no other groups exist here";
  EXPECT_TRUE(absl::IsPermissionDenied(ReadTokenFile(foreign).status()));
}

TEST(SecretFileTest, AMarkOfTheByteOrderIsPassedOver) {
  EXPECT_EQ(*ReadTokenFile(Write("marked",
                                 "\xef\xbb\xbf"
                                 "0123456789abcdef")),
            "0123456789abcdef");
}

TEST(SecretFileTest, WhatIsNoTokenIsRefused) {
  for (const std::string& text : {std::string(), std::string("short"), std::string("two words of some length"),
                                  std::string(513, 'x'), std::string(5000, 'x')}) {
    const absl::Status status = ReadTokenFile(Write("bad", text)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ReadTokenFile(::testing::TempDir() + "/none").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace banyan
