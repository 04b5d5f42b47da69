#include "tools/doctor/doctor_server.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"
#include "tools/doctor/doctor_stream.h"
#include "tools/doctor/path_probe.h"
#include "tools/doctor/site_report.h"
#include "tools/doctor/tcp_address.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Answerer = PathFacts::Answerer;

constexpr absl::Duration kTimeout = absl::Seconds(30);
constexpr DoctorServer::Deadlines kForEver = {absl::InfiniteFuture(), absl::InfiniteFuture()};

class DoctorServerTest : public ::testing::Test {
 protected:
  void Serve(const std::string& name = "n2") {
    absl::StatusOr<std::unique_ptr<DoctorServer>> server = DoctorServer::Start(
        {.listen = Address(1), .name = name, .addresses = {{"n1", Address(0)}, {"n2", Address(1)}}});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::string Address(int index) const { return ports_->Address(index); }
  DoctorStream Connect() {
    absl::StatusOr<FileDescriptor> socket = ConnectTcp(LookUp(Address(1))->front(), kTimeout);
    EXPECT_TRUE(socket.ok()) << socket.status();
    return DoctorStream(*std::move(socket));
  }
  PathProbe Probe() const { return {.own_name = "n1", .own_address = Address(0), .name = "n2", .address = Address(1)}; }

  const absl::StatusOr<PortReservation> ports_ = PortReservation::Take(2);
  std::unique_ptr<DoctorServer> server_;
};

TEST_F(DoctorServerTest, AnswersAProbe) {
  Serve();
  PathProbe probe = Probe();
  probe.rate_time = absl::Milliseconds(20);
  probe.rate_bytes = 1'000'000;
  probe.idle_time = absl::Milliseconds(1);
  const PathFacts facts = ProbePath(probe);
  EXPECT_TRUE(facts.connect.ok()) << facts.connect;
  EXPECT_EQ(facts.answerer, Answerer::kDoctor);
  EXPECT_EQ(facts.answered_name, "n2");
  EXPECT_EQ(facts.own_end, "127.0.0.1");
  EXPECT_EQ(facts.seen_as, "127.0.0.1");
  EXPECT_FALSE(facts.is_here_alone) << "so is n1";
  EXPECT_TRUE(facts.talk.ok()) << facts.talk;
  EXPECT_LE(absl::AbsDuration(facts.clock_ahead), facts.round_trip) << "it is the same clock";
  EXPECT_TRUE(facts.large_there.ok()) << facts.large_there;
  EXPECT_TRUE(facts.large_back.ok()) << facts.large_back;
  EXPECT_GT(facts.rate_there_bps, 0);
  EXPECT_GT(facts.rate_back_bps, 0);
  EXPECT_EQ(facts.idle, absl::OkStatus());
  EXPECT_THAT(facts.call_back, HasSubstr("refused")) << "nobody listens for n1";
}

TEST_F(DoctorServerTest, CallsBackWhereTheOverlaySays) {
  Serve();
  const absl::StatusOr<FileDescriptor> own = ListenOnTcp(LookUp(Address(0))->front());
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(ProbePath(Probe()).call_back, "ok");
  PathProbe probe = Probe();
  probe.own_name = "stranger";
  EXPECT_EQ(ProbePath(probe).call_back, "the overlay of n2 has no stranger");
}

TEST_F(DoctorServerTest, WhoListensInItsPlaceIsKnown) {
  EXPECT_EQ(ProbePath(Probe()).connect.code(), absl::StatusCode::kUnavailable) << "nobody";
  const absl::StatusOr<FileDescriptor> listener = ListenOnTcp(LookUp(Address(1))->front());
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_EQ(ListenOnTcp(LookUp(Address(1))->front()).status().code(), absl::StatusCode::kAlreadyExists);
  std::thread answers([&] {
    for (const std::string& greeting : {std::string("\xff\0\0\0\0\0\0\0\1\x7f", 10), std::string("HTTP/1.1 400\r\n")}) {
      FileDescriptor socket;
      while (!socket.valid()) socket = FileDescriptor(accept4(listener->get(), nullptr, nullptr, SOCK_NONBLOCK));
      EXPECT_TRUE(DoctorStream(std::move(socket)).Send(greeting, kTimeout).ok());
    }
  });
  EXPECT_EQ(ProbePath(Probe()).answerer, Answerer::kBanyan);
  EXPECT_EQ(ProbePath(Probe()).answerer, Answerer::kStranger);
  answers.join();
}

// As where a tunnel's packets are smaller and nobody is told.
TEST_F(DoctorServerTest, LargeMessagesThatDoNotPassAreSeen) {
  const absl::StatusOr<FileDescriptor> listener = ListenOnTcp(LookUp(Address(1))->front());
  ASSERT_TRUE(listener.ok()) << listener.status();
  std::thread answers([&] {
    FileDescriptor socket;
    while (!socket.valid()) socket = FileDescriptor(accept4(listener->get(), nullptr, nullptr, SOCK_NONBLOCK));
    DoctorStream stream(std::move(socket));
    EXPECT_TRUE(stream.Send("banyan-doctor 1 n2 127.0.0.1:9\n", kTimeout).ok());
    EXPECT_EQ(*stream.ReceiveLine(kTimeout), "banyan-doctor 1 n1");
    absl::StatusOr<std::string> line = stream.ReceiveLine(kTimeout);
    while (line.ok() && line->rfind("take", 0) != 0) {
      const std::string answer = *line == "time" ? absl::StrCat("time ", absl::GetCurrentTimeNanos()) : "called ok";
      EXPECT_TRUE(stream.Send(answer + "\n", kTimeout).ok());
      line = stream.ReceiveLine(kTimeout);
    }
    // Nothing of the block is read until the other side gives up.
    while (!absl::IsUnavailable(stream.ReceiveBlock(1, kTimeout))) continue;
  });
  PathProbe probe = Probe();
  probe.large_timeout = absl::Milliseconds(200);
  const PathFacts facts = ProbePath(probe);
  EXPECT_TRUE(facts.talk.ok()) << facts.talk;
  EXPECT_EQ(facts.call_back, "ok");
  EXPECT_EQ(facts.large_there.code(), absl::StatusCode::kDeadlineExceeded);
  answers.join();
}

TEST_F(DoctorServerTest, WhoDoesNotTalkAsDoctorsDoIsHungUpOn) {
  Serve();
  for (const std::string words :
       {"GET / HTTP/1.1\r\n", "time\n", "banyan-doctor 1 n1\ntake -1\n", "banyan-doctor 1 n1\ngive 99999999999\n",
        "banyan-doctor 1 n1\ntake x\n", "banyan-doctor 1 \n", "banyan-doctor 1 n1\nreport 99999999\n"}) {
    DoctorStream stream = Connect();
    EXPECT_TRUE(stream.Send(words, kTimeout).ok());
    absl::StatusOr<std::string> line = stream.ReceiveLine(kTimeout);
    if (line.ok()) line = stream.ReceiveLine(kTimeout);
    EXPECT_EQ(line.status().code(), absl::StatusCode::kUnavailable) << words;
  }
  DoctorStream endless = Connect();
  EXPECT_TRUE(endless.Send(std::string(DoctorStream::kMostLineBytes + 1, 'a'), kTimeout).ok());
  EXPECT_TRUE(endless.ReceiveLine(kTimeout).ok()) << "the greeting";
  EXPECT_EQ(endless.ReceiveLine(kTimeout).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ProbePath(Probe()).answered_name, "n2") << "others are answered";
}

TEST_F(DoctorServerTest, HoldsABoundedNumberOfCallers) {
  Serve();
  std::vector<DoctorStream> callers;
  for (size_t i = 0; i < DoctorServer::kMostCallers; ++i) {
    callers.push_back(Connect());
    ASSERT_TRUE(callers.back().Ask("banyan-doctor 1 n1", kDoctorGreeting, kTimeout).ok());
  }
  DoctorStream one_more = Connect();
  EXPECT_EQ(one_more.ReceiveLine(kTimeout).status().code(), absl::StatusCode::kUnavailable);
  callers.clear();
  server_->AwaitVisitors({"n1"}, kForEver);
}

TEST_F(DoctorServerTest, AwaitsVisitorsAndNoLonger) {
  Serve();
  server_->AwaitVisitors({"n1"}, {absl::Now(), absl::InfiniteFuture()});
  EXPECT_TRUE(ProbePath(Probe()).talk.ok());
  server_->AwaitVisitors({"n1"}, kForEver);
  server_->AwaitVisitors({"n1", "n2"}, {absl::Now(), absl::InfiniteFuture()});
}

TEST_F(DoctorServerTest, AwaitsThoseThatHaveCalled) {
  Serve();
  DoctorStream caller = Connect();
  EXPECT_TRUE(caller.Send("banyan-doctor 1 n1\n", kTimeout).ok());
  ASSERT_TRUE(caller.Ask("time", kDoctorGreeting, kTimeout).ok());
  ASSERT_TRUE(caller.ReceiveLine(kTimeout).ok()) << "the time: its name has been read";
  const absl::Time begin = absl::Now();
  server_->AwaitVisitors({"n1"}, {begin, begin + absl::Milliseconds(50)});
  EXPECT_GE(absl::Now(), begin + absl::Milliseconds(50)) << "it still looks at this site";
}

TEST_F(DoctorServerTest, AwaitsThoseThatWereReached) {
  Serve();
  server_->NotePresent("n1");
  const absl::Time begin = absl::Now();
  server_->AwaitReports({"n1"}, {begin, begin + absl::Milliseconds(50)});
  EXPECT_GE(absl::Now(), begin + absl::Milliseconds(50)) << "it may still call";
}

TEST_F(DoctorServerTest, TakesReportsOfSitesInTheOverlay) {
  Serve();
  EXPECT_TRUE(SendReport(Probe(), EncodeReport({{"memory", false, "too little"}})).ok());
  PathProbe stranger = Probe();
  stranger.own_name = "n9";
  EXPECT_EQ(SendReport(stranger, EncodeReport({{"memory", true, ""}})).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(SendReport(Probe(), "no report").code(), absl::StatusCode::kUnavailable);
  const std::map<std::string, CheckResults> reports = server_->AwaitReports({"n1"}, kForEver);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports.at("n1").front().text, "too little");
}

TEST_F(DoctorServerTest, NobodyTakesAReportWhereNobodyIs) {
  EXPECT_THAT(std::string(SendReport(Probe(), "ok\ta\t\tb\n").message()), HasSubstr("refused"));
}

}  // namespace
}  // namespace banyan
