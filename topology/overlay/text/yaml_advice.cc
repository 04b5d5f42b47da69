#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "topology/overlay/text/yaml_text.h"

namespace banyan {
namespace {

struct Advice {
  const char* theirs;  // a part of yaml-cpp's message
  const char* ours;
};

constexpr char kIndentation[] =
    "this line fits none of those above; entries of one list or map begin in the same column, and a map's entry reads "
    "'key: value'";
constexpr char kComma[] = "a ',' is missing before here; entries within brackets have one between them";

constexpr Advice kAdvices[] = {
    {"end of map flow", kComma},
    {"end of sequence flow", kComma},
    {"end of map", kIndentation},
    {"end of sequence", kIndentation},
    {"illegal block entry", "a list's '-' cannot stand here; the '-' of one list begin in the same column"},
    {"illegal map", kIndentation},
    {"illegal flow end", "this bracket closes nothing; delete it"},
    {"unknown escape", "this \\ means nothing within double quotes; write \\\\, or use single quotes"},
    {"hex number", "expected hexadecimal digits after this \\x or \\u; within single quotes a \\ is only a \\"},
    {"invalid unicode", "no character has this number; write the character itself"},
    {"alias", "a word must not start with '*', which is for YAML's aliases; put quotes around it"},
    {"anchor", "a word must not start with '&' or '*', which are for YAML's anchors and aliases; put quotes around it"},
    {"multiple tags", "two tags of one value; leave both out"},
    {"tag", "a word must not start with '!', which is for YAML's tags; put quotes around it"},
    {"directive", "a line must not start with '%', which is for YAML's directives; delete it"},
    {"YAML version", "a line must not start with '%', which is for YAML's directives; delete it"},
    {"YAML major version", "a line must not start with '%', which is for YAML's directives; delete it"},
    {"document indicator", "a quote is not closed before this line"},
    {"EOF in scalar", "a quote is not closed"},
    {"illegal tab", "a tab indents this line; YAML wants spaces"},
    {"block scalar", "expected nothing but a line's end after | or >; put quotes around text that starts so"},
    {"single-quoted", "a quote is not closed"},
};

// "job:x": a key whose ':' has no space, where the line has no other. Addresses have "://".
std::optional<std::string> KeyWithoutSpace(absl::string_view line) {
  absl::string_view entry = absl::StripLeadingAsciiWhitespace(line);
  while (absl::ConsumePrefix(&entry, "- ")) entry = absl::StripLeadingAsciiWhitespace(entry);
  const size_t colon = entry.find(':');
  if (colon == absl::string_view::npos || colon == 0 || colon + 1 >= entry.size()) return std::nullopt;
  if (entry[colon + 1] == ' ' || absl::StartsWith(entry.substr(colon), "://")) return std::nullopt;
  const bool is_key = std::all_of(entry.begin(), entry.begin() + static_cast<std::ptrdiff_t>(colon),
                                  [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; });
  if (!is_key) return std::nullopt;
  return absl::StrCat("a ':' needs a space after it: '", entry.substr(0, colon + 1), " ", entry.substr(colon + 1, 20),
                      "'");
}

// "job = x".
bool IsAssignment(absl::string_view line) { return absl::StrContains(line, " = ") && !absl::StrContains(line, ": "); }

bool IsEmpty(absl::string_view line) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
  return text.empty() || text.front() == '#';
}

// Where a map goes wrong, the cause often is the line before.
std::optional<std::string> MapAdvice(const std::vector<absl::string_view>& lines, size_t index) {
  if (std::optional<std::string> advice = KeyWithoutSpace(lines[index]); advice.has_value()) return advice;
  size_t above = index;
  while (above > 0 && IsEmpty(lines[above - 1])) --above;
  if (above > 0) {
    if (std::optional<std::string> advice = KeyWithoutSpace(lines[above - 1]); advice.has_value()) return advice;
  }
  if (IsAssignment(lines[index]) || (above > 0 && IsAssignment(lines[above - 1]))) {
    return "a map's entry reads 'key: value', with a ':' and no '='";
  }
  // Maps and texts within the line may have more of them.
  const absl::string_view line = lines[index].substr(0, lines[index].find_first_of("[{\"'#"));
  if (absl::StrContains(line, ": (")) return "a list stands in [ ], a map in { }";
  const size_t first = line.find(": ");
  if (first != absl::string_view::npos && line.find(": ", first + 1) != absl::string_view::npos) {
    return "a second ':' in one line; put quotes around a text that has ': ' in it";
  }
  return std::nullopt;
}

}  // namespace

std::string YamlAdvice(absl::string_view text, FilePlace place, absl::string_view theirs) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  const size_t index = std::clamp<size_t>(static_cast<size_t>(std::max(place.line, 1)) - 1, 0, lines.size() - 1);
  const absl::string_view here = lines[index];
  if (absl::StrContains(theirs, "end of map not") || absl::StrContains(theirs, "end of sequence not") ||
      absl::StrContains(theirs, "illegal map")) {
    if (std::optional<std::string> advice = MapAdvice(lines, index); advice.has_value()) return *advice;
  }
  if (place.column >= 1 && absl::StartsWith(absl::ClippedSubstr(here, static_cast<size_t>(place.column) - 1), "//")) {
    return "a comment begins with '#'";
  }
  if (theirs == "unknown token" && place.column >= 1 && static_cast<size_t>(place.column) <= here.size()) {
    return absl::StrCat("a word must not start with '", here.substr(static_cast<size_t>(place.column) - 1, 1),
                        "'; put quotes around it");
  }
  for (const Advice& advice : kAdvices) {
    if (absl::StrContains(theirs, advice.theirs)) return advice.ours;
  }
  return "this cannot be read; look for a quote, a bracket or a ':' too many or too few in this line or the one above";
}

}  // namespace banyan
