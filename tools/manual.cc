#include "tools/manual.h"

#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/command_line.h"
#include "tools/terminal/man_page.h"
#include "topology/overlay/overlay_reference.h"

namespace banyan {
namespace {

std::string OverlayManual() {
  ManPage page("overlay.yaml", 5, "what a job of Banyan is: its nodes, links and settings");
  page.Section("DESCRIPTION")
      .Text(
          "The scheduler reads the file; nodes get their part when they join. Errors name file, line and column. "
          "Numbers may have units: mbps: 1Gbit/s, delay_ms: 0.2s. Keys that are live may change while a job runs, by "
          "banyan-reconfigure(1).")
      .Verbatim(
          "nodes:\n- {name: a, address: tcp://10.0.1.1:7701}\n- {name: b, address: tcp://10.0.2.1:7701}\n"
          "scheduler: {address: tcp://10.0.0.1:7700}");
  std::string section;
  for (const OverlayKeyText& key : DescribeOverlayKeys()) {
    const std::string own = key.path.substr(0, key.path.find('.'));
    if (section != own) page.Section(absl::AsciiStrToUpper(own));
    section = own;
    page.Row(key.path, absl::StrReplaceAll(absl::StrCat(key.meaning, ". Takes ", key.takes,
                                                        key.value == "required" ? "; " : "; default: ", key.value,
                                                        key.is_live ? "; live." : "."),
                                           {{"`", ""}}));
  }
  page.Section("SEE ALSO").Text("banyan(1), banyan-scheduler(1), banyan-reconfigure(1)");
  return page.text();
}

std::string Answer(const CommandTable& table, std::vector<std::string> words) {
  std::ostringstream answer;
  table.Run(words, answer, answer);
  return answer.str();
}

absl::Status Write(const std::string& path, const std::string& page) {
  std::ofstream file(path);
  file << page;
  file.close();
  return file ? absl::OkStatus() : absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

// Writes the page of the command that `words` name, and of those that it is the first word of.
absl::Status WriteBelow(const CommandTable& table, const std::vector<std::string>& words, const std::string& summary,
                        const std::string& folder) {
  const auto with = [&words](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string file = absl::StrCat(absl::StrJoin(with({}), "-"), ".1");
  absl::Status status =
      Write(absl::StrCat(folder, "/banyan", words.empty() ? "" : "-", file), Answer(table, with({kManual, summary})));
  for (const absl::string_view line : absl::StrSplit(Answer(table, with({kDescribe})), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    if (!absl::StartsWith(line, "-")) status.Update(WriteBelow(table, with({parts.front()}), parts.back(), folder));
  }
  return status;
}

}  // namespace

std::vector<Command> WithManual(const std::string& description, std::vector<Command> commands) {
  const auto table = std::make_shared<CommandTable>("banyan", description, commands);
  const auto write = [table, description](absl::Span<const std::string> arguments, std::ostream& out,
                                          std::ostream& err) {
    std::string folder;
    CommandLine line("banyan man",
                     "Writes the manual pages: banyan(1), one of each command, and overlay.yaml(5). Packages install "
                     "them.",
                     "banyan man pages");
    line.Positional("DIRECTORY", "a folder that is there", &folder);
    if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
    absl::Status status = WriteBelow(*table, {}, std::string(absl::StripSuffix(description, ".")), folder);
    status.Update(Write(absl::StrCat(folder, "/overlay.yaml.5"), OverlayManual()));
    return status.ok() ? kExitSuccess : line.Failure(status, err);
  };
  commands.push_back(
      InGroup(commands.empty() ? "" : commands.back().group, {{"man", "writes the manual pages", write}})[0]);
  return commands;
}

}  // namespace banyan
