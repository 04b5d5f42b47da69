#include "tools/reports/trace_report.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

TEST(TraceReportTest, SaysWhatATraceLacks) {
  JobTrace trace;
  trace.names = {{NodeId(1), "n1"}, {NodeId(2), "n2"}};
  trace.marks = {{NodeId(1), RoundRecords::Step::kContributed, Round(4), KeyId(1), At(0)},
                 {NodeId(1), RoundRecords::Step::kCompleted, Round(4), KeyId(1), At(80)}};
  EXPECT_EQ(TraceText(trace, PathFinder(trace).FindAll(), {}), "");  // n2 has not completed the round
  trace.unaligned = {NodeId(2)};
  trace.left_out = 7;
  trace.clock_uncertainty = absl::Microseconds(20300);
  EXPECT_EQ(TraceText(trace, PathFinder(trace).FindAll(), {}),
            "round 4 took 80 ms: n1 computed from 0.0 ms to 80 ms\n"
            "n2 is not in the trace: its clock compares with no other\n"
            "the trace lacks 7 records for which nodes had no room\n"
            "where links are slower one way than the other, times of two nodes may be 21ms apart\n");
}

TEST(TraceReportTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_TRUE(WriteTrace({}, {}, {}, testing::TempDir() + "/empty.json").ok());
  const absl::Status status = WriteTrace({}, {}, {}, "no/such/folder/a.json");
  EXPECT_EQ(status.message(), "cannot write no/such/folder/a.json: No such file or directory");
}

}  // namespace
}  // namespace banyan
