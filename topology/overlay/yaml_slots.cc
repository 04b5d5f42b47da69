#include "topology/overlay/yaml_slots.h"

namespace banyan {
namespace {

// What `read` returns, such as a ReadBool; its texts are the caller's.
template <typename T, typename Read>
YamlSlot Scalar(T& out, const char* form, Read read) {
  YamlSlot slot = {.form = form};
  slot.read = [&out, read](const YamlSpot& at) {
    if (const auto found = read(at.value, at.where, at.problems); found.has_value()) out = *found;
  };
  return slot;
}

template <typename Read>
YamlSlot String(std::string& out, const char* form, Read read) {
  YamlSlot slot = Scalar(out, form, read);
  slot.text = [&out] { return out; };
  slot.yaml = [&out] { return out.empty() ? "" : QuotedText(out); };
  return slot;
}

}  // namespace

std::string ToFile(double value, NumberUnit unit) {
  if (unit == NumberUnit::kMegabits) return ExactText(value / kBitsPerMegabit);
  return ExactText(unit == NumberUnit::kPercent ? 100 * value : value);
}

std::string ToFile(absl::Duration value, NumberUnit unit) {
  return ExactText(unit == NumberUnit::kMilliseconds ? absl::ToDoubleMilliseconds(value)
                                                     : absl::ToDoubleSeconds(value));
}

YamlSlot Word(std::string& out, std::vector<std::string> words) {
  YamlSlot slot = String(out, "", [words](const YamlValue& value, absl::string_view where, YamlProblems& problems) {
    return ReadWord(value, where, words, problems);
  });
  slot.words = std::move(words);
  slot.yaml = slot.text;
  return slot;
}

YamlSlot Bool(bool& out) {
  YamlSlot slot = Scalar(out, "bool", ReadBool);
  slot.text = [&out] { return out ? "true" : "false"; };
  return slot;
}

YamlSlot Bool(std::optional<bool>& out) {
  YamlSlot slot = Scalar(out, "bool", ReadBool);
  slot.text = [&out] { return !out.has_value() ? "" : *out ? "true" : "false"; };
  return slot;
}

YamlSlot Name(std::string& out) { return String(out, "name", ReadName); }

YamlSlot Name(std::optional<std::string>& out) {
  YamlSlot slot = Scalar(out, "name", ReadName);
  slot.none = "(default)";
  slot.text = [&out] { return out.value_or(""); };
  slot.yaml = [&out] { return out.has_value() ? QuotedText(*out) : ""; };
  return slot;
}

YamlSlot Text(std::string& out, const char* form, absl::Status (*check)(absl::string_view)) {
  YamlSlot slot = String(out, form, ReadText);
  if (check == nullptr) return slot;
  return Then(std::move(slot), [&out, check](const YamlSpot& at) {
    if (const absl::Status status = check(out); !status.ok()) at.Refuse(status.message());
  });
}

YamlSlot Map(std::vector<YamlKey> keys, MapCheck check, UnusedText unused) {
  YamlSlot slot = {.form = "map", .keys = keys};
  slot.yaml = [keys] { return FileText(keys); };
  slot.read = [keys = std::move(keys), check = std::move(check), unused = std::move(unused)](const YamlSpot& at) {
    YamlMapReader map(at.value, at.where, at.problems);
    ReadKeys(map, keys, at.problems, unused);
    if (check != nullptr) check(map, at.problems);
    map.Finish();
  };
  return slot;
}

YamlSlot Required(YamlSlot slot) {
  slot.is_required = true;
  return slot;
}

YamlSlot First(std::function<void(const YamlSpot&)> check, YamlSlot slot) {
  slot.read = [check = std::move(check), read = std::move(slot.read)](const YamlSpot& at) {
    check(at);
    read(at);
  };
  return slot;
}

YamlSlot Then(YamlSlot slot, std::function<void(const YamlSpot&)> check) {
  slot.read = [check = std::move(check), read = std::move(slot.read)](const YamlSpot& at) {
    read(at);
    check(at);
  };
  return slot;
}

}  // namespace banyan
