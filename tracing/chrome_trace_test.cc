#include "tracing/chrome_trace.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracing/testing/trace_schema.h"

namespace banyan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

JobTrace TwoNodes() {
  JobTrace trace;
  trace.names = {{NodeId(1), "n1"}, {NodeId(2), "n \"2\""}};
  const auto add = [&](uint32_t from, uint32_t to, uint32_t chunk, bool is_result, int64_t ready, int64_t received) {
    const ChunkJourney journey{Round(3), KeyId(1), ChunkIndex(chunk), is_result, NodeId(from), NodeId(to)};
    trace.hops.push_back({journey, NodeId(from), NodeId(to), 100, At(ready), At(ready + 12), At(received)});
  };
  for (const uint32_t node : {1, 2}) {
    trace.marks.push_back({NodeId(node), RoundRecords::Step::kContributed, Round(3), KeyId(1), At(1000 + node)});
  }
  // Under way at the same time.
  add(2, 1, 0, false, 1010, 1050);
  add(2, 1, 1, false, 1020, 1060);
  add(1, 2, 0, true, 1055, 1070);
  add(1, 2, 1, true, 1065, 1090);
  for (const uint32_t node : {1, 2}) {
    trace.marks.push_back({NodeId(node), RoundRecords::Step::kCompleted, Round(3), KeyId(1), At(1100)});
  }
  return trace;
}

std::string Chrome(const JobTrace& trace) { return ChromeTrace(trace, PathFinder(trace).FindAll(), {}); }

TEST(ChromeTraceTest, IsWhatPerfettoTakes) {
  const std::string json = Chrome(TwoNodes());
  EXPECT_THAT(TraceFaults(json), IsEmpty());
  for (const char* text :
       {R"("name":"to n1")", R"("name":"adds 1:0")", R"("name":"2 chunks wait")", R"("name":"result 1:1")",
        R"("name":"n \"2\"")", "round 3 took 99 ms: ", R"("name":"critical path")"}) {
    EXPECT_THAT(json, HasSubstr(text));
  }
}

// Beginning with the first thing that happened, and each chunk after the one before it.
TEST(ChromeTraceTest, TimesAreMicroseconds) {
  const std::string json = Chrome(TwoNodes());
  EXPECT_THAT(json, HasSubstr(R"("name":"sum 1:0","cat":"to n1","ph":"X","pid":2,"tid":3,"ts":21000,"dur":28000)"));
  EXPECT_THAT(json, HasSubstr(R"("name":"sum 1:1","cat":"to n1","ph":"X","pid":2,"tid":3,"ts":49000,"dur":10000)"));
}

TEST(ChromeTraceTest, AnEmptyTraceIsOneToo) { EXPECT_THAT(TraceFaults(Chrome({})), IsEmpty()); }

TEST(TraceSchemaTest, FindsWhatIsWrong) {
  const std::string good = Chrome(TwoNodes());
  const auto broken = [&](const std::string& what, const std::string& by) {
    std::string json = good;
    for (size_t at = json.find(what); at != std::string::npos; at = json.find(what, at + by.size())) {
      json.replace(at, what.size(), by);
    }
    return TraceFaults(json);
  };
  EXPECT_THAT(broken("\"ts\":49000", "\"ts\":48000"), Not(IsEmpty()));
  EXPECT_THAT(broken("\"dur\":", "\"duration\":"), Not(IsEmpty()));
  EXPECT_THAT(broken("\"ph\":\"X\"", "\"ph\":\"Z\""), Not(IsEmpty()));
  EXPECT_THAT(broken("thread_name", "thread"), Not(IsEmpty()));
  EXPECT_THAT(broken("traceEvents", "events"), Not(IsEmpty()));
  EXPECT_THAT(TraceFaults("{"), Not(IsEmpty()));
}

}  // namespace
}  // namespace banyan
