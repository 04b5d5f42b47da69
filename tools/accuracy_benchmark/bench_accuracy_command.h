// `banyan bench accuracy`: what compression costs in accuracy and saves in time. The training is done by a program of
// its own, so that the command `banyan` needs no LibTorch.
#ifndef BANYAN_TOOLS_ACCURACY_BENCHMARK_BENCH_ACCURACY_COMMAND_H_
#define BANYAN_TOOLS_ACCURACY_BENCHMARK_BENCH_ACCURACY_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `accuracy`. Becomes that program once they are sound; returns the exit code
// otherwise: 0 after --help, 1 failure, 2 usage. The program itself fails where replicas differ.
int BenchAccuracyCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// The same with chunks that queues cut: as Chen, Vargaftik and Ben Basat have it (HotNets 2024, figures 3 and 4), from
// none to half of them, unless `arguments` say --trim.
int BenchTrimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_ACCURACY_BENCHMARK_BENCH_ACCURACY_COMMAND_H_
