#include "tools/command_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/command_line.h"
#include "topology/overlay/did_you_mean.h"

namespace banyan {

int CommandTable::Run(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) const {
  if (arguments.empty()) {
    err << Help();
    return kExitUsage;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    out << Help();
    return kExitSuccess;
  }
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Command& c) { return c.name == name; });
  if (found != commands_.end()) return found->run(arguments.subspan(1), out, err);
  std::vector<std::string> names;
  for (const Command& command : commands_) names.push_back(command.name);
  err << absl::StrCat(name_, ": unknown command '", name, "'", DidYouMean(name, names), "; see ", name_, " --help\n");
  return kExitUsage;
}

std::string CommandTable::Help() const {
  std::string text = absl::StrCat("usage: ", name_, " COMMAND [ARGUMENTS]\n\n", description_, "\n\n");
  for (const Command& command : commands_) {
    absl::StrAppendFormat(&text, "  %-11s %s\n", command.name, command.description);
  }
  absl::StrAppend(&text, "\n", name_, " COMMAND --help tells the arguments of each, with an example.\n");
  return text;
}

}  // namespace banyan
