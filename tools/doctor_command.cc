#include "tools/doctor_command.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "core/json_writer.h"
#include "tools/clock_check.h"
#include "tools/command_line.h"

namespace banyan {
namespace {

constexpr double kLargestOffsetMs = 60'000;
constexpr char kExplanation[] =
    "A job does not depend on it. Banyan's timestamps come from a monotonic clock, which chrony does not set. Nodes\n"
    "learn the offsets between these clocks from the echoes of heartbeats between neighbours. chrony only keeps the\n"
    "times in the logs of different sites comparable.";

struct DoctorFlags {
  double max_offset_ms = 5;
  std::string chronyc = "/usr/bin/chronyc";
  bool json = false;
};

CommandLine MakeCommandLine(DoctorFlags& flags) {
  CommandLine line(
      "banyan doctor",
      std::string("Asks chrony if this machine's wall clock is right, and says what to do where it is not.\n") +
          kExplanation,
      "banyan doctor --max-offset-ms 5");
  line.Time("max-offset-ms", "MS", "how far the clock may be off (default 5)", absl::Milliseconds(1), 0.001,
            kLargestOffsetMs, &flags.max_offset_ms);
  line.Text("chronyc", "PATH", "chrony's client (default /usr/bin/chronyc)", &flags.chronyc);
  line.Switch("json", "print JSON: ok, checks [{name, ok, text}]", &flags.json);
  return line;
}

void PrintJson(const std::vector<CheckResult>& results, bool ok, std::ostream& out) {
  JsonWriter json;
  json.BeginObject().Name("ok").Boolean(ok).Name("checks").BeginArray();
  for (const CheckResult& result : results) {
    json.BeginObject().Name("name").String(result.name).Name("ok").Boolean(result.ok);
    json.Name("text").String(result.text).EndObject();
  }
  out << json.EndArray().EndObject().text() << "\n";
}

}  // namespace

int DoctorCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  DoctorFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const std::vector<CheckResult> results = CheckClock(flags.chronyc, absl::Milliseconds(flags.max_offset_ms));
  const bool ok = std::all_of(results.begin(), results.end(), [](const CheckResult& result) { return result.ok; });
  if (flags.json) {
    PrintJson(results, ok, out);
  } else {
    for (const CheckResult& result : results) {
      out << (result.ok ? "ok: " : "fix: ") << result.name << ": " << result.text << "\n";
    }
    if (!ok) out << "\n" << kExplanation << "\n";
  }
  return ok ? kExitSuccess : kExitFailure;
}

}  // namespace banyan
