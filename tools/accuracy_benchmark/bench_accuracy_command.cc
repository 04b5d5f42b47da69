#include "tools/accuracy_benchmark/bench_accuracy_command.h"

#include <optional>

#include "tools/accuracy_benchmark/accuracy_options.h"
#include "tools/other_program.h"

namespace banyan {

int BenchAccuracyCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  AccuracyOptions options;
  if (std::optional<int> code = ParseAccuracyOptions(arguments, options, out, err); code.has_value()) return *code;
  return BecomeProgram("examples/fashion_mnist/accuracy/accuracy_benchmark", "banyan bench accuracy", arguments, out,
                       err);
}

}  // namespace banyan
