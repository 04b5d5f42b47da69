#include "access/secret_file.h"

#include <sys/stat.h>

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
  EXPECT_THAT(status.message(), HasSubstr("others may read or write a token; `chmod 600 " + path + "`"));
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
