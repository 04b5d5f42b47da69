#include "tools/command_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/command_line.h"
#include "tools/terminal/help_text.h"
#include "tools/terminal/man_page.h"
#include "topology/overlay/did_you_mean.h"

namespace banyan {

int CommandTable::Run(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) const {
  if (arguments.empty()) {
    err << Help();
    return kExitUsage;
  }
  const std::string& name = arguments.front();
  if (name == kManual && arguments.size() == 2) {
    out << Manual(arguments[1]);
    return kExitSuccess;
  }
  if (name == kDescribe) {
    for (const Command& command : commands_) {
      if (!command.is_hidden) out << command.name << "\t\t" << command.description << "\n";
    }
    return kExitSuccess;
  }
  const bool asks_help = name == "--help" || name == "-h" || name == "help";
  if (name == "--version" || name == "version") {
    out << VersionText();
    return kExitSuccess;
  }
  if (asks_help && arguments.size() == 1) {
    out << Help();
    return kExitSuccess;
  }
  if (asks_help) {
    std::vector<std::string> question(arguments.begin() + 1, arguments.end());
    if (question.back() != "--help") question.push_back("--help");
    return Run(question, out, err);
  }
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Command& c) { return c.name == name; });
  if (found != commands_.end()) return found->run(arguments.subspan(1), out, err);
  std::vector<std::string> names = {"help", "version"};
  for (const Command& command : commands_) names.push_back(command.name);
  err << absl::StrCat(name_, ": unknown command '", name, "'", DidYouMean(name, names), "; see ", name_, " --help\n");
  return kExitUsage;
}

std::string CommandTable::Help() const {
  size_t width = 0;
  for (const Command& command : commands_) width = std::max(width, command.is_hidden ? 0 : command.name.size());
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> groups;
  for (const Command& command : commands_) {
    if (command.is_hidden) continue;
    if (groups.empty() || groups.back().first != command.group) groups.push_back({command.group, {}});
    const std::string padding(width - command.name.size(), ' ');
    groups.back().second.emplace_back(command.name + padding, command.description);
  }
  std::string tables;
  for (const auto& [group, rows] : groups) {
    absl::StrAppend(&tables, tables.empty() ? "" : "\n", group.empty() ? "" : group + ":\n", HelpTable(rows));
  }
  const std::string more = absl::StrCat(name_, " help COMMAND, or ", name_,
                                        " COMMAND --help, tells the arguments of each, with an example; ", name_,
                                        " --version which version this is.");
  const std::string codes = groups.size() > 1 ? absl::StrCat("\n", Wrap(kExitCodes, 0, 0), "\n") : "";
  return absl::StrCat("usage: ", name_, " COMMAND [ARGUMENTS]\n\n", Wrap(description_, 0, 0), "\n\n", tables, "\n",
                      Wrap(more, 0, 0), "\n", codes);
}

std::string CommandTable::Manual(absl::string_view summary) const {
  const std::string dashed = absl::StrReplaceAll(name_, {{" ", "-"}});
  ManPage page(dashed, 1, summary);
  page.Section("SYNOPSIS").Text(absl::StrCat(name_, " COMMAND [ARGUMENTS]"));
  page.Section("DESCRIPTION").Text(description_);
  std::string group = "no group";
  for (const Command& command : commands_) {
    if (command.is_hidden) continue;
    if (command.group != group) page.Section(command.group.empty() ? "COMMANDS" : absl::AsciiStrToUpper(command.group));
    group = command.group;
    page.Row(absl::StrCat(dashed, "-", command.name, "(1)"), command.description);
  }
  page.Section("ENVIRONMENT").Text(kVariablesText);
  page.Section("EXIT STATUS").Text(kExitCodes);
  page.Section("SEE ALSO").Text("overlay.yaml(5)");
  return page.text();
}

std::vector<Command> InGroup(const std::string& group, std::vector<Command> commands) {
  for (Command& command : commands) command.group = group;
  return commands;
}

}  // namespace banyan
