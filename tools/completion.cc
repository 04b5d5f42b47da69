#include "tools/completion.h"

#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/command_line.h"

namespace banyan {
namespace {

constexpr char kBash[] = R"SHELL(# Completion of `banyan` for bash: eval "$(banyan completion bash)"
_banyan() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
  if ((${#COMPREPLY[@]} == 0)); then compopt -o default; fi
}
complete -F _banyan banyan
)SHELL";

constexpr char kZsh[] = R"SHELL(#compdef banyan
# Completion of `banyan` for zsh: source <(banyan completion zsh), or this as _banyan in a folder of fpath.
_banyan() {
  local -a found
  found=("${(@f)$("${words[1]}" complete "${(@)words[2,CURRENT]}" 2>/dev/null | sed 's/:/\\:/g; s/\t/:/')}")
  if [[ -n "$found" ]]; then _describe banyan found; else _files; fi
}
if [[ "$funcstack[1]" == _banyan ]]; then _banyan "$@"; else compdef _banyan banyan; fi
)SHELL";

constexpr char kFish[] = R"SHELL(# Completion of `banyan` for fish: banyan completion fish | source
complete -c banyan -a '(banyan complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
)SHELL";

int PrintScript(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::string shell;
  CommandLine line("banyan completion", "Prints what completes the commands and flags of banyan in a shell.",
                   "banyan completion bash > ~/.local/share/bash-completion/completions/banyan");
  line.Positional("SHELL", "bash, zsh or fish", &shell);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  for (const auto& [name, script] : {std::pair("bash", kBash), std::pair("zsh", kZsh), std::pair("fish", kFish)}) {
    if (shell != name) continue;
    out << script;
    return kExitSuccess;
  }
  return line.UsageError(absl::StrCat("SHELL: expected bash, zsh or fish, got '", shell, "'"), err);
}

// One line of what commands say of themselves.
struct Word {
  explicit Word(absl::string_view line) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits('\t', 2));
    text = parts[0];
    if (parts.size() < 3) return;
    value = parts[1];
    help = parts[2];
  }

  std::string text;
  std::string value;  // of a flag; choices have bars between them
  std::string help;
};

}  // namespace

std::string Complete(const CommandTable& commands, absl::Span<const std::string> words) {
  if (words.empty()) return "";
  std::vector<std::string> question(words.begin(), words.end() - 1);
  if (!question.empty() && question.front() == "help") question.erase(question.begin());
  const std::string before = question.empty() ? "" : question.back();
  question.emplace_back(kDescribe);
  std::ostringstream described, errors;
  if (commands.Run(question, described, errors) != kExitSuccess) return "";
  std::string found;
  const auto offer = [&](absl::string_view text, absl::string_view help) {
    if (absl::StartsWith(text, words.back())) absl::StrAppend(&found, text, "\t", help, "\n");
  };
  for (const absl::string_view line : absl::StrSplit(described.str(), '\n', absl::SkipEmpty())) {
    const Word word(line);
    if (word.text == before && !word.value.empty()) {
      if (!absl::StrContains(word.value, '|')) return "";
      found.clear();
      for (const absl::string_view choice : absl::StrSplit(word.value, '|')) offer(choice, word.help);
      return found;
    }
    const bool is_flag = absl::StartsWith(word.text, "-");
    if (!is_flag || absl::StartsWith(words.back(), "-")) offer(word.text, word.help);
  }
  return found;
}

std::vector<Command> WithCompletion(std::vector<Command> commands) {
  const auto table = std::make_shared<CommandTable>("banyan", "", commands);
  std::vector<Command> added =
      InGroup(commands.empty() ? "" : commands.back().group,
              {{"completion", "completes commands and flags in bash, zsh or fish", PrintScript},
               {"complete", "answers a shell that completes a line",
                [table](absl::Span<const std::string> words, std::ostream& out, std::ostream&) {
                  out << Complete(*table, words);
                  return kExitSuccess;
                },
                /*is_hidden=*/true}});
  for (Command& command : added) commands.push_back(std::move(command));
  return commands;
}

}  // namespace banyan
