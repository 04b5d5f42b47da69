// `banyan bench wan`: Banyan and what people would use instead, on the same emulated WAN, one after the other.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_BENCH_WAN_COMMAND_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_BENCH_WAN_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the words `bench wan`. Returns the exit code: 0 when every contender has a result.
int BenchWanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_BENCH_WAN_COMMAND_H_
