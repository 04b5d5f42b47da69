#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/daemon/scheduler_setup.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Text(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

JobStatus Answer(uint64_t epoch) {
  JobStatus status;
  status.job = "a";
  status.term = 7;
  status.epoch = epoch;
  return status;
}

TEST(RunReportTest, IsOfOneStartOfTheSchedulerAndEndsUpToDate) {
  const std::string file = testing::TempDir() + "/precision-7.json";
  {
    RunReport report("", {StatePlaceKind::kDirectory, testing::TempDir()}, [](LogLevel, absl::string_view) {});
    report.Take(Answer(1));
    EXPECT_EQ(Text(file), StatusJson(Answer(1)) + "\n");
    report.Take(Answer(2));
    EXPECT_EQ(Text(file), StatusJson(Answer(1)) + "\n") << "not every second";
  }
  EXPECT_EQ(Text(file), StatusJson(Answer(2)) + "\n");
}

TEST(RunReportTest, SaysOnceThatItCannotBeWritten) {
  std::vector<std::string> lines;
  {
    RunReport report("/no/such/folder/r.json", {}, [&](LogLevel, absl::string_view line) { lines.emplace_back(line); });
    for (int i = 0; i < 2 * RunReport::kEvery; ++i) report.Take(Answer(static_cast<uint64_t>(i)));
  }
  EXPECT_THAT(lines, ElementsAre(HasSubstr("/no/such/folder/r.json: cannot be written")));
}

}  // namespace
}  // namespace banyan
