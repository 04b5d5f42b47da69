// What keys of a YAML map take: numbers, words, texts, maps and lists, each made of the place where its value lies.
// Free functions; thread-safe on distinct values.
#ifndef BANYAN_TOPOLOGY_OVERLAY_YAML_SLOTS_H_
#define BANYAN_TOPOLOGY_OVERLAY_YAML_SLOTS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/units.h"
#include "topology/overlay/yaml_keys.h"

namespace banyan {

using MapCheck = std::function<void(YamlMapReader&, YamlProblems&)>;

// ---- what numbers may be ----

constexpr NumberRange Numbers(double low, double high) { return {.low = low, .high = high}; }
constexpr NumberRange Above(double low, double high) { return {.low = low, .high = high, .low_allowed = false}; }
constexpr NumberRange Count(double low, double high, const char* word = nullptr) {
  return {.low = low, .high = high, .unit = NumberUnit::kCount, .word = word};
}
constexpr NumberRange Bytes(double low, double high, const char* word = nullptr) {
  return {.low = low, .high = high, .unit = NumberUnit::kBytes, .word = word};
}
constexpr NumberRange Seconds(double low, double high, const char* word = nullptr) {
  return {.low = low, .high = high, .unit = NumberUnit::kSeconds, .word = word};
}

// Between what a file has and the value that is kept of it: megabits and bits, percent and fractions, times.
template <typename T>
void FromFile(double number, NumberUnit unit, T& out);
template <std::integral T>
std::string ToFile(T value, NumberUnit /*unit*/) {
  return absl::StrCat(value);
}
std::string ToFile(double value, NumberUnit unit);
std::string ToFile(absl::Duration value, NumberUnit unit);

// ---- what keys take ----

// An integer, a double or a time; an optional one is empty for `range.word`.
template <typename T>
YamlSlot Number(T& out, const NumberRange& range);
// One of `words`, which stand for the enumeration's values or for false and true, in their order.
template <typename T>
YamlSlot Word(T& out, std::vector<std::string> words);
YamlSlot Word(std::string& out, std::vector<std::string> words);
YamlSlot Bool(bool& out);
YamlSlot Bool(std::optional<bool>& out);
YamlSlot Name(std::string& out);
YamlSlot Name(std::optional<std::string>& out);
// A text that `check` finds no fault with.
YamlSlot Text(std::string& out, const char* form = "text", absl::Status (*check)(absl::string_view) = nullptr);
// A map, which `check` looks at as a whole when its keys are read.
YamlSlot Map(std::vector<YamlKey> keys, MapCheck check = nullptr, UnusedText unused = nullptr);
// A list of `least` to `most` entries: "a list WHAT" in messages. An entry has the slot of `slot_of`.
template <typename T>
YamlSlot List(std::vector<T>& out, const char* what, std::function<YamlSlot(T&)> slot_of, size_t least = 0,
              size_t most = SIZE_MAX);
YamlSlot Required(YamlSlot slot);
// Also call `check`, before a value is read or after it.
YamlSlot First(std::function<void(const YamlSpot&)> check, YamlSlot slot);
YamlSlot Then(YamlSlot slot, std::function<void(const YamlSpot&)> check);

// ---- templates ----

template <typename T>
void FromFile(double number, NumberUnit unit, T& out) {
  if constexpr (std::is_same_v<T, absl::Duration>) {
    out = unit == NumberUnit::kMilliseconds ? absl::Milliseconds(number) : absl::Seconds(number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    const bool is_scaled = unit == NumberUnit::kMegabits || unit == NumberUnit::kPercent;
    out = static_cast<T>(!is_scaled ? number : unit == NumberUnit::kMegabits ? number * kBitsPerMegabit : number / 100);
  } else {
    FromFile(number, unit, out.emplace());
  }
}

template <typename T>
YamlSlot Number(T& out, const NumberRange& range) {
  YamlSlot slot = {.range = range};
  slot.read = [&out, range](const YamlSpot& at) {
    if (range.word != nullptr && IsWord(at.value, range.word)) return;
    const std::optional<double> number = ReadNumber(at.value, at.where, range, at.problems);
    if (number.has_value()) FromFile(*number, range.unit, out);
  };
  if constexpr (requires { out.has_value(); }) {
    slot.none = "(default)";
    slot.text = [&out, range] { return out.has_value() ? ToFile(*out, range.unit) : ""; };
  } else {
    slot.text = [&out, range] { return ToFile(out, range.unit); };
  }
  if constexpr (std::is_same_v<T, absl::Duration>) {
    slot.yaml = slot.text;
    slot.text = [&out] { return absl::FormatDuration(out); };
  }
  return slot;
}

template <typename T>
YamlSlot Word(T& out, std::vector<std::string> words) {
  YamlSlot slot = {.words = words};
  slot.read = [&out, words](const YamlSpot& at) {
    const std::optional<std::string> word = ReadWord(at.value, at.where, words, at.problems);
    for (size_t i = 0; i < words.size(); ++i) {
      if (word == words[i]) out = static_cast<T>(i);
    }
  };
  slot.text = [&out, words = std::move(words)] { return words[static_cast<size_t>(out)]; };
  return slot;
}

template <typename T>
YamlSlot List(std::vector<T>& out, const char* what, std::function<YamlSlot(T&)> slot_of, size_t least, size_t most) {
  YamlSlot slot = {.form = "list"};
  slot.read = [=, &out](const YamlSpot& at) {
    const std::vector<const YamlValue*>& items = at.value.items;
    const bool is_list = at.value.kind == YamlValue::Kind::kSequence;
    if (!is_list || items.size() < least || items.size() > most) return at.Expected(absl::StrCat("a list ", what));
    for (size_t i = 0; i < items.size() && at.problems.status().ok(); ++i) {
      T& entry = out.emplace_back();
      if constexpr (requires { entry.place; }) entry.place = items[i]->place;
      slot_of(entry).read({*items[i], absl::StrCat(at.where, "[", i, "]"), at.problems});
    }
  };
  slot.yaml = [=, &out] {
    std::string text;
    for (T& entry : out) absl::StrAppend(&text, text.empty() ? "[" : ", ", FileText(slot_of(entry)));
    return text.empty() ? text : text + "]";
  };
  return slot;
}

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_YAML_SLOTS_H_
