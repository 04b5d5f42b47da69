#include "tools/precision_benchmark/bench_precision_command.h"

#include <optional>

#include "tools/other_program.h"
#include "tools/precision_benchmark/precision_options.h"

namespace banyan {

int BenchPrecisionCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  PrecisionOptions options;
  if (std::optional<int> code = ParsePrecisionOptions(arguments, options, out, err); code.has_value()) return *code;
  return BecomeProgram("examples/precision/precision_benchmark", "banyan bench precision", arguments, out, err);
}

}  // namespace banyan
