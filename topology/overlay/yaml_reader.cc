#include "topology/overlay/yaml_reader.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/quantity.h"
#include "core/units.h"
#include "topology/overlay/did_you_mean.h"
#include "topology/overlay/text/yaml_text.h"

namespace banyan {
namespace {

constexpr size_t kLongestQuote = 40;
constexpr size_t kLongestName = 64;

std::string Quote(absl::string_view text) {
  const absl::string_view shown = text.substr(0, kLongestQuote);
  return absl::StrCat("'", absl::CHexEscape(shown), shown.size() < text.size() ? "..." : "", "'");
}

bool IsPlainScalar(const YamlValue& value) { return value.kind == YamlValue::Kind::kScalar && !value.quoted; }

// "010": ten for some, eight for others.
bool HasLeadingZero(absl::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && absl::ascii_isdigit(text[1]);
}

// "0x10", "0o10" or "0b10".
bool HasOtherBase(absl::string_view text) {
  return text.size() > 2 && text[0] == '0' && absl::ascii_isalpha(text[1]) &&
         absl::StrContains("xob", absl::string_view(absl::AsciiStrToLower(text.substr(1, 1)))) &&
         absl::ascii_isalnum(text[2]);
}

// Reads a number that is written with or without a unit.
std::optional<double> ParseNumber(absl::string_view text, NumberUnit unit) {
  const auto if_ok = [](const absl::StatusOr<double>& number) {
    return number.ok() ? std::optional<double>(*number) : std::nullopt;
  };
  if (HasLeadingZero(text)) return std::nullopt;
  if (unit == NumberUnit::kCount) return if_ok(ParseCount(text));
  if (unit == NumberUnit::kBytes) {
    const std::optional<double> bytes = if_ok(ParseBytes(text));
    return bytes.has_value() && *bytes == std::floor(*bytes) ? bytes : std::nullopt;
  }
  if (const std::optional<double> number = ParseDecimal(text); number.has_value()) return number;
  if (unit == NumberUnit::kNone || unit == NumberUnit::kPercent) return std::nullopt;
  if (unit == NumberUnit::kMegabits) {
    const std::optional<double> bps = if_ok(ParseBitsPerSecond(text));
    return bps.has_value() ? std::optional(*bps / kBitsPerMegabit) : std::nullopt;
  }
  const absl::Duration one = unit == NumberUnit::kSeconds ? absl::Seconds(1) : absl::Milliseconds(1);
  const absl::StatusOr<absl::Duration> time = ParseTime(text, one);
  return time.ok() ? std::optional(absl::FDivDuration(*time, one)) : std::nullopt;
}

std::string Form(const NumberRange& range) {
  const std::string word = range.word == nullptr ? "" : absl::StrCat(range.word, " or ");
  const bool is_bytes = range.unit == NumberUnit::kBytes;
  if (is_bytes || range.unit == NumberUnit::kCount) {
    return absl::StrCat(word, "a whole number ", is_bytes ? "of bytes " : "", "of at least ",
                        static_cast<int64_t>(range.low), " and at most ", static_cast<int64_t>(range.high),
                        is_bytes ? ", or a size such as 64MB" : "");
  }
  const char* const unit = range.unit == NumberUnit::kSeconds        ? " in seconds, or a time such as 200ms"
                           : range.unit == NumberUnit::kMilliseconds ? " in milliseconds, or a time such as 0.2s"
                           : range.unit == NumberUnit::kMegabits     ? " in Mbit/s, or a rate such as 1Gbit/s"
                                                                     : "";
  return absl::StrCat(word, "a number ", range.low_allowed ? "of at least " : "above ", range.low, " and at most ",
                      range.high, unit);
}

// Why a text is no map: what its writer may have left out.
std::string MapHint(const YamlValue& value) {
  if (value.kind != YamlValue::Kind::kScalar || value.quoted) return "";
  const size_t colon = value.scalar.find(':');
  if (colon != std::string::npos) return "; a ':' needs a space after it";
  return value.scalar.find('=') != std::string::npos ? "; write 'key: value'" : "";
}

// What is odd about a text that should be a number.
std::string NumberHint(const YamlValue& value) {
  if (value.kind != YamlValue::Kind::kScalar) return "";
  if (value.quoted) return "; leave the quotes out";
  if (HasLeadingZero(value.scalar)) return "; leave the zero in front out";
  if (HasOtherBase(value.scalar)) return "; write it in decimal digits";
  if (absl::EndsWith(value.scalar, "%")) return "; leave the % out";
  return value.scalar.find_first_of(",_'") == std::string::npos
             ? ""
             : "; write numbers with '.' and without marks between digits";
}

const YamlValue* ValueOf(const YamlValue& map, absl::string_view key) {
  for (const YamlEntry& entry : map.entries) {
    if (entry.key == key) return entry.value;
  }
  return nullptr;
}

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.'; }

}  // namespace

void YamlProblems::Add(const FilePlace& place, absl::string_view what) {
  if (status_.ok()) status_ = ToStatus({place, std::string(what)}, file_name_);
}

void YamlProblems::Expected(const YamlValue& value, absl::string_view where, absl::string_view what) {
  Add(value.place, absl::StrCat(where, ": expected ", what, ", got ", Describe(value)));
}

void YamlSpot::Refuse(absl::string_view what) const { problems.Add(value.place, absl::StrCat(where, ": ", what)); }

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
  const std::optional<double> number = IsPlainScalar(value) ? ParseNumber(value.scalar, range.unit) : std::nullopt;
  const bool inside =
      number.has_value() && *number <= range.high && (range.low_allowed ? *number >= range.low : *number > range.low);
  if (inside) return number;
  problems.Add(value.place,
               absl::StrCat(where, ": expected ", Form(range), ", got ", Describe(value), NumberHint(value)));
  return std::nullopt;
}

std::optional<bool> ReadBool(const YamlValue& value, absl::string_view where, YamlProblems& problems) {
  if (IsWord(value, "true")) return true;
  if (IsWord(value, "false")) return false;
  problems.Expected(value, where, "true or false");
  return std::nullopt;
}

std::optional<std::string> ReadText(const YamlValue& value, absl::string_view where, YamlProblems& problems) {
  if (value.kind == YamlValue::Kind::kScalar && !value.scalar.empty()) return value.scalar;
  problems.Expected(value, where, "text");
  return std::nullopt;
}

std::optional<std::string> ReadName(const YamlValue& value, absl::string_view where, YamlProblems& problems) {
  if (value.kind == YamlValue::Kind::kScalar && IsName(value.scalar)) return value.scalar;
  problems.Expected(value, where, kNameRule);
  return std::nullopt;
}

std::optional<std::string> ReadWord(const YamlValue& value, absl::string_view where,
                                    const std::vector<std::string>& known, YamlProblems& problems) {
  if (value.kind == YamlValue::Kind::kScalar) {
    if (std::find(known.begin(), known.end(), value.scalar) != known.end()) return value.scalar;
    problems.Add(value.place,
                 absl::StrCat(where, ": unknown value ", Describe(value), DidYouMean(value.scalar, known)));
    return std::nullopt;
  }
  problems.Expected(value, where, absl::StrCat("one of ", absl::StrJoin(known, ", ")));
  return std::nullopt;
}

bool IsName(absl::string_view text) {
  // A name is part of paths and stands on command lines, where these would be something else.
  if (text.empty() || text[0] == '.' || text[0] == '-') return false;
  return text.size() <= kLongestName && std::all_of(text.begin(), text.end(), IsNameCharacter);
}

bool IsWord(const YamlValue& value, absl::string_view word) { return IsPlainScalar(value) && value.scalar == word; }

YamlMapReader::YamlMapReader(const YamlValue& map, absl::string_view where, YamlProblems& problems)
    : map_(map), where_(where), problems_(problems) {
  if (map.kind == YamlValue::Kind::kMap) return;
  problems_.Add(map.place, absl::StrCat(where_.empty() ? "the file" : where_,
                                        ": expected a map of keys and values, got ", Describe(map), MapHint(map)));
}

const FilePlace& YamlMapReader::PlaceOf(absl::string_view key) const {
  const YamlValue* value = ValueOf(map_, key);
  return value == nullptr ? map_.place : value->place;
}

bool YamlMapReader::Has(absl::string_view key) const { return ValueOf(map_, key) != nullptr; }

std::string YamlMapReader::PathOf(absl::string_view key) const {
  return where_.empty() ? std::string(key) : absl::StrCat(where_, ".", key);
}

const YamlValue* YamlMapReader::Find(absl::string_view key) {
  known_.emplace_back(key);
  return ValueOf(map_, key);
}

const YamlValue* YamlMapReader::Require(absl::string_view key) {
  const YamlValue* value = Find(key);
  if (value != nullptr) return value;
  if (const YamlEntry* entry = FindMisspelt(key); entry != nullptr) {
    const bool lacks_space = entry->value->kind == YamlValue::Kind::kNull && absl::StrContains(entry->key, ':');
    problems_.Add(
        entry->place,
        absl::StrCat(PathOf(key), " is missing, and the key ", Quote(entry->key), " is unknown; ",
                     lacks_space ? "a ':' needs a space after it" : absl::StrCat("did you mean '", key, "'?")));
    return nullptr;
  }
  problems_.Add(map_.place, absl::StrCat(PathOf(key), " is missing"));
  return nullptr;
}

const YamlEntry* YamlMapReader::FindMisspelt(absl::string_view key) const {
  for (const YamlEntry& entry : map_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    if (absl::StartsWith(entry.key, absl::StrCat(key, ":")) || IsClose(entry.key, key)) return &entry;
  }
  return nullptr;
}

void YamlMapReader::Finish() {
  for (const YamlEntry& entry : map_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string where = where_.empty() ? "" : absl::StrCat(where_, ": ");
    const bool lacks_space = entry.value->kind == YamlValue::Kind::kNull && absl::StrContains(entry.key, ':');
    problems_.Add(entry.place,
                  absl::StrCat(where, "unknown key ", Quote(entry.key),
                               lacks_space ? "; a ':' needs a space after it" : DidYouMean(entry.key, known_)));
    return;
  }
}

}  // namespace banyan
