#include "core/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace banyan {
namespace {

constexpr size_t kLongestQuote = 40;
constexpr double kBitsPerByte = 8;
constexpr double kDefaultRateBps = 1e6;
// Beyond it a double skips whole numbers.
constexpr double kMostExact = 9007199254740992;

struct TimeUnit {
  const char* name;
  double seconds;
};

constexpr TimeUnit kTimeUnits[] = {
    {"ns", 1e-9},  {"us", 1e-6},   {"\xc2\xb5s", 1e-6}, {"ms", 1e-3}, {"s", 1},       {"sec", 1},
    {"second", 1}, {"seconds", 1}, {"m", 60},           {"min", 60},  {"minute", 60}, {"minutes", 60},
    {"h", 3600},   {"hour", 3600}, {"hours", 3600},     {"d", 86400}, {"day", 86400}, {"days", 86400}};

size_t CountDigits(absl::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), absl::ascii_isdigit) - text.begin());
}

// How many characters at the front of `text` are a number: "1.5e6" of "1.5e6B". 0 for none.
size_t NumberLength(absl::string_view text) {
  size_t length = !text.empty() && (text.front() == '-' || text.front() == '+') ? 1 : 0;
  const size_t whole = CountDigits(text.substr(length));
  length += whole;
  size_t part = 0;
  if (length < text.size() && text[length] == '.') {
    part = CountDigits(text.substr(length + 1));
    length += 1 + part;
  }
  if (whole + part == 0) return 0;
  if (length + 1 >= text.size() || (text[length] != 'e' && text[length] != 'E')) return length;
  const size_t sign = text[length + 1] == '-' || text[length + 1] == '+' ? 1 : 0;
  const size_t exponent = CountDigits(text.substr(length + 1 + sign));
  return exponent == 0 ? length : length + 1 + sign + exponent;
}

// Takes a number off the front of `text`, with the blanks around it.
std::optional<double> TakeNumber(absl::string_view& text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t length = NumberLength(text);
  absl::string_view digits = text.substr(0, length);
  absl::ConsumePrefix(&digits, "+");
  double number = 0;
  if (length == 0 || !absl::SimpleAtod(digits, &number) || !std::isfinite(number)) return std::nullopt;
  text = absl::StripLeadingAsciiWhitespace(text.substr(length));
  return number;
}

// Takes a prefix such as M or Mi off the front of `unit`. Returns what it stands for; 1 without one.
double TakePrefix(absl::string_view& unit) {
  constexpr absl::string_view kPrefixes = "kmgt";
  if (unit.empty()) return 1;
  const size_t power = kPrefixes.find(absl::ascii_tolower(unit.front()));
  if (power == absl::string_view::npos) return 1;
  unit.remove_prefix(1);
  const bool is_binary = absl::ConsumePrefix(&unit, "i");
  return std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(power) + 1);
}

absl::Status Expected(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", what, ", got '", absl::Utf8SafeCHexEscape(text.substr(0, kLongestQuote)), "'",
      text.find_first_of(",_'") != absl::string_view::npos ? "; write numbers with '.' and without marks between digits"
                                                           : ""));
}

std::optional<double> SecondsOf(absl::string_view unit) {
  const auto* const found = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits),
                                         [unit](const TimeUnit& known) { return known.name == unit; });
  return found == std::end(kTimeUnits) ? std::nullopt : std::optional<double>(found->seconds);
}

bool IsBitsPerSecond(absl::string_view unit) {
  return unit.empty() || unit == "b" || unit == "b/s" || unit == "bps" || unit == "bit" || unit == "bit/s" ||
         unit == "bits/s";
}

}  // namespace

std::optional<double> ParseDecimal(absl::string_view text) {
  const std::optional<double> number = TakeNumber(text);
  return text.empty() ? number : std::nullopt;
}

absl::StatusOr<double> ParseBytes(absl::string_view text) {
  absl::string_view unit = text;
  const std::optional<double> number = TakeNumber(unit);
  const bool is_lower = unit == absl::AsciiStrToLower(unit);
  // A lone "m" is as often a minute or a thousandth.
  if (unit == "m" || unit == "g" || unit == "t") return Expected("a size such as 46MB, 64MiB, 1.5G or 1e6", text);
  const double prefix = TakePrefix(unit);
  if (number.has_value() && (unit.empty() || unit == "B" || (unit == "b" && is_lower && prefix > 1))) {
    return *number * prefix;
  }
  if (number.has_value() && IsBitsPerSecond(unit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a size in bytes, such as 46MB, got '", text.substr(0, kLongestQuote), "' in bits"));
  }
  return Expected("a size such as 46MB, 64MiB, 1.5G or 1e6", text);
}

absl::StatusOr<int64_t> ParseCount(absl::string_view text) {
  int64_t count = 0;
  if (absl::SimpleAtoi(text, &count)) return count;
  absl::string_view unit = text;
  const std::optional<double> number = TakeNumber(unit);
  // A lone "m" is as often a thousandth.
  const double product = unit == "m" ? 0 : number.value_or(0) * TakePrefix(unit);
  const bool is_whole = product == std::floor(product) && std::abs(product) <= kMostExact;
  if (number.has_value() && unit.empty() && is_whole) return static_cast<int64_t>(product);
  return Expected("a whole number such as 4, 64k or 1e6", text);
}

absl::StatusOr<absl::Duration> ParseTime(absl::string_view text, std::optional<absl::Duration> unit) {
  const absl::string_view what =
      unit.has_value() ? "a time such as 5s, 200ms or 1m30s" : "a time with its unit, such as 15s, 1m30s or 500ms";
  absl::string_view rest = text;
  double seconds = 0;
  for (bool is_first = true; is_first || !rest.empty(); is_first = false) {
    const std::optional<double> number = TakeNumber(rest);
    if (!number.has_value()) return Expected(what, text);
    if (is_first && rest.empty() && unit.has_value()) return *number * *unit;
    const size_t end = std::min(rest.find_first_of("0123456789. "), rest.size());
    const std::optional<double> unit_seconds = SecondsOf(rest.substr(0, end));
    if (!unit_seconds.has_value() || (*number < 0 && !is_first)) return Expected(what, text);
    seconds += *number * *unit_seconds;
    rest.remove_prefix(end);
  }
  return absl::Seconds(seconds);
}

absl::StatusOr<double> ParseBitsPerSecond(absl::string_view text) {
  absl::string_view unit = text;
  const std::optional<double> number = TakeNumber(unit);
  if (!number.has_value()) return Expected("a rate such as 100Mbit/s or 1Gbit/s", text);
  if (unit.empty()) return *number * kDefaultRateBps;
  const double prefix = TakePrefix(unit);
  if (IsBitsPerSecond(unit)) return *number * prefix;
  if (unit == "B/s" || unit == "Bps") return *number * prefix * kBitsPerByte;
  return Expected("a rate such as 100Mbit/s or 1Gbit/s", text);
}

}  // namespace banyan
