#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/protocol_host.h"
#include "runtime/testing/testing_protocol.h"
#include "tools/commands.h"
#include "tools/trace/records_file.h"
#include "tracing/round_recorder.h"
#include "tracing/testing/trace_schema.h"

namespace banyan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Step = RoundRecords::Step;

constexpr Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Trace(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = TraceCommand(arguments, out, err);
  return {code, out.str(), err.str()};
}

std::string PathOf(const std::string& name) { return testing::TempDir() + "/" + name; }

ChunkJourney Journey(uint32_t chunk, bool is_result, uint32_t from, uint32_t to) {
  return {Round(3), KeyId(1), ChunkIndex(chunk), is_result, NodeId(from), NodeId(to)};
}

// n2 sends ten chunks to n1, 100 ms for each, which sends the results back at once. The clock of n2 is an hour ahead.
class TraceCommandTest : public testing::Test {
 protected:
  TraceCommandTest() {
    constexpr int64_t kAhead = 3600000;
    RoundRecords first;
    RoundRecords second;
    first.moments = {{Step::kContributed, Round(3), KeyId(1), At(1000)}};
    second.moments = {{Step::kContributed, Round(3), KeyId(1), At(1000 + kAhead)}};
    first.clocks = {{NodeId(2), At(500), absl::Milliseconds(kAhead), absl::Microseconds(100)}};
    for (uint32_t chunk = 0; chunk < 10; ++chunk) {
      const int64_t came = 1100 + 100 * chunk;
      second.departures.push_back({Journey(chunk, false, 2, 1), At(1000 + kAhead)});
      first.arrivals.push_back({Journey(chunk, false, 2, 1), NodeId(2), 125000, At(came - 100 + kAhead), At(came)});
      first.departures.push_back({Journey(chunk, true, 1, 2), At(came)});
      second.arrivals.push_back({Journey(chunk, true, 1, 2), NodeId(1), 125000, At(came), At(came + 10 + kAhead)});
    }
    first.moments.push_back({Step::kCompleted, Round(3), KeyId(1), At(2001)});
    second.moments.push_back({Step::kCompleted, Round(3), KeyId(1), At(2010 + kAhead)});
    EXPECT_TRUE(WriteRecordsFile(first_, "n1", first).ok());
    EXPECT_TRUE(WriteRecordsFile(second_, "n2", second).ok());
  }

  const std::string first_ = PathOf("n1.rounds");
  const std::string second_ = PathOf("n2.rounds");
  const std::string json_ = PathOf("rounds.json");
};

TEST_F(TraceCommandTest, PutsRecordsOnOneClock) {
  const Outcome trace = Trace({json_, "--records", first_, "--records", second_});
  EXPECT_EQ(trace.code, 0) << trace.err;
  EXPECT_EQ(trace.out, "round 3 took 1010 ms: n2 to n1 was full from 0.0 ms to 1000 ms\n");
  std::stringstream json;
  json << std::ifstream(json_).rdbuf();
  EXPECT_THAT(TraceFaults(json.str()), IsEmpty());
  EXPECT_THAT(json.str(), HasSubstr("n2 to n1 was full"));
}

TEST_F(TraceCommandTest, SomeNodesSayWhatTheyCan) {
  const Outcome trace = Trace({json_, "--records", first_});
  EXPECT_EQ(trace.code, 0) << trace.err;
  EXPECT_THAT(trace.out, HasSubstr("round 3 took 1001 ms: "));
  EXPECT_THAT(Trace({json_, "--records", second_}).out, HasSubstr("round 3 took 1010 ms: "));
}

TEST_F(TraceCommandTest, AnOverlayTellsWhatTheLinkCouldCarry) {
  const std::string overlay = PathOf("overlay.yaml");
  std::ofstream(overlay) << "nodes: [{name: n1}, {name: n2}]\nlinks:\n  - {between: [n1, n2], mbps: 100}\n";
  const Outcome trace = Trace({json_, "--records", first_, "--records", second_, "--overlay", overlay});
  EXPECT_EQ(trace.code, 0) << trace.err;
  EXPECT_THAT(trace.out, HasSubstr("n2 to n1 was full, at 10 of 100 Mbit/s from 0.0 ms to 1000 ms"));
}

// Runs the command against a scheduler that gives these answers.
Outcome TraceJob(std::vector<std::string> arguments, const std::vector<Message>& answers) {
  absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create({.name = "scheduler"});
  EXPECT_TRUE(host.ok()) << host.status();
  auto scheduler = std::make_unique<TestingProtocol>();
  scheduler->on_message = [&](MessageReceived& received, Actions& actions) {
    if (!std::holds_alternative<TraceRounds>(received.message)) return;
    EXPECT_EQ(std::get<TraceRounds>(received.message), (TraceRounds{3, absl::Seconds(20)}));
    for (const Message& answer : answers) TestingProtocol::Add(actions, Send{received.connection, answer, {}});
  };
  std::thread thread([&] { EXPECT_EQ((*host)->Run(std::move(scheduler)), absl::OkStatus()); });
  arguments.insert(arguments.end(), {"--rounds", "3", "--timeout", "20s", "--scheduler", (*host)->bound_address()});
  const Outcome outcome = Trace(arguments);
  (*host)->RequestStop();
  thread.join();
  return outcome;
}

// The pieces of one node.
std::vector<Message> PiecesOf(const std::string& path) {
  NodeRecords of_node = *ReadRecordsFile(path);
  std::vector<Message> pieces;
  while (!IsEmpty(of_node.records)) {
    pieces.emplace_back(TracePiece{TraceId(1), {of_node.name, of_node.node, TakePiece(of_node.records, 7)}, false});
  }
  return pieces;
}

TEST_F(TraceCommandTest, AsksARunningJob) {
  std::vector<Message> answers = PiecesOf(first_);
  for (const Message& piece : PiecesOf(second_)) answers.push_back(piece);
  answers.emplace_back(TraceEnd{Round(3), Round(3), {{"n3", "its connection was lost"}}});
  const Outcome trace = TraceJob({json_}, answers);
  EXPECT_EQ(trace.code, 0) << trace.err;
  EXPECT_EQ(trace.out,
            "without n3: its connection was lost\n"
            "round 3 took 1010 ms: n2 to n1 was full from 0.0 ms to 1000 ms\n");
}

TEST_F(TraceCommandTest, AJobThatTellsNothingIsAnError) {
  const Outcome refused = TraceJob({json_}, {OperatorReply{false, "another trace is under way"}});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("another trace is under way"));
  const Outcome silent = TraceJob({json_}, {TraceEnd{Round(3), Round(3), {{"n1", "gone"}}}});
  EXPECT_EQ(silent.code, 1);
  EXPECT_THAT(silent.out, HasSubstr("without n1: gone"));
  TracePiece open{TraceId(1), {"n1", NodeId(1), {}}, true};
  open.of_node.records.moments = {{Step::kContributed, Round(3), KeyId(1), At(1000)}};
  const Outcome incomplete = TraceJob({json_}, {open, TraceEnd{Round(3), Round(3), {}}});
  EXPECT_EQ(incomplete.code, 1);
  EXPECT_THAT(incomplete.err, HasSubstr("no round was complete at all nodes within 20s"));
}

TEST_F(TraceCommandTest, SaysWhatIsWrong) {
  EXPECT_EQ(Trace({json_}).code, 2);
  EXPECT_EQ(Trace({json_, "--records", first_, "--rounds", "2"}).code, 2);
  EXPECT_THAT(Trace({json_, "--records", "no/such"}).err, HasSubstr("cannot read no/such"));
  EXPECT_THAT(Trace({json_, "--records", ::testing::TempDir()}).err, HasSubstr("cannot read " + ::testing::TempDir()));
  // At once, before anybody is asked.
  EXPECT_THAT(Trace({"no/such/rounds.json", "--scheduler", "tcp://127.0.0.1:1"}).err,
              HasSubstr("cannot write no/such"));
  EXPECT_THAT(Trace({json_, "--records", first_, "--records", first_}).err,
              HasSubstr("expected the records of another node, got those of n1"));
  const std::string other = PathOf("other");
  std::ofstream(other) << "{}";
  EXPECT_THAT(Trace({json_, "--records", other}).err, HasSubstr(other + ": expected"));
  EXPECT_THAT(Trace({"no/such/rounds.json", "--records", first_, "--records", second_}).err,
              HasSubstr("cannot write no/such/rounds.json"));
  EXPECT_FALSE(WriteRecordsFile(PathOf("none"), "n1", {}).ok());
}

}  // namespace
}  // namespace banyan
