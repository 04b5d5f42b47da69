// Writes page_types.ts, from the descriptions of what the page is told: its types, and the names of what is counted.
#include <iostream>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/field_json.h"
#include "proto/status.h"
#include "tools/page/job_history.h"

namespace banyan {
namespace {

// Adds a line for each field.
class TypeWriter {
 public:
  static constexpr bool kReads = false;

  explicit TypeWriter(std::string indent, bool may_lack = false) : indent_(std::move(indent)), may_lack_(may_lack) {}

  const std::string& text() const { return text_; }

  template <typename Member, typename... Limits>
  void operator()(int, const char* name, Member& member, Limits...) {
    Add(name, may_lack_, member);
  }
  template <typename Member, typename... Limits>
  void operator()(int, const char* name, UnlessDefault<Member> wrapped, Limits...) {
    if constexpr (kIsOptional<Member>) {
      Add(name, true, wrapped.member.emplace());
    } else {
      Add(name, true, wrapped.member);
    }
  }
  template <typename Member>
  void InOwner(Member& member) {
    TypeWriter within(indent_, may_lack_ || kIsOptional<Member>);
    if constexpr (kIsOptional<Member>) {
      Fields(within, member.emplace());
    } else {
      Fields(within, member);
    }
    text_ += within.text();
  }

  template <typename Value>
  std::string TypeOf(Value& value) const {
    if constexpr (std::is_same_v<Value, std::string>) {
      return "string";
    } else if constexpr (std::is_same_v<Value, bool>) {
      return "boolean";
    } else if constexpr (std::is_arithmetic_v<Value>) {
      return "number";
    } else if constexpr (kIsOptional<Value>) {
      return absl::StrCat(TypeOf(value.emplace()), " | null");
    } else if constexpr (kIsTwo<Value>) {
      return absl::StrCat("[", TypeOf(value.first), ", ", TypeOf(value.second), "]");
    } else if constexpr (kIsList<Value>) {
      typename Value::value_type entry;
      if constexpr (kIsNamed<typename Value::value_type>) {
        return absl::StrCat("Record<string, ", TypeOf(entry.value), ">");
      } else {
        return absl::StrCat(TypeOf(entry), "[]");
      }
    } else {
      TypeWriter within(absl::StrCat(indent_, "  "));
      Fields(within, value);
      return absl::StrCat("{\n", within.text(), indent_, "}");
    }
  }

 private:
  template <typename Member>
  void Add(const char* name, bool may_lack, Member& member) {
    absl::StrAppend(&text_, indent_, name, may_lack ? "?: " : ": ", TypeOf(member), ";\n");
  }

  const std::string indent_;
  const bool may_lack_;
  std::string text_;
};

// Writes [member, what people call it] of each number that is a metric.
struct CounterWriter {
  static constexpr bool kReads = false;
  template <typename Member, typename... Limits>
  void operator()(int, const char* name, Member&, Metric metric, Limits...) {
    if constexpr (std::is_same_v<Member, bool>) return;
    const std::string words = absl::StrReplaceAll(metric.name == nullptr ? name : metric.name, {{"_", " "}});
    std::cout << "  [\"" << name << "\", \"" << words << "\"],\n";
  }
};

template <typename Counters>
void WriteCounters(const char* name) {
  Counters counters;
  std::cout << "export const " << name << " = [\n";
  CounterWriter writer;
  Fields(writer, counters);
  std::cout << "] as const;\n";
}

template <typename Struct>
void Write(const char* name) {
  Struct message;
  std::cout << "export type " << name << " = " << TypeWriter("").TypeOf(message) << ";\n";
}

}  // namespace
}  // namespace banyan

int main() {
  banyan::Write<banyan::JobStatus>("Status");
  banyan::Write<banyan::JobNews>("HistoryNews");
  banyan::WriteCounters<banyan::LinkCounters>("LINK_COUNTERS");
  banyan::WriteCounters<banyan::NodeCounters>("NODE_COUNTERS");
}
