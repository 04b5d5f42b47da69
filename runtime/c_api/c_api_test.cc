// The C interface against a node for tests.

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/c_api/banyan.h"
#include "runtime/testing/testing_session.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr double kLongSeconds = 20;

class CApiTest : public SessionTest {
 protected:
  ~CApiTest() override { banyan_session_free(session_); }

  void Start(TestingNodeOptions options = {}, double room_seconds = 0) {
    StartNode(options);
    banyan_session_options chosen = {};
    chosen.size = sizeof chosen;
    chosen.node = socket_.c_str();
    chosen.room_seconds = room_seconds;
    ASSERT_EQ(banyan_session_open(&chosen, &session_), BANYAN_OK) << banyan_last_error();
    EXPECT_STREQ(banyan_session_node_name(session_), "n1");
    EXPECT_STREQ(banyan_session_aggregation_op(session_), "sum");
    EXPECT_EQ(banyan_session_may_leave_out(session_), options.may_leave_out);
    banyan_ticket* ticket = nullptr;
    ASSERT_EQ(banyan_init(session_, "w", values_.data(), nullptr, 2, nullptr, &ticket), BANYAN_OK);
    ExpectDone(ticket);
  }
  void ExpectDone(banyan_ticket* ticket, int code = BANYAN_OK) {
    EXPECT_EQ(banyan_ticket_wait(ticket, kLongSeconds), code) << banyan_last_error();
    banyan_ticket_release(ticket);
  }
  banyan_ticket* PushPull(std::vector<float>& result, const banyan_call_options* options = nullptr) {
    banyan_ticket* ticket = nullptr;
    EXPECT_EQ(banyan_push_pull(session_, "w", values_.data(), result.data(), 2, options, &ticket), BANYAN_OK);
    return ticket;
  }

  const std::vector<float> values_ = {1, 2};
  banyan_session* session_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(OverUnix, CApiTest, testing::Values(PortKind::kUnix), PortName);

TEST_P(CApiTest, EveryKindOfCallDoesWhatItSays) {
  Start();
  std::vector<float> result(2);
  banyan_ticket* ticket = PushPull(result);
  EXPECT_EQ(banyan_ticket_poll(ticket, kLongSeconds), 1);
  EXPECT_EQ(banyan_ticket_round(ticket), 1u);
  ExpectDone(ticket);
  EXPECT_EQ(result, values_);
  ASSERT_EQ(banyan_push(session_, "w", result.data(), 2, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  result = {0, 0};
  ASSERT_EQ(banyan_pull(session_, "w", result.data(), 2, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  EXPECT_EQ(result, values_);
  ASSERT_EQ(banyan_flush(session_, "w", values_.data(), result.data(), 2, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  ASSERT_EQ(banyan_broadcast(session_, "w", values_.data(), result.data(), 2, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  ASSERT_EQ(banyan_register_weights(session_, "w", values_.data(), 2, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  ASSERT_EQ(banyan_barrier(session_, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  ASSERT_EQ(banyan_report_loss(session_, 1, 0.5, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
}

TEST_P(CApiTest, TellsTheMembersOfTheJob) {
  Start();
  banyan_members members = {};
  members.size = sizeof members;
  ASSERT_EQ(banyan_session_members(session_, 0, kLongSeconds, &members), BANYAN_OK) << banyan_last_error();
  EXPECT_EQ(members.rank, 2u);
  EXPECT_EQ(members.world_size, 3u);
  ASSERT_EQ(members.count, 2u);
  EXPECT_STREQ(members.names[0], "n-1");
  EXPECT_EQ(members.workers[0], 2u);
  EXPECT_EQ(banyan_session_members(session_, members.epoch, 0, &members), BANYAN_DEADLINE_EXCEEDED);
}

TEST_P(CApiTest, GroupsGoTogether) {
  Start();
  const char* const names[] = {"a", "b"};
  std::vector<float> b = {3};
  const float* const values[] = {values_.data(), b.data()};
  const size_t counts[] = {2, 1};
  banyan_ticket* ticket = nullptr;
  ASSERT_EQ(banyan_init_group(session_, "g", 2, names, values, nullptr, counts, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  std::vector<float> first(2);
  std::vector<float> second(1);
  float* const results[] = {first.data(), second.data()};
  ASSERT_EQ(banyan_push_pull_group(session_, "g", 2, values, results, counts, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  EXPECT_EQ(first, values_);
  EXPECT_EQ(second, b);
  ASSERT_EQ(banyan_push_group(session_, "g", 2, values, counts, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  first = {0, 0};
  ASSERT_EQ(banyan_pull_group(session_, "g", 2, results, counts, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  EXPECT_EQ(first, values_);
  banyan_ticket* part = nullptr;
  ASSERT_EQ(banyan_push_pull(session_, "a", values_.data(), first.data(), 2, nullptr, &part), BANYAN_OK);
  EXPECT_EQ(banyan_ticket_poll(part, 0), 0);
  ASSERT_EQ(banyan_push_pull(session_, "b", b.data(), second.data(), 1, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  ExpectDone(part);
}

TEST_P(CApiTest, WhatCannotBeIsRefusedAndTheSessionGoesOn) {
  Start();
  banyan_ticket* ticket = nullptr;
  // More than there can be, which the node would refuse by ending the session.
  ASSERT_EQ(banyan_init(session_, "huge", values_.data(), nullptr, size_t{1} << 44, nullptr, &ticket), BANYAN_OK);
  EXPECT_EQ(banyan_ticket_wait(ticket, 60), BANYAN_INVALID_ARGUMENT);
  EXPECT_THAT(banyan_last_error(), HasSubstr("elements, got 17592186044416"));
  banyan_ticket_release(ticket);
  const char* const names[] = {"a", "b"};
  const float* const values[] = {values_.data(), nullptr};
  const size_t counts[] = {2, 1};
  EXPECT_EQ(banyan_init_group(session_, "g", 2, names, values, nullptr, counts, nullptr, nullptr),
            BANYAN_INVALID_ARGUMENT);
  EXPECT_EQ(banyan_push_group(session_, "g", 2, values, counts, nullptr, nullptr), BANYAN_INVALID_ARGUMENT);
  EXPECT_STREQ(banyan_session_node_name(nullptr), "");
  EXPECT_STREQ(banyan_session_aggregation_op(nullptr), "");
  EXPECT_EQ(banyan_session_may_leave_out(nullptr), 0);
  EXPECT_STREQ(banyan_node_address(nullptr), "");
  ASSERT_EQ(banyan_push(session_, "w", values_.data(), 2, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
}

template <typename Value>
const float* AsFloats(const Value* values) {
  return reinterpret_cast<const float*>(values);
}
template <typename Value>
float* AsFloats(Value* values) {
  return reinterpret_cast<float*>(values);
}

TEST_P(CApiTest, EveryTypeKeepsItsNumbers) {
  Start();
  const uint16_t halves[] = {0x3c01, 0xc000, 0x7bff};
  const int64_t integers[] = {(int64_t{1} << 53) + 1, -7, 0};
  const double doubles[] = {1e300, 0.1, -0.0};
  const auto expect_echo = [this](const char* key, int32_t type, const auto* values, size_t count) {
    banyan_call_options options = {};
    options.size = sizeof options;
    options.type = type;
    std::vector<std::decay_t<decltype(*values)>> result(count);
    banyan_ticket* ticket = nullptr;
    ASSERT_EQ(banyan_init(session_, key, AsFloats(values), nullptr, count, &options, &ticket), BANYAN_OK);
    ExpectDone(ticket);
    ASSERT_EQ(banyan_push_pull(session_, key, AsFloats(values), AsFloats(result.data()), count, &options, &ticket),
              BANYAN_OK);
    ExpectDone(ticket);
    EXPECT_EQ(memcmp(result.data(), values, count * sizeof(*values)), 0) << key;
    // As float32.
    ASSERT_EQ(banyan_push(session_, key, AsFloats(values), count, nullptr, &ticket), BANYAN_OK);
    ExpectDone(ticket, BANYAN_INVALID_ARGUMENT);
    EXPECT_NE(std::string(banyan_last_error()).find("as Init had, got float32"), std::string::npos);
  };
  expect_echo("half", BANYAN_FLOAT16, halves, 3);
  expect_echo("brain", BANYAN_BFLOAT16, halves, 3);
  expect_echo("double", BANYAN_FLOAT64, doubles, 3);
  expect_echo("long", BANYAN_INT64, integers, 3);
  const int32_t integer = -3;
  expect_echo("int", BANYAN_INT32, &integer, 1);
  banyan_call_options options = {};
  options.size = sizeof options;
  options.type = 18;
  EXPECT_EQ(banyan_init(session_, "x", values_.data(), nullptr, 2, &options, nullptr), BANYAN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(banyan_last_error()).find("banyan_type, 0 to 17, got 18"), std::string::npos);
}

TEST_P(CApiTest, EmptyTensorsTakePartInRounds) {
  Start();
  banyan_ticket* ticket = nullptr;
  ASSERT_EQ(banyan_init(session_, "none", nullptr, nullptr, 0, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket);
  ASSERT_EQ(banyan_push_pull(session_, "none", nullptr, nullptr, 0, nullptr, &ticket), BANYAN_OK);
  EXPECT_EQ(banyan_ticket_poll(ticket, kLongSeconds), 1);
  EXPECT_EQ(banyan_ticket_round(ticket), 1u);
  ExpectDone(ticket);
  ASSERT_EQ(banyan_push(session_, "none", values_.data(), 1, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket, BANYAN_INVALID_ARGUMENT);
}

TEST_P(CApiTest, ErrorsNameNodeKeyAndWhatWasExpected) {
  Start();
  std::vector<float> wrong(3);
  banyan_ticket* ticket = nullptr;
  ASSERT_EQ(banyan_push(session_, "w", wrong.data(), 3, nullptr, &ticket), BANYAN_OK);
  ExpectDone(ticket, BANYAN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(banyan_last_error()).find("node n1, key w"), std::string::npos) << banyan_last_error();
}

struct Ended {
  std::mutex mutex;
  std::condition_variable changed;
  int code = -1;
  std::string message;
};

void OnDone(void* context, int code, const char* message) {
  auto* const ended = static_cast<Ended*>(context);
  std::lock_guard<std::mutex> lock(ended->mutex);
  ended->code = code;
  ended->message = message;
  ended->changed.notify_all();
}

TEST_P(CApiTest, ACallbackTellsTheEndOfAReleasedTicket) {
  Start();
  std::vector<float> result(2);
  Ended ended;
  banyan_call_options options = {};
  options.size = sizeof options;
  options.done = OnDone;
  options.context = &ended;
  banyan_ticket_release(PushPull(result, &options));
  std::unique_lock<std::mutex> lock(ended.mutex);
  ended.changed.wait(lock, [&] { return ended.code >= 0; });
  EXPECT_EQ(ended.code, BANYAN_OK);
  EXPECT_EQ(ended.message, "");
  EXPECT_EQ(result, values_);
}

TEST_P(CApiTest, TagsMakeTheDescriptorReadable) {
  Start();
  std::vector<float> result(2);
  banyan_call_options options = {};
  options.size = sizeof options;
  options.tag = 42;
  ASSERT_EQ(banyan_barrier(session_, &options, nullptr), BANYAN_OK);
  pollfd polled = {.fd = banyan_session_fd(session_), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&polled, 1, 20000), 1);
  uint64_t tags[4] = {};
  int codes[4] = {-1, -1, -1, -1};
  size_t count = 0;
  ASSERT_EQ(banyan_session_next(session_, 0, tags, codes, 4, &count), BANYAN_OK) << banyan_last_error();
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(tags[0], 42u);
  EXPECT_EQ(codes[0], BANYAN_OK);
  EXPECT_EQ(banyan_session_next(session_, 0, tags, codes, 4, &count), BANYAN_DEADLINE_EXCEEDED);
}

TEST_P(CApiTest, ReleaseOfAPendingTicketDoesNotWait) {
  Start({.hold_from = 1});
  std::vector<float> result(2);
  banyan_call_options options = {};
  options.size = sizeof options;
  options.tag = 7;
  banyan_ticket_release(PushPull(result, &options));  // else this never returns
  ASSERT_EQ(banyan_session_close(session_, kLongSeconds), BANYAN_OK) << banyan_last_error();
  uint64_t tag = 0;
  int code = 0;
  size_t count = 0;
  ASSERT_EQ(banyan_session_next(session_, 0, &tag, &code, 1, &count), BANYAN_OK);
  EXPECT_EQ(tag, 7u);
  EXPECT_EQ(code, BANYAN_CANCELLED);
  EXPECT_EQ(banyan_session_next(session_, kLongSeconds, &tag, &code, 1, &count), BANYAN_CANCELLED);
  EXPECT_EQ(banyan_barrier(session_, nullptr, nullptr), BANYAN_CANCELLED);
}

TEST_P(CApiTest, CloseEndsCallsOfOtherThreads) {
  Start({.hold_from = 1});
  std::vector<float> result(2);
  banyan_ticket* open = PushPull(result);
  std::vector<float> late(2);
  banyan_ticket* waiting = nullptr;
  std::thread other([&] {  // waits for room, or finds the session closed
    (void)banyan_push_pull(session_, "w", values_.data(), late.data(), 2, nullptr, &waiting);
  });
  EXPECT_EQ(banyan_session_close(session_, kLongSeconds), BANYAN_OK) << banyan_last_error();
  other.join();
  EXPECT_EQ(banyan_ticket_wait(open, kLongSeconds), BANYAN_CANCELLED);
  if (waiting != nullptr) {
    EXPECT_EQ(banyan_ticket_wait(waiting, kLongSeconds), BANYAN_CANCELLED);
  }
  banyan_ticket_release(open);
  banyan_ticket_release(waiting);
}

TEST_P(CApiTest, ACallWithoutRoomEndsAtOnce) {
  Start({.hold_from = 1}, /*room_seconds=*/0.05);
  std::vector<float> result(2);
  banyan_ticket_release(PushPull(result));
  banyan_ticket* second = PushPull(result);
  EXPECT_EQ(banyan_ticket_poll(second, 0), 1);
  ExpectDone(second, BANYAN_DEADLINE_EXCEEDED);
}

TEST_P(CApiTest, AForkedChildNeitherUsesNorHarmsIt) {
  Start();
  std::vector<float> result(2);
  banyan_ticket* const ticket = PushPull(result);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    if (banyan_barrier(session_, nullptr, nullptr) != BANYAN_FAILED_PRECONDITION) wrong = __LINE__;
    if (banyan_session_fd(session_) != -1) wrong = __LINE__;
    uint64_t tag = 0;
    size_t count = 0;
    if (banyan_session_next(session_, 1, &tag, nullptr, 1, &count) != BANYAN_FAILED_PRECONDITION) wrong = __LINE__;
    banyan_ticket_release(ticket);
    banyan_session_free(session_);
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ExpectDone(ticket);
  ExpectDone(PushPull(result));
}

TEST_P(CApiTest, ReplicasOfOneWorkerAreAlike) {
  Start();
  const char* const names[] = {"weight", "step"};
  float weight[] = {1, 2};
  int64_t step = 3;
  void* const memory[] = {weight, &step};
  const size_t bytes[] = {sizeof weight, sizeof step};
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(banyan_compare_replicas(session_, "model", 2, names, memory, bytes, kLongSeconds), BANYAN_OK)
        << banyan_last_error();
  }
  EXPECT_EQ(banyan_compare_replicas(session_, "model", 0, names, memory, bytes, 1), BANYAN_INVALID_ARGUMENT);
  EXPECT_EQ(banyan_compare_replicas(session_, "model", 2, names, nullptr, bytes, 1), BANYAN_INVALID_ARGUMENT);
  EXPECT_EQ(banyan_compare_replicas(session_, nullptr, 2, names, memory, bytes, 1), BANYAN_INVALID_ARGUMENT);
}

TEST_P(CApiTest, StateIsSharedBeforeItIsFetched) {
  Start();
  uint64_t step = 0;
  EXPECT_EQ(banyan_fetch_state(session_, 1, &step), BANYAN_FAILED_PRECONDITION);
  EXPECT_EQ(banyan_pass_boundary(session_, 1, 1), BANYAN_FAILED_PRECONDITION);
  int is_held = -1;
  EXPECT_EQ(banyan_boundary_is_held(session_, &is_held), BANYAN_FAILED_PRECONDITION);
  EXPECT_EQ(banyan_boundary_is_held(session_, nullptr), BANYAN_INVALID_ARGUMENT);
  EXPECT_EQ(banyan_share_state(session_, 0, nullptr, nullptr, nullptr), BANYAN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace banyan
