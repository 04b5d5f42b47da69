#include "compression/compression_rules.h"

#include <cstring>

#include "absl/strings/match.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

// Where `part` begins in `text`, npos if nowhere. string_view::find would take the product of both lengths at worst.
size_t Find(absl::string_view text, absl::string_view part) {
  const void* found = memmem(text.data(), text.size(), part.data(), part.size());
  return found == nullptr ? absl::string_view::npos : static_cast<const char*>(found) - text.data();
}

}  // namespace

bool MatchesPattern(absl::string_view pattern, absl::string_view name) {
  const size_t first = pattern.find('*');
  if (first == absl::string_view::npos) return pattern == name;
  const size_t last = pattern.rfind('*');
  const absl::string_view head = pattern.substr(0, first);
  const absl::string_view tail = pattern.substr(last + 1);
  if (name.size() < head.size() + tail.size()) return false;
  if (!absl::StartsWith(name, head) || !absl::EndsWith(name, tail)) return false;
  absl::string_view rest = name.substr(head.size(), name.size() - head.size() - tail.size());
  // Taking the first place for each part leaves the most for those behind it.
  for (absl::string_view middle = pattern.substr(first, last - first); !middle.empty();) {
    middle.remove_prefix(1);
    const absl::string_view part = middle.substr(0, middle.find('*'));
    middle.remove_prefix(part.size());
    if (part.empty()) continue;
    const size_t at = Find(rest, part);
    if (at == absl::string_view::npos) return false;
    rest.remove_prefix(at + part.size());
  }
  return true;
}

const CompressionRule* RuleFor(const CompressionConfig& config, absl::string_view key_name, int64_t elements) {
  if (elements < config.least_elements) return nullptr;
  for (const CompressionRule& rule : config.rules) {
    if (MatchesPattern(rule.keys, key_name)) return rule.codec == CodecId::kFp32 ? nullptr : &rule;
  }
  return nullptr;
}

bool UsesErrorFeedback(const CompressionRule& rule) {
  const CodecTraits* codec = TraitsOf(rule.codec);
  return rule.error_feedback.value_or(codec != nullptr && (codec->is_biased || codec->is_trimmable));
}

double LightBelowOf(const CompressionRule& rule) {
  for (const ControllerNumber& number : rule.numbers) {
    if (number.name == kLightBelow) return number.value;
  }
  return 0;
}

CodecId LightCodecOf(const CompressionRule& rule) {
  return UsesErrorFeedback(rule) ? CodecId::kTrimSign : CodecId::kTrimSd;
}

}  // namespace banyan
