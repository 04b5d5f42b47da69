// The work of every contender's process of `banyan bench wan`: rounds of an all-reduce of known values. Each round
// begins when the gate opens, and its result is checked. Free functions.
#ifndef BANYAN_BENCH_ALL_REDUCE_ROUNDS_H_
#define BANYAN_BENCH_ALL_REDUCE_ROUNDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "bench/all_reduce.h"
#include "bench/all_reduce_ledger.h"
#include "bench/round_gate.h"

namespace banyan {

// DATA_LOSS names the first value that is not the sum of all members' ones.
absl::Status CheckSums(int world, int64_t round, absl::Span<const float> values);

struct AllReduceMember {
  int rank = 0;
  int world = 1;
};

// Until the gate closes. Only Sum is timed. Results go to the ledger where there is one; without it each must be right.
absl::Status RunAllReduceRounds(RoundGate& gate, const AllReduceMember& member, AllReduce& all_reduce,
                                AllReduceLedger* ledger = nullptr);

// The exit code of a program's main.
int ExitCode(absl::string_view program, const absl::Status& status);

}  // namespace banyan

#endif  // BANYAN_BENCH_ALL_REDUCE_ROUNDS_H_
