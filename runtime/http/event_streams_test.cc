#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/http/http_server.h"
#include "runtime/testing/http_get.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr char kRequest[] = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";

// A server whose readers are told the newest text.
class EventStreamsTest : public ::testing::Test {
 protected:
  EventStreamsTest() {
    HttpRoute events;
    events.path = "/events";
    events.events = [this](uint64_t& place) { return Next(place); };
    absl::StatusOr<std::unique_ptr<HttpServer>> server =
        HttpServer::Serve("127.0.0.1:0", {std::move(events), {"/", [] {
                                                                return HttpContent{"text/plain", "hello"};
                                                              }}});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    EXPECT_TRUE(absl::SimpleAtoi(server_->url().substr(server_->url().rfind(':') + 1), &port_));
  }

  std::string Next(uint64_t& place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (place == change_) return "";
    place = change_;
    ++pieces_;
    return absl::StrCat("data: ", text_, "\n\n");
  }

  void Tell(std::string text) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      text_ = std::move(text);
      ++change_;
    }
    server_->Wake();
  }

  FileDescriptor Open() {
    FileDescriptor reader = Connect(port_);
    const timeval patience = {static_cast<time_t>(absl::ToInt64Seconds(kPatience)), 0};
    setsockopt(reader.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(send(reader.get(), kRequest, sizeof kRequest - 1, MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof kRequest - 1));
    return reader;
  }

  // Waits until `done`; false when it is in vain.
  template <typename Done>
  static bool WaitFor(Done done) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!done()) {
      if (absl::Now() > deadline) return false;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return true;
  }

  std::mutex mutex_;
  std::string text_;     // guarded by mutex_
  uint64_t change_ = 0;  // guarded by mutex_
  uint64_t pieces_ = 0;  // guarded by mutex_; that were taken
  int port_ = 0;
  std::unique_ptr<HttpServer> server_;
};

// All that comes up to `end`; less when the server closes.
std::string ReadUntil(const FileDescriptor& reader, const std::string& end) {
  std::string read;
  char byte = 0;
  while (!absl::StrContains(read, end) && recv(reader.get(), &byte, 1, 0) == 1) read += byte;
  return read;
}

TEST_F(EventStreamsTest, AReaderIsToldWhatIsThereAndWhatComes) {
  Tell("one");
  const FileDescriptor reader = Open();
  const std::string begin = ReadUntil(reader, "data: one\n\n");
  EXPECT_THAT(begin, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(begin, HasSubstr("Content-Type: text/event-stream"));
  Tell("two");
  EXPECT_THAT(ReadUntil(reader, "data: two\n\n"), Not(HasSubstr("one")));
}

TEST_F(EventStreamsTest, AReaderThatCameBeforeAllWaits) {
  const FileDescriptor reader = Open();
  ASSERT_TRUE(WaitFor([this] { return server_->readers() == 1; }));
  // Nothing new is nothing to be told.
  server_->Wake();
  Tell("one");
  EXPECT_THAT(ReadUntil(reader, "data: one\n\n"), HasSubstr("data: one\n\n"));
}

TEST_F(EventStreamsTest, TooManyAreRefusedAndOthersAreStillAnswered) {
  std::vector<FileDescriptor> readers;
  for (size_t i = 0; i < EventStreams::kMostReaders; ++i) readers.push_back(Open());
  ASSERT_TRUE(WaitFor([this] { return server_->readers() == EventStreams::kMostReaders; }));
  EXPECT_THAT(HttpGet(port_, "/events"), HasSubstr(" 503 "));
  EXPECT_THAT(HttpGet(port_, "/"), HasSubstr("hello"));
}

TEST_F(EventStreamsTest, WhoHasGoneMakesRoom) {
  {
    const FileDescriptor reader = Open();
    ASSERT_TRUE(WaitFor([this] { return server_->readers() == 1; }));
  }
  EXPECT_TRUE(WaitFor([this] {
    Tell("anything");
    return server_->readers() == 0;
  }));
}

// It holds one piece at a time, and is dropped when it takes nothing of that for some seconds.
TEST_F(EventStreamsTest, WhoReadsNothingHoldsOnePieceAndIsDropped) {
  const std::string large(8 << 20, 'x');
  Tell(large);
  const FileDescriptor reader = Open();
  ASSERT_TRUE(WaitFor([this] { return server_->readers() == 1; }));
  for (int i = 0; i < 20; ++i) Tell(absl::StrCat(large, i));
  EXPECT_TRUE(WaitFor([this] { return server_->readers() == 0; }));
  const std::lock_guard<std::mutex> lock(mutex_);
  EXPECT_LE(pieces_, 2u);
}

TEST_F(EventStreamsTest, TheEndOfTheServerEndsTheStreams) {
  Tell("one");
  const FileDescriptor waits = Open();
  ReadUntil(waits, "data: one\n\n");
  ASSERT_TRUE(WaitFor([this] { return server_->readers() == 1; }));
  server_.reset();
  EXPECT_THAT(ReadAll(waits.get()), Not(HasSubstr("data")));
}

}  // namespace
}  // namespace banyan
