#include "tools/view/recording.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/testing_protocol.h"
#include "tools/reports/round_chart.h"
#include "tools/view/simulation_recorder.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

JobStatus StatusOf(uint64_t policy) {
  JobStatus status;
  status.job = "j";
  status.state = "running";
  status.policy = policy;
  return status;
}

std::string JsonOfPolicy(uint64_t policy) { return StatusJson(StatusOf(policy)); }

std::string LineAt(double at_s, uint64_t policy = 1) { return MakeRecordingLine(at_s, StatusOf(policy)) + "\n"; }

RoundChart ChartOf(uint64_t round) {
  RoundChart chart;
  chart.round = Round(round);
  chart.sentence = absl::StrCat("round ", round, " took 1 s: a to b was full");
  chart.seconds = 1;
  chart.path = {{"a", "b", "a to b was full", 0, 1}};
  chart.links = {{"a", "b", 1000, 1, true, {0, 1}, {}}};
  return chart;
}

std::string TraceAt(double at_s, uint64_t round) { return MakeTraceLine(at_s, ChartOf(round)) + "\n"; }

std::string FileWith(const std::string& text) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/recording");
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string Refusal(const std::string& text) {
  const absl::StatusOr<Recording> recording = Recording::Open(FileWith(text));
  EXPECT_EQ(recording.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(recording.status().message());
}

TEST(RecordingTest, HasWhatWasWritten) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/written");
  const absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const double start_s = 1764280000.25;
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE((*writer)->Add(start_s + static_cast<double>(i), StatusOf(i)).ok());

  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_EQ(recording->size(), 3u);
  EXPECT_DOUBLE_EQ(recording->from_s(), start_s);
  EXPECT_DOUBLE_EQ(recording->to_s(), start_s + 2);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(*recording->Read(i), JsonOfPolicy(i));
  EXPECT_EQ(recording->Find(0), 0u);
  EXPECT_EQ(recording->Find(start_s + 0.9), 0u);
  EXPECT_EQ(recording->Find(start_s + 1), 1u);
  EXPECT_EQ(recording->Find(start_s + 99), 2u);
}

TEST(RecordingTest, OpensThoughTheClockWasSetBack) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/set_back");
  const absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (double at_s : {100.0, 40.0, 41.0, 101.0}) ASSERT_TRUE((*writer)->Add(at_s, StatusOf(1)).ok());
  ASSERT_TRUE((*writer)->AddTrace(50, ChartOf(3)).ok());
  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->size(), 4u);
  EXPECT_EQ(recording->traces(), 1u);
  EXPECT_EQ(recording->to_s(), 101);
}

TEST(RecordingTest, HasTheTracesBesideTheStatuses) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/traced");
  const absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE((*writer)->Add(10, StatusOf(1)).ok());
  ASSERT_TRUE((*writer)->AddTrace(10.5, ChartOf(3)).ok());
  ASSERT_TRUE((*writer)->Add(11, StatusOf(2)).ok());
  ASSERT_TRUE((*writer)->AddTrace(12, ChartOf(7)).ok());
  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->size(), 2u);
  EXPECT_EQ(recording->traces(), 2u);
  EXPECT_EQ(recording->to_s(), 12);
  EXPECT_EQ(*recording->Read(1), JsonOfPolicy(2));
  EXPECT_EQ(*recording->ReadTrace(1), RoundChartJson(ChartOf(7)));
  EXPECT_EQ(recording->FindTrace(10.4), std::nullopt);
  EXPECT_EQ(recording->FindTrace(10.5), 0u);
  EXPECT_EQ(recording->FindTrace(11.9), 0u);
  EXPECT_EQ(recording->FindTrace(99), 1u);
  // A part may begin with either.
  const absl::StatusOr<Recording> part = Recording::Open(FileWith(TraceAt(1, 5) + LineAt(2)));
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(part->from_s(), 1);
  EXPECT_EQ(*part->Read(part->Find(1)), JsonOfPolicy(1));
  EXPECT_THAT(Refusal(TraceAt(1, 5)), HasSubstr(", line 2: expected the status of a job, got only traces"));
}

// As recordings were before there were traces in them.
TEST(RecordingTest, OpensOneWithoutTraces) {
  const std::string line = R"({"banyan_recording":1,"at_s":4.000,"status":)" + JsonOfPolicy(1) + "}\n";
  const absl::StatusOr<Recording> recording = Recording::Open(FileWith(line));
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->traces(), 0u);
  EXPECT_EQ(recording->FindTrace(99), std::nullopt);
  EXPECT_EQ(*recording->Read(0), JsonOfPolicy(1));
  // Those lines are the same still.
  EXPECT_EQ(LineAt(4), line);
}

TEST(RecordingTest, RefusesATraceThatIsNone) {
  const auto with = [](const char* from, const char* to) {
    const std::string line = absl::StrReplaceAll(TraceAt(2, 3), {{from, to}});
    EXPECT_NE(line, TraceAt(2, 3)) << from;
    return Refusal(LineAt(1) + TraceAt(2, 2) + line + LineAt(3));
  };
  EXPECT_THAT(
      with("\"round\":3", "\"round\":\"3\""),
      AllOf(HasSubstr(", line 3: damaged: expected the trace of a round as JSON: expected a whole number from 0 on "
                      "as round, got "),
            HasSubstr("take the line out to view the rest")));
  EXPECT_THAT(with("\"carries\":[0,1]", "\"carries\":[0]"),
              HasSubstr("links[0].carries: an end for each beginning expected, 1 times came"));
  EXPECT_THAT(with("\"links\":", "\"lines\":"), HasSubstr("as JSON: expected a member links, got none"));
  EXPECT_THAT(with("\"trace\":{", "\"trace\":["),
              HasSubstr(", line 3: damaged: expected an object of JSON as its trace"));
  EXPECT_THAT(with("\"seconds\":1,", "\"seconds\":1 "),
              HasSubstr(", line 3: damaged: expected JSON, got text with a parse error "));
  EXPECT_THAT(with("\"trace\"", "\"status\""), HasSubstr(", line 3: damaged: expected a time in seconds after "));
}

TEST(RecordingTest, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(Recording::Open("/no/such/file").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Recording::Open("/tmp").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Refusal(""), HasSubstr("line 1: expected a line of a recording, got an empty file"));
  EXPECT_THAT(Refusal("job,round\n1,2\n"),
              AllOf(HasSubstr("line 1: expected a line of a recording, which begins with {\"banyan_recording\":1,"),
                    HasSubstr("got \"job,round\"; `banyan status --watch --record`")));
  EXPECT_THAT(Refusal("PK"), HasSubstr("line 1: expected a line of a recording, which begins with "));
  EXPECT_THAT(Refusal(JsonOfPolicy(1) + "\n"), HasSubstr("got \"{\\\"job\\\":"));
  EXPECT_THAT(Refusal(R"({"banyan_recording":3,"at_s":1,"status":{}})"
                      "\n"),
              HasSubstr("line 1: expected version 1 or 2 of recordings, got 3; view it with the Banyan that"));
  EXPECT_THAT(Refusal(LineAt(1).substr(0, 60)), HasSubstr("line 1: damaged: "));
  EXPECT_THAT(Refusal(LineAt(1) + LineAt(2) + "\n" + LineAt(3)), HasSubstr(", line 3: expected a line of a recording"));
  std::string damaged = LineAt(2);
  damaged[damaged.size() / 2] = '\x01';
  EXPECT_THAT(Refusal(LineAt(1) + damaged + LineAt(3)),
              AllOf(HasSubstr(", line 2: damaged: expected JSON, "), HasSubstr("take the line out to view the rest")));
  EXPECT_THAT(Refusal(LineAt(5) + LineAt(4)),
              HasSubstr(", line 2: expected the time of the line before, 1970-01-01 00:00:05.000 UTC, or a "
                        "later one, got 1970-01-01 00:00:04.000 UTC;"));
  for (const char* line :
       {R"({"banyan_recording":1,"at_s":nan,"status":{}})", R"({"banyan_recording":1,"at_s":1,"status":[]})",
        R"({"banyan_recording":1,"at_s":1,"status":{})", R"({"banyan_recording":1,"at_s":1})"}) {
    EXPECT_THAT(Refusal(absl::StrCat(line, "\n")), HasSubstr("line 1: damaged: ")) << line;
  }
}

TEST(RecordingTest, NeverMindALastLineInPart) {
  const absl::StatusOr<Recording> recording =
      Recording::Open(FileWith(LineAt(1) + LineAt(2) + LineAt(3).substr(0, 30)));
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->size(), 2u);
  // Nor in the middle of a trace.
  const std::string text = LineAt(1) + TraceAt(1.5, 4) + LineAt(2) + TraceAt(3, 5);
  const absl::StatusOr<Recording> traced = Recording::Open(FileWith(text.substr(0, text.size() - 20)));
  ASSERT_TRUE(traced.ok()) << traced.status();
  EXPECT_EQ(traced->traces(), 1u);
  EXPECT_EQ(traced->to_s(), 2);
}

TEST(RecordingTest, SeesThatTheFileHasChanged) {
  const std::string path = FileWith(LineAt(1) + LineAt(2));
  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(recording->Read(1).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(RecordingTest, OfALongOneEveryOtherMomentIsKept) {
  std::string text = LineAt(0);
  const size_t lines = Recording::kMostMoments + 10;
  for (size_t i = 1; i < lines; ++i)
    absl::StrAppend(&text, R"({"banyan_recording":1,"at_s":)", i, R"(,"status":{}})", "\n");
  const absl::StatusOr<Recording> recording = Recording::Open(FileWith(text));
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_LE(recording->size(), Recording::kMostMoments / 2 + 10);
  EXPECT_EQ(recording->at_s(1), 2);
  EXPECT_EQ(recording->to_s(), static_cast<double>(lines - 1));
  EXPECT_EQ(*recording->Read(recording->size() - 1), "{}");
}

TEST(SimulationRecorderTest, StatusesComeLessOftenAsTimePasses) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/simulated");
  const absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  SimulationRecorder recorder(writer->get(), nullptr, 1);
  auto answers = std::make_unique<TestingProtocol>();
  answers->on_message = [](MessageReceived& received, Actions& actions) {
    TestingProtocol::Add(actions, Send{received.connection, StatusReply{StatusOf(1)}, {}});
  };
  const std::unique_ptr<Protocol> core = recorder.Wrap(std::move(answers));
  const Timestamp start = Timestamp() + absl::Seconds(5);
  core->Step(start, Started{});
  constexpr int64_t kPace = SimulationRecorder::kStatusesOfPace;
  while (core->NextDeadline() < start + absl::Seconds(7 * kPace)) core->Step(core->NextDeadline(), DeadlineReached{});
  ASSERT_TRUE(recorder.status().ok()) << recorder.status();

  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->at_s(kPace - 1), kPace - 1);
  EXPECT_EQ(recording->at_s(kPace + 1) - recording->at_s(kPace), 2);
  EXPECT_NEAR(static_cast<double>(recording->size()), 3 * kPace, 2);
  EXPECT_NEAR(recording->to_s(), 7 * kPace, 4);
}

TEST(AtFullSizeTest, SizesGrowAndTimesStay) {
  JobStatus status;
  status.policy = 3;
  JobStatus::Plan& plan = status.plan.emplace();
  plan.rate_mbps = 1.5;
  plan.predicted_round_seconds = 2;
  status.nodes.resize(1);
  status.nodes[0].up_mbps = 5;
  status.nodes[0].report.emplace().round = 7;
  status.nodes[0].report->memory = {{"sums", 10}};
  status.links.resize(1);
  status.links[0].mbps = 0.25;
  status.links[0].delay_ms = 6;
  status.links[0].traffic.sent_bytes = 100;
  status.links[0].traffic.cut_chunks = 2;
  status.keys = {{"w", 128, 4}};
  status.precision.emplace().sent.full_bytes = 3;
  JobStatus scaled = status;
  scaled.plan->rate_mbps = 6;
  scaled.nodes[0].up_mbps = 20;
  scaled.nodes[0].report->memory[0].value = 40;
  scaled.links[0].mbps = 1;
  scaled.links[0].traffic.sent_bytes = 400;
  scaled.keys[0].elements = 512;
  scaled.precision->sent.full_bytes = 12;
  EXPECT_EQ(StatusJson(AtFullSize(status, 4)), StatusJson(scaled));
  EXPECT_TRUE(AtFullSize(status, 1) == status);
}

}  // namespace
}  // namespace banyan
