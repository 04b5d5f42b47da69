#include "node/computation_table.h"

#include "gtest/gtest.h"
#include "proto/precision/precision_report.h"

namespace banyan {
namespace {

uint32_t ReportedThreads(uint32_t threads) {
  PrecisionReport report;
  ComputationTable(threads).AddTo(report);
  return report.threads;
}

TEST(ComputationTableTest, ReportsThreadsAsFarAsAReportCan) {
  EXPECT_EQ(ReportedThreads(3), 3u);
  EXPECT_EQ(ReportedThreads(PrecisionReport::kMostThreads + 1), PrecisionReport::kMostThreads);
}

}  // namespace
}  // namespace banyan
