#include "tests/tidy/form_check.h"

#include <cctype>
#include <cstddef>
#include <regex>

namespace banyan {
namespace {

std::string GuardOf(const SourceFile& file) {
  std::string guard = "BANYAN_";
  for (char c : file.path) {
    bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    guard += letter ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  }
  return guard + "_";
}

void CheckHeader(const SourceFile& file, const std::vector<std::string>& lines, std::vector<std::string>& findings) {
  if (lines.empty() || !lines[0].starts_with("// ")) {
    findings.push_back(Finding(file, 1, "must start with a comment: what the class is, thread-safety, who owns it"));
  }
  std::string guard = GuardOf(file);
  bool opens = file.text.find("#ifndef " + guard + "\n#define " + guard + "\n") != std::string::npos;
  bool closes = file.text.ends_with("#endif  // " + guard + "\n");
  if (!opens || !closes) findings.push_back(Finding(file, 1, "needs the header guard " + guard));
}

void CheckMarks(const SourceFile& file, const std::vector<std::string>& lines, std::vector<std::string>& findings) {
  static const std::regex kMarks(R"(\b(T[O]DO|F[I]XME|X[X]X)\b)");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_search(lines[i], kMarks)) continue;
    findings.push_back(Finding(file, static_cast<int>(i) + 1, "marks unfinished work: finish it or open an issue"));
  }
}

// The text of a line without what opens or continues a comment.
std::string WithoutCommentMark(const std::string& line) {
  const size_t start = line.find_first_not_of(" /#*");
  return start == std::string::npos ? "" : line.substr(start);
}

// A citation may begin at the end of one line and end on the next.
void CheckCitations(const SourceFile& file, const std::vector<std::string>& lines, std::vector<std::string>& findings) {
  static const std::regex kCitation(R"(\b([Tt]he d[e]sign\b|[Dd][e]sign,? section|d[e]sign\.md))");
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string next = i + 1 < lines.size() ? " " + WithoutCommentMark(lines[i + 1]) : "";
    const std::string text = lines[i] + next;
    std::smatch match;
    // The plain search first: it is far faster, and few lines have the word.
    if (text.find("esign") == std::string::npos || !std::regex_search(text, match, kCitation)) continue;
    if (static_cast<size_t>(match.position()) >= lines[i].size()) continue;
    findings.push_back(Finding(file, static_cast<int>(i) + 1,
                               "cites a document that is not in the repository: say the reason itself"));
  }
}

}  // namespace

std::vector<std::string> CheckForm(const SourceFile& file) {
  std::vector<std::string> findings;
  std::vector<std::string> lines = Lines(file.text);
  if (file.EndsWith(".h") || file.EndsWith(".cuh")) CheckHeader(file, lines, findings);
  CheckMarks(file, lines, findings);
  CheckCitations(file, lines, findings);
  return findings;
}

}  // namespace banyan
