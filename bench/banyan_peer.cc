// A worker of `banyan bench wan`, which starts it: push-pulls of one tensor through the data centre's node.

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "bench/all_reduce_rounds.h"
#include "bench/round_gate.h"
#include "runtime/chunk_heap.h"
#include "runtime/session.h"

namespace banyan {
namespace {

constexpr char kKey[] = "values";
constexpr char kUsage[] = "usage: banyan_peer GATE RANK WORLD ELEMENTS unix:SOCKET";

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
  std::vector<float> memory(static_cast<size_t>(elements));
  if (absl::Status status = (*session)->Init(kKey, memory).Wait(); !status.ok()) return status;
  return RunAllReduceRounds(**gate, member, absl::MakeSpan(memory), [&session](absl::Span<float> values) {
    return (*session)->PushPull(kKey, values, values).Wait();
  });
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  banyan::KeepChunksInHeap();
  return banyan::ExitCode("banyan_peer", banyan::RunPeer(std::vector<std::string>(argv + 1, argv + argc)));
}
