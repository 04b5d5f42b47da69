#include "tools/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/check.h"
#include "core/quantity.h"
#include "tools/terminal/help_text.h"
#include "tools/terminal/man_page.h"
#include "topology/overlay/did_you_mean.h"

namespace banyan {
namespace {

absl::Status Expected(absl::string_view what, absl::string_view value) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", what, ", got '", value, "'"));
}

std::function<std::string(const std::string& variable)>& Environment() {
  static auto& environment = *new std::function<std::string(const std::string& variable)>();
  return environment;
}

// What to do about an argument that begins with a dash that is no hyphen, as text programs make it.
std::string DashAdvice(absl::string_view argument) {
  for (const char* dash : {"\xe2\x80\x93", "\xe2\x80\x94", "\xe2\x88\x92"}) {
    if (absl::StartsWith(argument, dash)) return "; flags begin with two hyphens, --";
  }
  return "";
}

// Flags that are typed most have the same letter in all commands.
struct Letter {
  char letter;
  absl::string_view flag;
};
constexpr Letter kLetters[] = {{'j', "json"},    {'k', "key"},       {'l', "listen"},  {'n', "name"},
                               {'p', "planner"}, {'s', "scheduler"}, {'t', "timeout"}, {'w', "watch"}};

// The name of the flag that a letter stands for; empty for none.
absl::string_view FlagOfLetter(absl::string_view argument) {
  for (const Letter& each : kLetters) {
    if (argument.size() == 2 && argument[0] == '-' && argument[1] == each.letter) return each.flag;
  }
  return "";
}

// The flag as help has it: "-n, --name".
std::string Shown(absl::string_view flag) {
  for (const Letter& each : kLetters) {
    if (each.flag == flag) return absl::StrCat("-", absl::string_view(&each.letter, 1), ", --", flag);
  }
  return absl::StrCat("--", flag);
}

std::string VariableOf(absl::string_view flag) {
  return absl::StrCat("BANYAN_", absl::AsciiStrToUpper(absl::StrReplaceAll(flag, {{"-", "_"}})));
}

}  // namespace

CommandLine::CommandLine(std::string command, std::string description, std::string example)
    : command_(std::move(command)), description_(std::move(description)), example_(std::move(example)) {}

void CommandLine::Positional(const std::string& name, const std::string& help, std::string* target) {
  arguments_.push_back({name, help, target});
}

void CommandLine::OptionalPositional(const std::string& name, const std::string& help, std::string* target) {
  arguments_.push_back({name, help, target, /*required=*/false});
}

void CommandLine::Switch(const std::string& name, const std::string& help, bool* target) {
  Custom(name, "", help, [target](absl::string_view) {
    *target = true;
    return absl::OkStatus();
  });
}

void CommandLine::Text(const std::string& name, const std::string& value, const std::string& help,
                       std::string* target) {
  Custom(name, value, help, [name, value, target](absl::string_view text) {
    if (text.empty()) return Expected(absl::StrCat(value, ", or no --", name, " at all"), text);
    *target = std::string(text);
    return absl::OkStatus();
  });
}

void CommandLine::Text(const std::string& name, const std::string& value, const std::string& help,
                       std::optional<std::string>* target) {
  Custom(name, value, help, [target](absl::string_view text) {
    *target = std::string(text);
    return absl::OkStatus();
  });
}

void CommandLine::Choice(const std::string& name, const std::vector<std::string>& known, const std::string& help,
                         std::string* target) {
  Custom(name, absl::StrJoin(known, "|"), help, [known, target](absl::string_view text) {
    *target = std::string(text);
    if (std::find(known.begin(), known.end(), *target) != known.end()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("unknown value '", text, "'", DidYouMean(text, known)));
  });
}

void CommandLine::Integer(const std::string& name, const std::string& value, const std::string& help, int64_t low,
                          int64_t high, int64_t* target) {
  Custom(name, value, help, [low, high, target](absl::string_view text) {
    const absl::StatusOr<int64_t> number = ParseCount(text);
    if (!number.ok() || *number < low || *number > high) {
      return Expected(absl::StrCat("a whole number from ", low, " to ", high), text);
    }
    *target = *number;
    return absl::OkStatus();
  });
}

void CommandLine::Number(const std::string& name, const std::string& value, const std::string& help, double low,
                         double high, double* target) {
  Custom(name, value, help, [low, high, target](absl::string_view text) {
    const std::optional<double> number = ParseDecimal(text);
    if (!number.has_value() || *number < low || *number > high) {
      return Expected(absl::StrCat("a number from ", low, " to ", high), text);
    }
    *target = *number;
    return absl::OkStatus();
  });
}

void CommandLine::Time(const std::string& name, const std::string& value, const std::string& help, absl::Duration unit,
                       double low, double high, double* target) {
  Custom(name, value, help, [unit, low, high, target](absl::string_view text) {
    const absl::StatusOr<absl::Duration> time = ParseTime(text, absl::Seconds(1));
    if (!time.ok()) return time.status();
    const double number = absl::FDivDuration(*time, unit);
    if (!(number >= low && number <= high)) {
      return Expected(
          absl::StrCat("a time from ", absl::FormatDuration(low * unit), " to ", absl::FormatDuration(high * unit)),
          text);
    }
    *target = number;
    return absl::OkStatus();
  });
}

void CommandLine::Megabytes(const std::string& name, const std::string& help, double low, double high,
                            double* megabytes) {
  Custom(name, "BYTES", help, [low, high, megabytes](absl::string_view text) {
    const absl::StatusOr<double> bytes = ParseBytes(text);
    if (!bytes.ok()) return bytes.status();
    const double number = *bytes / 1e6;
    if (number < low || number > high) return Expected(absl::StrCat("a size from ", low, "MB to ", high, "MB"), text);
    *megabytes = number;
    return absl::OkStatus();
  });
}

void CommandLine::Rate(const std::string& name, const std::string& value, const std::string& help, double low,
                       double high, double* mbps) {
  Custom(name, value, help, [low, high, mbps](absl::string_view text) {
    const absl::StatusOr<double> bps = ParseBitsPerSecond(text);
    if (!bps.ok()) return bps.status();
    if (!(*bps / 1e6 >= low && *bps / 1e6 <= high)) {
      return Expected(absl::StrCat("a rate from ", low, " to ", high, " Mbit/s"), text);
    }
    *mbps = *bps / 1e6;
    return absl::OkStatus();
  });
}

void CommandLine::Program(const std::string& help, std::vector<std::string>* target) {
  program_help_ = help;
  program_ = target;
}

CommandLine::Flag& CommandLine::Declared(const std::string& name) {
  const auto flag = std::find_if(flags_.begin(), flags_.end(), [&name](const Flag& each) { return each.name == name; });
  BANYAN_CHECK(flag != flags_.end());
  return *flag;
}

void CommandLine::FormerName(const std::string& name, const std::string& former, const std::string& unit) {
  Declared(name).former = former;
  Declared(name).former_unit = unit;
}

void CommandLine::WithoutVariable(const std::string& name) { Declared(name).has_variable = false; }

void CommandLine::SetEnvironment(std::function<std::string(const std::string& variable)> read) {
  Environment() = std::move(read);
}

std::string CommandLine::Variable(const std::string& variable) { return Environment() ? Environment()(variable) : ""; }

void CommandLine::Needs(const std::string& name, const std::string& other) { rules_.push_back({name, other, true}); }

void CommandLine::Exclude(const std::string& name, const std::string& other) { rules_.push_back({name, other, false}); }

void CommandLine::Custom(const std::string& name, const std::string& value, const std::string& help, Reader reader) {
  flags_.push_back({name, value, help, std::move(reader)});
}

void CommandLine::Repeated(const std::string& name, const std::string& value, const std::string& help, Reader reader) {
  flags_.push_back({name, value, help, std::move(reader), /*repeats=*/true});
}

std::optional<int> CommandLine::Parse(absl::Span<const std::string> arguments, std::ostream& out,
                                      std::ostream& err) const {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == kManual) {
      out << Manual(arguments.back());
      return kExitSuccess;
    }
    if (argument == kDescribe) {
      out << Description();
      return kExitSuccess;
    }
    const bool asks_help = argument == "--help" || argument == "-h";
    if (!asks_help && argument != "--version") continue;
    out << (asks_help ? Help() : VersionText());
    return kExitSuccess;
  }
  const absl::Status status = ParseAll(arguments, err);
  if (!status.ok()) return UsageError(status.message(), err);
  return std::nullopt;
}

int CommandLine::UsageError(absl::string_view what, std::ostream& err) const {
  err << command_ << ": " << what << "\nTry '" << command_ << " --help'.\n";
  return kExitUsage;
}

int CommandLine::Failure(const absl::Status& status, std::ostream& err) const {
  err << command_ << ": " << status.message() << "\n";
  return kExitFailure;
}

int CommandLine::SchedulerFailure(const absl::Status& status, std::ostream& err) const {
  const int code = Failure(status, err);
  return absl::IsUnavailable(status) ? kExitNoAnswer : code;
}

const CommandLine::Flag* CommandLine::FindFlag(absl::string_view name) const {
  const auto found = std::find_if(flags_.begin(), flags_.end(), [name](const Flag& flag) {
    return flag.name == name || (!flag.former.empty() && flag.former == name);
  });
  return found == flags_.end() ? nullptr : &*found;
}

absl::Status CommandLine::ParseFlag(absl::Span<const std::string> arguments, size_t* next,
                                    std::vector<std::string>& seen, std::ostream& err) const {
  const absl::string_view argument = arguments[(*next)++];
  const size_t equals = argument.find('=');
  absl::string_view name = FlagOfLetter(argument);
  if (name.empty()) name = argument.substr(2, equals == absl::string_view::npos ? equals : equals - 2);
  const std::string shown = absl::StrCat("--", name);
  const Flag* flag = FindFlag(name);
  if (flag == nullptr) {
    std::vector<std::string> known = {"--help", "--version"};
    for (const Flag& candidate : flags_) known.push_back(absl::StrCat("--", candidate.name));
    return absl::InvalidArgumentError(absl::StrCat("unknown flag ", shown, DidYouMean(shown, known)));
  }
  if (!flag->repeats && std::find(seen.begin(), seen.end(), flag->name) != seen.end()) {
    return absl::InvalidArgumentError(absl::StrCat(shown, " is given twice"));
  }
  if (flag->name != name) err << command_ << ": " << shown << " is now --" << flag->name << "\n";
  seen.push_back(flag->name);
  absl::string_view value;
  if (equals != absl::string_view::npos) {
    if (flag->value.empty()) return absl::InvalidArgumentError(absl::StrCat(shown, " takes no value"));
    value = argument.substr(equals + 1);
  } else if (!flag->value.empty()) {
    if (*next == arguments.size()) {
      return absl::InvalidArgumentError(absl::StrCat(shown, " needs a value: ", flag->value));
    }
    value = arguments[(*next)++];
  }
  const bool has_former_unit = flag->name != name && !flag->former_unit.empty() && ParseDecimal(value).has_value();
  const absl::Status status = flag->reader(has_former_unit ? absl::StrCat(value, flag->former_unit) : value);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(shown, ": ", status.message()));
}

absl::Status CommandLine::ParseVariables(std::vector<std::string>& seen) const {
  const std::vector<std::string> given = seen;
  const auto is_given = [&given](const std::string& name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  for (const Flag& flag : flags_) {
    const std::string variable = VariableOf(flag.name);
    const std::string value = is_given(flag.name) || !flag.has_variable ? "" : Variable(variable);
    const bool is_ruled_out = std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
      return (rule.name == flag.name && is_given(rule.other) != rule.needs) ||
             (!rule.needs && rule.other == flag.name && is_given(rule.name));
    });
    if (value.empty() || is_ruled_out) continue;
    bool is_on = true;
    absl::Status status = absl::OkStatus();
    if (flag.value.empty() && !absl::SimpleAtob(value == "on" ? "1" : value == "off" ? "0" : value, &is_on)) {
      status = Expected("1 or 0", value);
    } else if (is_on) {
      status = flag.reader(value);
    }
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(variable, ": ", status.message()));
    if (!is_on) continue;
    seen.push_back(flag.name);
  }
  return absl::OkStatus();
}

absl::Status CommandLine::CheckRules(const std::vector<std::string>& seen) const {
  const auto shown = [this](const std::string& name) {
    return absl::StrCat(FindFlag(name) == nullptr ? "" : "--", name);
  };
  const auto has = [&seen](const std::string& name) { return std::find(seen.begin(), seen.end(), name) != seen.end(); };
  for (const Rule& rule : rules_) {
    if (!has(rule.name) || has(rule.other) == rule.needs) continue;
    return absl::InvalidArgumentError(
        rule.needs
            ? absl::StrCat("--", rule.name, " requires ", shown(rule.other), "; add it, or leave --", rule.name, " out")
            : absl::StrCat("--", rule.name, " and --", rule.other, " exclude each other"));
  }
  return absl::OkStatus();
}

absl::Status CommandLine::ParseAll(absl::Span<const std::string> arguments, std::ostream& err) const {
  std::vector<std::string> seen;
  std::vector<std::string> positionals;
  bool flags_end = false;
  for (size_t next = 0; next < arguments.size();) {
    if (flags_end || !absl::StartsWith(arguments[next], "-") || arguments[next] == "-") {
      positionals.push_back(arguments[next++]);
    } else if (arguments[next] == "--" && program_ != nullptr) {
      program_->assign(arguments.begin() + static_cast<ptrdiff_t>(next) + 1, arguments.end());
      break;
    } else if (arguments[next] == "--") {
      flags_end = true;
      ++next;
    } else if (!absl::StartsWith(arguments[next], "--") && FindFlag(FlagOfLetter(arguments[next])) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("unknown flag ", arguments[next], "; flags start with --"));
    } else if (absl::Status status = ParseFlag(arguments, &next, seen, err); !status.ok()) {
      return status;
    }
  }
  if (positionals.size() > arguments_.size()) {
    const std::string& odd = positionals[arguments_.size()];
    return absl::InvalidArgumentError(absl::StrCat("unexpected argument '", odd, "'", DashAdvice(odd)));
  }
  if (positionals.size() < arguments_.size() && arguments_[positionals.size()].required) {
    return absl::InvalidArgumentError(absl::StrCat("missing argument ", arguments_[positionals.size()].name));
  }
  if (program_ != nullptr && program_->empty()) {
    return absl::InvalidArgumentError("expected -- and a program at the end");
  }
  for (size_t i = 0; i < positionals.size(); ++i) {
    *arguments_[i].target = positionals[i];
    seen.push_back(arguments_[i].name);
  }
  if (absl::Status status = ParseVariables(seen); !status.ok()) return status;
  return CheckRules(seen);
}

std::string CommandLine::Description() const {
  std::string lines;
  for (const Flag& flag : flags_) {
    const std::string help = absl::StrReplaceAll(flag.help, {{"\n", " "}});
    absl::StrAppend(&lines, "--", flag.name, "\t", flag.value, "\t", help, "\n");
  }
  return absl::StrCat(lines, "--help\t\tthe arguments\n");
}

std::vector<std::string> CommandLine::Usage() const {
  std::vector<std::string> usage = absl::StrSplit(command_, ' ');
  for (const Argument& argument : arguments_) {
    usage.push_back(argument.required ? argument.name : absl::StrCat("[", argument.name, "]"));
  }
  for (const Flag& flag : flags_) {
    usage.push_back(
        absl::StrCat("[--", flag.name, flag.value.empty() ? "" : " ", flag.value, "]", flag.repeats ? "..." : ""));
  }
  if (program_ != nullptr) usage.emplace_back("-- PROGRAM [ARGUMENT]...");
  return usage;
}

std::vector<std::pair<std::string, std::string>> CommandLine::Rows() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Argument& argument : arguments_) rows.emplace_back(argument.name, argument.help);
  for (const Flag& flag : flags_) {
    rows.emplace_back(absl::StrCat(Shown(flag.name), flag.value.empty() ? "" : " ", flag.value), flag.help);
  }
  if (program_ != nullptr) rows.emplace_back("-- PROGRAM", program_help_);
  rows.emplace_back("-h, --help, --version", "this text; which version this is");
  return rows;
}

std::string CommandLine::Help() const {
  constexpr absl::string_view kUsage = "usage: ";
  constexpr absl::string_view kExample = "example: ";
  return absl::StrCat(kUsage, Wrap(Usage(), kUsage.size(), kUsage.size()), "\n\n", Wrap(description_, 0, 0), "\n\n",
                      HelpTable(Rows()), "\n", kExample, WrapExample(example_, kExample.size()), "\n");
}

std::string CommandLine::Manual(absl::string_view summary) const {
  ManPage page(absl::StrReplaceAll(command_, {{" ", "-"}}), 1, summary);
  page.Section("SYNOPSIS").Text(absl::StrJoin(Usage(), " "));
  page.Section("DESCRIPTION").Text(description_);
  page.Section("OPTIONS");
  for (const auto& [name, what] : Rows()) page.Row(name, what);
  page.Section("ENVIRONMENT").Text(kVariablesText);
  page.Section("EXIT STATUS").Text(kExitCodes);
  page.Section("EXAMPLE").Verbatim(example_);
  page.Section("SEE ALSO").Text("banyan(1), overlay.yaml(5)");
  return page.text();
}

bool MayColor(const std::ostream& out) {
  return &out == &std::cout && isatty(STDOUT_FILENO) != 0 && CommandLine::Variable("NO_COLOR").empty() &&
         CommandLine::Variable("TERM") != "dumb";
}

}  // namespace banyan
