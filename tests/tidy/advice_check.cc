#include "tests/tidy/advice_check.h"

#include <map>
#include <regex>
#include <set>

namespace banyan {
namespace {

using Names = std::set<std::string>;

// What command lines and the table of keys declare.
struct Declared {
  Names flags = {"help", "version"};
  Names shared = {"help", "version"};
  Names commands = {"help", "version"};   // "wan up" is one, and so is "wan"
  std::map<std::string, Names> flags_of;  // by command
  Names keys;
  Names sections;
};

// Flags of other programs that are named without them.
const Names kForeign = {
    "allow-run-as-root", "auto-compaction-retention", "bind-to", "device", "hostfile", "map-by", "mca"};
// Commands of the script ./banyan.
const Names kScript = {"build", "fuzz", "install", "package", "test", "try", "wheel"};
// What the script adds to those of the program: a command and its flag.
const std::map<std::string, Names> kScriptFlags = {{"demo", {"torch"}}};

bool DeclaresFlags(const SourceFile& file) {
  const std::string folder = file.Folder();
  return file.IsCode() && !IsTest(file.path) && (folder == "tools" || folder == "examples" || folder == "bench");
}

std::vector<std::smatch> AllMatches(const std::string& text, const std::regex& what) {
  return {std::sregex_iterator(text.begin(), text.end(), what), std::sregex_iterator()};
}

void AddCommand(const std::string& words, Declared& declared) {
  declared.commands.insert(words);
  declared.commands.insert(words.substr(0, words.find(' ')));
}

void ReadCommandLines(const SourceFile& file, Declared& declared) {
  static const std::regex kCommand(R"re("banyan ([a-z][a-z-]*( [a-z][a-z-]*)?)",)re");
  static const std::regex kRow(R"re(\{"([a-z][a-z-]*)", ")re");
  static const std::regex kFlag(
      R"re((?:Switch|Text|Choice|Integer|Number|Custom|Repeated|Time|Megabytes|Rate|Add[A-Z][A-Za-z]*)\(\s*"([a-z][a-z0-9-]*)")re");
  Names commands;
  for (const std::smatch& match : AllMatches(file.text, kCommand)) commands.insert(match[1]);
  for (const std::string& command : commands) AddCommand(command, declared);
  if (file.path == "tools/all_commands.cc") {
    for (const std::smatch& match : AllMatches(file.text, kRow)) AddCommand(match[1], declared);
  }
  for (const std::smatch& match : AllMatches(file.text, kFlag)) {
    declared.flags.insert(match[1]);
    // Several commands may have a file of flags in common.
    if (commands.empty()) declared.shared.insert(match[1]);
    for (const std::string& command : commands) {
      declared.flags_of[command].insert(match[1]);
      declared.flags_of[command.substr(0, command.find(' '))].insert(match[1]);
    }
  }
}

// Flags of programs in Python: they are of no command.
void ReadPrograms(const SourceFile& file, Declared& declared) {
  static const std::regex kFlag(R"re(add_argument\("--([a-z][a-z0-9-]*)")re");
  for (const std::smatch& match : AllMatches(file.text, kFlag)) declared.flags.insert(match[1]);
}

void AddScript(Declared& declared) {
  for (const auto& [command, flags] : kScriptFlags) {
    declared.flags.insert(flags.begin(), flags.end());
    declared.flags_of[command].insert(flags.begin(), flags.end());
  }
}

void ReadKeys(const SourceFile& page, Declared& declared) {
  static const std::regex kKey(R"(\n\| `([a-z_]+)\.([a-z_.]+)`)");
  for (const std::smatch& match : AllMatches(page.text, kKey)) {
    declared.sections.insert(match[1]);
    // A key with keys below it is one, too.
    const std::string key = match[1].str() + "." + match[2].str();
    for (size_t end = key.find('.', key.find('.') + 1);; end = key.find('.', end + 1)) {
      declared.keys.insert(key.substr(0, end));
      if (end == std::string::npos) break;
    }
  }
}

// Keeps the literals of code, or what a page shows as code; the rest becomes spaces.
std::string KeepTexts(const SourceFile& file) {
  static const std::regex kLiteral(R"("(\\.|[^"\\\n])*")");
  static const std::regex kShown(R"(`[^`\n]+`|\n    [^\n]+|\n\./[^\n]+)");
  std::string kept(file.text.size(), ' ');
  for (size_t at = 0; at < kept.size(); ++at) kept[at] = file.text[at] == '\n' ? '\n' : ' ';
  for (const std::smatch& match : AllMatches(file.text, file.IsCode() ? kLiteral : kShown)) {
    kept.replace(match.position(), match.length(), match.str());
  }
  return kept;
}

// The command that a line names before `at`; empty when it names none.
std::string CommandBefore(const std::string& line, size_t at, const Declared& declared) {
  static const std::regex kNamed(R"(banyan ([a-z][a-z-]*)( [a-z][a-z-]*)?)");
  std::string command;
  const std::string before = line.substr(0, at);
  for (const std::smatch& match : AllMatches(before, kNamed)) {
    const std::string both = match[1].str() + match[2].str();
    command = declared.commands.contains(both) ? both : match[1].str();
  }
  return command;
}

class LineCheck {
 public:
  LineCheck(const SourceFile& file, const Declared& declared, std::vector<std::string>& findings)
      : file_(file), declared_(declared), findings_(findings) {}

  void Check(int number, const std::string& line) {
    CheckFlags(number, line);
    CheckCommands(number, line);
    if (!line.empty() && line.find('.') != std::string::npos) CheckKeys(number, line);
  }

 private:
  void CheckFlags(int number, const std::string& line) {
    static const std::regex kFlag(R"((?:^|[\s"'`(\[])--([a-z][a-z0-9-]*))");
    static const std::regex kOther(
        R"(\b(git|bazel|bazel-bin|g\+\+|pkg-config|etcd|mpirun|systemctl|ip|apt-get|perf) )");
    if (std::regex_search(line, kOther)) return;
    for (const std::smatch& match : AllMatches(line, kFlag)) {
      const std::string flag = match[1];
      if (kForeign.contains(flag)) continue;
      const auto own = declared_.flags_of.find(CommandBefore(line, match.position(), declared_));
      const bool is_own =
          own == declared_.flags_of.end() || own->second.contains(flag) || declared_.shared.contains(flag);
      const bool is_known = declared_.flags.contains(flag) && is_own;
      if (is_known) continue;
      const std::string whose = own == declared_.flags_of.end() ? "no command" : "not banyan " + own->first;
      findings_.push_back(Finding(file_, number, "names the flag --" + flag + ", which " + whose + " declares"));
    }
  }

  void CheckCommands(int number, const std::string& line) {
    static const std::regex kCommand(R"((?:`|\./)banyan ([a-z][a-z-]*))");
    for (const std::smatch& match : AllMatches(line, kCommand)) {
      if (declared_.commands.contains(match[1]) || kScript.contains(match[1])) continue;
      findings_.push_back(Finding(file_, number, "names banyan " + match[1].str() + ", which is no command"));
    }
  }

  void CheckKeys(int number, const std::string& line) {
    static const std::regex kKey(R"((?:^|[\s"'`(])([a-z_]+)\.([a-z_]+(?:\.[a-z_]+)?)(?=[\s"'`,;:)]|$))");
    // Endings of files, and members of other things that are called like a section.
    static const Names kEndings = {"yaml", "md", "h", "cc", "proto", "py", "service", "conf", "json", "csv", "log"};
    for (const std::smatch& match : AllMatches(line, kKey)) {
      const std::string key = match[1].str() + "." + match[2].str();
      const bool is_key = declared_.sections.contains(match[1]) && !kEndings.contains(match[2]);
      if (!is_key || declared_.keys.contains(key)) continue;
      findings_.push_back(Finding(file_, number, "names " + key + ", which is no key of overlay.yaml"));
    }
  }

  const SourceFile& file_;
  const Declared& declared_;
  std::vector<std::string>& findings_;
};

bool IsPage(const SourceFile& file) { return file.EndsWith(".md"); }

}  // namespace

std::vector<std::string> CheckAdvice(const std::vector<SourceFile>& files) {
  Declared declared;
  AddScript(declared);
  for (const SourceFile& file : files) {
    if (DeclaresFlags(file)) ReadCommandLines(file, declared);
    if (file.EndsWith(".py") && !IsTest(file.path)) ReadPrograms(file, declared);
    if (file.path == "docs/configuration.md") ReadKeys(file, declared);
  }
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (!IsPage(file) && (!file.IsCode() || IsTest(file.path))) continue;
    LineCheck check(file, declared, findings);
    int number = 0;
    for (const std::string& line : Lines(KeepTexts(file))) check.Check(++number, line);
  }
  return findings;
}

}  // namespace banyan
