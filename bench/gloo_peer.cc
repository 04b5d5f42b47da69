// A process of `banyan bench wan`, which starts it: Gloo's all-reduce.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "bench/all_reduce_rounds.h"
#include "bench/gloo_all_reduce.h"
#include "bench/round_barrier.h"

namespace banyan {
namespace {

constexpr char kUsage[] = "usage: gloo_peer GATE RANK WORLD ELEMENTS DIRECTORY ADDRESS ALGORITHM";
// The whole model may go over one slow link.
constexpr absl::Duration kPatience = absl::Minutes(30);

absl::Status RunPeer(const std::vector<std::string>& arguments) {
  AllReduceMember member;
  int64_t elements = 0;
  if (arguments.size() != 7 || !absl::SimpleAtoi(arguments[1], &member.rank) ||
      !absl::SimpleAtoi(arguments[2], &member.world) || !absl::SimpleAtoi(arguments[3], &elements) || elements < 1) {
    return absl::InvalidArgumentError(kUsage);
  }
  const absl::StatusOr<GlooAlgorithm> algorithm = ParseGlooAlgorithm(arguments[6]);
  if (!algorithm.ok()) return algorithm.status();
  absl::StatusOr<std::unique_ptr<RoundBarrier>> barrier = RoundBarrier::Open(arguments[0], member.world);
  if (!barrier.ok()) return barrier.status();
  absl::StatusOr<std::unique_ptr<GlooAllReduce>> gloo = GlooAllReduce::Connect({.rank = member.rank,
                                                                                .world = member.world,
                                                                                .directory = arguments[4],
                                                                                .address = arguments[5],
                                                                                .algorithm = *algorithm,
                                                                                .patience = kPatience});
  if (!gloo.ok()) return gloo.status();
  InPlaceAllReduce all_reduce(elements, [&gloo](absl::Span<float> values) { return (*gloo)->Sum(values); });
  return RunAllReduceRounds(**barrier, member, all_reduce);
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  return banyan::ExitCode("gloo_peer", banyan::RunPeer(std::vector<std::string>(argv + 1, argv + argc)));
}
