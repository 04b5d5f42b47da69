#include "topology/overlay/yaml_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "topology/overlay/did_you_mean.h"

namespace banyan {
namespace {

constexpr size_t kLongestQuote = 40;
constexpr size_t kLongestName = 64;

std::string Quote(absl::string_view text) {
  const absl::string_view shown = text.substr(0, kLongestQuote);
  return absl::StrCat("'", absl::Utf8SafeCHexEscape(shown), shown.size() < text.size() ? "..." : "", "'");
}

std::string Bounds(const NumberRange& range) {
  const absl::string_view low = range.low_allowed ? "of at least " : "above ";
  if (std::isinf(range.high)) return absl::StrCat(low, range.low);
  return absl::StrCat(low, range.low, " and at most ", range.high);
}

bool IsPlainScalar(const YamlValue& value) { return value.kind == YamlValue::Kind::kScalar && !value.quoted; }

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.'; }

void Expected(const YamlValue& value, absl::string_view where, absl::string_view what, YamlProblems& problems) {
  problems.Add(value.line, absl::StrCat(where, ": expected ", what, ", got ", Describe(value)));
}

}  // namespace

void YamlProblems::Add(int line, absl::string_view what) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(file_name_, ":", line, ": ", what));
}

std::string Describe(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::kNull:
      return "nothing";
    case YamlValue::Kind::kSequence:
      return "a list";
    case YamlValue::Kind::kMap:
      return "a map";
    case YamlValue::Kind::kScalar:
      break;
  }
  return absl::StrCat(value.quoted ? "the quoted text " : "", Quote(value.scalar));
}

std::optional<double> ReadNumber(const YamlValue& value, absl::string_view where, const NumberRange& range,
                                 YamlProblems& problems) {
  double number = 0;
  const bool parsed = IsPlainScalar(value) && absl::SimpleAtod(value.scalar, &number) && std::isfinite(number);
  const bool inside = number <= range.high && (range.low_allowed ? number >= range.low : number > range.low);
  if (parsed && inside) return number;
  Expected(value, where, absl::StrCat("a number ", Bounds(range)), problems);
  return std::nullopt;
}

std::optional<int64_t> ReadInteger(const YamlValue& value, absl::string_view where, int64_t low, int64_t high,
                                   YamlProblems& problems) {
  int64_t number = 0;
  if (IsPlainScalar(value) && absl::SimpleAtoi(value.scalar, &number) && number >= low && number <= high) {
    return number;
  }
  Expected(value, where, absl::StrCat("a whole number of at least ", low, " and at most ", high), problems);
  return std::nullopt;
}

std::optional<bool> ReadBool(const YamlValue& value, absl::string_view where, YamlProblems& problems) {
  if (IsWord(value, "true")) return true;
  if (IsWord(value, "false")) return false;
  Expected(value, where, "true or false", problems);
  return std::nullopt;
}

std::optional<std::string> ReadText(const YamlValue& value, absl::string_view where, YamlProblems& problems) {
  if (value.kind == YamlValue::Kind::kScalar && !value.scalar.empty()) return value.scalar;
  Expected(value, where, "text", problems);
  return std::nullopt;
}

std::optional<std::string> ReadName(const YamlValue& value, absl::string_view where, YamlProblems& problems) {
  const bool is_name = value.kind == YamlValue::Kind::kScalar && !value.scalar.empty() &&
                       value.scalar.size() <= kLongestName &&
                       std::all_of(value.scalar.begin(), value.scalar.end(), IsNameCharacter);
  if (is_name) return value.scalar;
  Expected(value, where, absl::StrCat("a name of 1 to ", kLongestName, " letters, digits, '-', '_' or '.'"), problems);
  return std::nullopt;
}

std::optional<std::string> ReadWord(const YamlValue& value, absl::string_view where,
                                    const std::vector<std::string>& known, YamlProblems& problems) {
  if (value.kind == YamlValue::Kind::kScalar) {
    if (std::find(known.begin(), known.end(), value.scalar) != known.end()) return value.scalar;
    problems.Add(value.line, absl::StrCat(where, ": unknown value ", Describe(value), DidYouMean(value.scalar, known)));
    return std::nullopt;
  }
  Expected(value, where, absl::StrCat("one of ", absl::StrJoin(known, ", ")), problems);
  return std::nullopt;
}

bool IsWord(const YamlValue& value, absl::string_view word) { return IsPlainScalar(value) && value.scalar == word; }

YamlMapReader::YamlMapReader(const YamlValue& map, absl::string_view where, YamlProblems& problems)
    : map_(map), where_(where), problems_(problems) {
  if (map.kind == YamlValue::Kind::kMap) return;
  Expected(map, where_.empty() ? "the file" : where_, "a map of keys and values", problems_);
}

std::string YamlMapReader::PathOf(absl::string_view key) const {
  return where_.empty() ? std::string(key) : absl::StrCat(where_, ".", key);
}

const YamlValue* YamlMapReader::Find(absl::string_view key) {
  known_.emplace_back(key);
  if (problems_.notes_keys()) problems_.NoteKey(PathOf(key));
  for (const YamlEntry& entry : map_.entries) {
    if (entry.key == key) return entry.value;
  }
  return nullptr;
}

const YamlValue* YamlMapReader::Require(absl::string_view key) {
  const YamlValue* value = Find(key);
  if (value == nullptr) problems_.Add(map_.line, absl::StrCat(PathOf(key), " is missing"));
  return value;
}

void YamlMapReader::Number(absl::string_view key, const NumberRange& range, double& out) {
  const YamlValue* value = Find(key);
  if (value != nullptr) out = ReadNumber(*value, PathOf(key), range, problems_).value_or(out);
}

void YamlMapReader::Integer(absl::string_view key, int64_t low, int64_t high, int64_t& out) {
  const YamlValue* value = Find(key);
  if (value != nullptr) out = ReadInteger(*value, PathOf(key), low, high, problems_).value_or(out);
}

void YamlMapReader::Integer(absl::string_view key, int64_t low, int64_t high, int& out) {
  int64_t wide = out;
  Integer(key, low, std::min<int64_t>(high, std::numeric_limits<int>::max()), wide);
  out = static_cast<int>(wide);
}

void YamlMapReader::Bool(absl::string_view key, bool& out) {
  const YamlValue* value = Find(key);
  if (value != nullptr) out = ReadBool(*value, PathOf(key), problems_).value_or(out);
}

void YamlMapReader::IntegerOr(absl::string_view key, absl::string_view word, int64_t low, int64_t high,
                              std::optional<int64_t>& out) {
  const YamlValue* value = Find(key);
  if (value == nullptr || IsWord(*value, word)) return;
  int64_t number = 0;
  if (IsPlainScalar(*value) && absl::SimpleAtoi(value->scalar, &number) && number >= low && number <= high) {
    out = number;
    return;
  }
  Expected(*value, PathOf(key), absl::StrCat(word, " or a whole number of at least ", low, " and at most ", high),
           problems_);
}

void YamlMapReader::IntegerOr(absl::string_view key, absl::string_view word, int64_t low, int64_t high,
                              std::optional<int>& out) {
  std::optional<int64_t> wide;
  IntegerOr(key, word, low, std::min<int64_t>(high, std::numeric_limits<int>::max()), wide);
  if (wide.has_value()) out = static_cast<int>(*wide);
}

void YamlMapReader::Finish() {
  for (const YamlEntry& entry : map_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string where = where_.empty() ? "" : absl::StrCat(where_, ": ");
    problems_.Add(entry.line, absl::StrCat(where, "unknown key ", Quote(entry.key), DidYouMean(entry.key, known_)));
    return;
  }
}

}  // namespace banyan
