#include "tests/tidy/purity_check.h"

#include <gtest/gtest.h>

#include <string>

namespace banyan {
namespace {

size_t Count(const std::string& path, const std::string& text) { return CheckPurity({path, text}).size(); }

class ForbiddenTest : public testing::TestWithParam<const char*> {};

TEST_P(ForbiddenTest, IsFoundInEveryPureFolderAndNowhereElse) {
  for (const char* folder :
       {"core", "proto", "protocol", "topology", "awareness", "compression", "precision", "node", "scheduler"}) {
    EXPECT_EQ(Count(std::string(folder) + "/a.cc", GetParam()), 1u) << folder;
    EXPECT_EQ(Count(std::string(folder) + "/a.h", GetParam()), 1u) << folder;
    EXPECT_EQ(Count(std::string(folder) + "/deeper/a.h", GetParam()), 1u) << folder;
    EXPECT_EQ(Count(std::string(folder) + "/a_test.cc", GetParam()), 0u) << folder;
  }
  EXPECT_EQ(Count("runtime/a.cc", GetParam()), 0u);
}

INSTANTIATE_TEST_SUITE_P(Includes, ForbiddenTest,
                         testing::Values("#include <thread>", "#include <mutex>", "#include <chrono>",
                                         "#include <sys/socket.h>", "#include <zmq.hpp>", "#include \"zmq.hpp\"",
                                         "#include <unordered_map>", "#include \"absl/time/clock.h\"",
                                         "#include <random>"));

INSTANTIATE_TEST_SUITE_P(Words, ForbiddenTest,
                         testing::Values("std::thread t;", "::std::mutex m;", "auto t = absl::Now();",
                                         "auto t = std::chrono::steady_clock::now();", "x = getenv(\"A\");",
                                         "x = std::getenv(\"A\");", "zmq::socket_t s;", "thread_local int x;",
                                         "clock_gettime(a, b);", "std::mt19937 r;"));

TEST(PurityCheckTest, PureCodePasses) {
  EXPECT_EQ(Count("core/a.cc", "#include <map>\n#include \"absl/time/time.h\"\n// std::thread\nint thread = Now();\n"),
            0u);
}

TEST(PurityCheckTest, LocksThatTheSanitizerCannotSeeAreFoundEverywhere) {
  for (const char* path : {"core/a.h", "runtime/a.cc", "runtime/a_test.cc"}) {
    EXPECT_EQ(Count(path, "#include \"absl/synchronization/mutex.h\""), 1u) << path;
  }
}

TEST(PurityCheckTest, FindingNamesFileAndLine) {
  std::vector<std::string> findings = CheckPurity({"core/a.cc", "\n\nstd::mutex m;\n"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("core/a.cc:3: uses std::mutex")) << findings[0];
}

TEST(PurityCheckTest, ForbiddenLibraryIsFound) {
  EXPECT_EQ(Count("node/BUILD", "deps = [\"@system//:zmq\"]"), 1u);
  EXPECT_EQ(Count("node/BUILD", "deps = [\"@system//:absl\"]"), 0u);
  EXPECT_EQ(Count("runtime/BUILD", "deps = [\"@system//:zmq\"]"), 0u);
}

}  // namespace
}  // namespace banyan
