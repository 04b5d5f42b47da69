#include "bench/all_reduce_rounds.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "bench/known_values.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// Between rounds the others may still be under way, on a slow network.
constexpr absl::Duration kPatience = absl::Minutes(30);

}  // namespace

absl::Status CheckSums(int world, int64_t round, absl::Span<const float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const float expected = SumOfValues(world, round, static_cast<int64_t>(i));
    if (values[i] == expected) continue;
    return absl::DataLossError(
        absl::StrCat("round ", round, ": expected the sum ", expected, " at ", i, ", got ", values[i]));
  }
  return absl::OkStatus();
}

absl::Status RunAllReduceRounds(RoundGate& gate, const AllReduceMember& member, AllReduce& all_reduce,
                                AllReduceLedger* ledger) {
  for (int64_t round = 1;; ++round) {
    const absl::StatusOr<absl::Span<float>> input = all_reduce.Input();
    if (!input.ok()) return input.status();
    FillValues(member.rank, round, *input);
    gate.Arrive(member.rank, round);
    if (!gate.AwaitOpening(round, kPatience)) return absl::OkStatus();
    RoundSpan span;
    span.start_ns = SteadyNow().nanoseconds();
    const absl::StatusOr<absl::Span<const float>> sums = all_reduce.Sum();
    span.end_ns = SteadyNow().nanoseconds();
    if (!sums.ok()) return sums.status();
    gate.End(member.rank, round, span);
    if (!gate.AwaitAllEnded(round, kPatience)) return absl::OkStatus();
    if (ledger != nullptr) {
      ledger->Add(round, *sums);
    } else if (absl::Status status = CheckSums(member.world, round, *sums); !status.ok()) {
      return status;
    }
  }
}

int ExitCode(absl::string_view program, const absl::Status& status) {
  if (status.ok()) return 0;
  std::cerr << program << ": " << status.message() << std::endl;
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace banyan
