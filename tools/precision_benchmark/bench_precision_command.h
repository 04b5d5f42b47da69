// `banyan bench precision`: training with low-bit rounds, static and controlled.
#ifndef BANYAN_TOOLS_PRECISION_BENCHMARK_BENCH_PRECISION_COMMAND_H_
#define BANYAN_TOOLS_PRECISION_BENCHMARK_BENCH_PRECISION_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `precision`. Goes over to the program that has LibTorch; returns the exit code where
// it does not get there.
int BenchPrecisionCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_PRECISION_BENCHMARK_BENCH_PRECISION_COMMAND_H_
