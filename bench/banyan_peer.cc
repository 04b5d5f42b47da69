// A worker of `banyan bench wan`, which starts it: push-pulls of one tensor through the data centre's node.

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/types/span.h"
#include "bench/all_reduce.h"
#include "bench/all_reduce_rounds.h"
#include "bench/round_gate.h"
#include "runtime/chunk_heap.h"
#include "runtime/session/session.h"

namespace banyan {
namespace {

constexpr char kKey[] = "values";
constexpr char kUsage[] = "usage: banyan_peer GATE RANK WORLD ELEMENTS unix:SOCKET";

// In the memory that the worker shares with its node.
class SharedAllReduce : public AllReduce {
 public:
  explicit SharedAllReduce(Session& session) : session_(session) {}

  absl::StatusOr<absl::Span<float>> Input() override {
    sums_ = Ticket();
    absl::StatusOr<SharedGradient> gradient = session_.ShareGradient(kKey);
    if (!gradient.ok()) return gradient.status();
    return gradient_.emplace(*std::move(gradient)).values();
  }
  absl::StatusOr<absl::Span<const float>> Sum() override {
    sums_ = session_.PushPull(kKey, *std::move(gradient_));
    if (absl::Status status = sums_.Wait(); !status.ok()) return status;
    return sums_.shared_result();
  }

 private:
  Session& session_;
  std::optional<SharedGradient> gradient_;
  Ticket sums_;
};

absl::Status RunPeer(const std::vector<std::string>& arguments) {
  AllReduceMember member;
  int64_t elements = 0;
  if (arguments.size() != 5 || !absl::SimpleAtoi(arguments[1], &member.rank) ||
      !absl::SimpleAtoi(arguments[2], &member.world) || !absl::SimpleAtoi(arguments[3], &elements) || elements < 1) {
    return absl::InvalidArgumentError(kUsage);
  }
  absl::StatusOr<std::unique_ptr<RoundGate>> gate = RoundGate::Open(arguments[0], member.world);
  if (!gate.ok()) return gate.status();
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Open({.node = arguments[4]});
  if (!session.ok()) return session.status();
  const std::vector<float> zeros(static_cast<size_t>(elements));
  if (absl::Status status = (*session)->Init(kKey, zeros).Wait(); !status.ok()) return status;
  SharedAllReduce all_reduce(**session);
  return RunAllReduceRounds(**gate, member, all_reduce);
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  banyan::KeepChunksInHeap();
  return banyan::ExitCode("banyan_peer", banyan::RunPeer(std::vector<std::string>(argv + 1, argv + argc)));
}
