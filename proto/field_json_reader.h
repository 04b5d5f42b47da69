// Descriptions (proto/fields.h) read from the JSON that proto/field_json.h writes. Members that it does not know are
// passed over; what is missing or null keeps the value that it has, unless all members are wanted.
#ifndef BANYAN_PROTO_FIELD_JSON_READER_H_
#define BANYAN_PROTO_FIELD_JSON_READER_H_

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/json_reader.h"
#include "proto/field_json.h"
#include "proto/field_wire.h"
#include "proto/fields.h"

namespace banyan {

// Sets the members of a message, and notes the first value that is of another kind. Lives on the stack.
class JsonFieldReader {
 public:
  static constexpr bool kReads = true;

  // `path` is that of the object, with a period at its end, or empty. The arguments outlive the reader.
  JsonFieldReader(const nlohmann::json& object, const std::string& path, bool wants_all, absl::Status& first_error)
      : object_(object), path_(path), wants_all_(wants_all), first_error_(first_error) {}

  template <typename Member, typename... Limits>
  void operator()(int, const char* name, Member& member, Limits...) {
    const auto found = object_.find(name);
    if (found == object_.end()) {
      if (wants_all_) Note(absl::StrCat("expected a member ", path_, name, ", got none"));
      return;
    }
    has_found_ = true;
    Take(*found, absl::StrCat(path_, name), member);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, UnlessDefault<Member> wrapped, Limits...) {
    (*this)(number, name, wrapped.member);
  }
  template <typename Function>
  void Check(Function) {}
  template <typename Member>
  void InOwner(Member& member) {
    if constexpr (!kIsOptional<Member>) {
      Fields(*this, member);
    } else {
      JsonFieldReader within(object_, path_, wants_all_, first_error_);
      Fields(within, member.emplace());
      if (!within.has_found_) member.reset();
      has_found_ = has_found_ || within.has_found_;
    }
  }

 private:
  template <typename Value>
  void Take(const nlohmann::json& json, const std::string& path, Value& value) {
    if (json.is_null() && (kIsOptional<Value> || !wants_all_)) return;
    if constexpr (std::is_same_v<Value, std::string>) {
      if (IsA(json.is_string(), "a string", json, path)) value = json.get<std::string>();
    } else if constexpr (std::is_same_v<Value, bool>) {
      if (IsA(json.is_boolean(), "true or false", json, path)) value = json.get<bool>();
    } else if constexpr (std::is_same_v<Value, double>) {
      if (IsA(json.is_number(), "a number", json, path)) value = json.get<double>();
    } else if constexpr (std::is_integral_v<Value>) {
      if (IsA(json.is_number_unsigned(), "a whole number from 0 on", json, path)) value = json.get<Value>();
    } else if constexpr (kIsId<Value>) {
      auto number = value.value();
      Take(json, path, number);
      value = Value(number);
    } else if constexpr (kIsOptional<Value>) {
      Take(json, path, value.emplace());
    } else if constexpr (kIsList<Value>) {
      TakeList(json, path, value);
    } else if constexpr (kIsTwo<Value>) {
      if (!IsA(json.is_array() && json.size() == 2, "an array of two", json, path)) return;
      Take(json[0], absl::StrCat(path, "[0]"), value.first);
      Take(json[1], absl::StrCat(path, "[1]"), value.second);
    } else if (IsA(json.is_object(), "an object", json, path)) {
      const std::string prefix = absl::StrCat(path, ".");
      JsonFieldReader within(json, prefix, wants_all_, first_error_);
      Fields(within, value);
    }
  }

  template <typename List>
  void TakeList(const nlohmann::json& json, const std::string& path, List& list) {
    list.clear();
    if constexpr (kIsNamed<typename List::value_type>) {
      if (!IsA(json.is_object(), "an object", json, path)) return;
      for (const auto& [name, value] : json.items()) {
        list.push_back({name, {}});
        Take(value, absl::StrCat(path, ".", name), list.back().value);
      }
    } else if (IsA(json.is_array(), "an array", json, path)) {
      for (const nlohmann::json& entry : json) {
        const size_t index = list.size();
        Take(entry, absl::StrCat(path, "[", index, "]"), list.emplace_back());
      }
    }
  }

  bool IsA(bool is_one, const char* expected, const nlohmann::json& json, const std::string& path) {
    if (!is_one && first_error_.ok()) {
      const std::string got = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      Note(absl::StrCat("expected ", expected, " as ", path, ", got ", absl::CHexEscape(got.substr(0, 40))));
    }
    return is_one;
  }
  void Note(const std::string& error) {
    if (first_error_.ok()) first_error_ = absl::InvalidArgumentError(error);
  }

  const nlohmann::json& object_;
  const std::string& path_;
  const bool wants_all_;
  absl::Status& first_error_;
  bool has_found_ = false;
};

// Reads a message from an object, and checks the limits that its description names, which are those of its bytes.
template <typename Struct>
absl::Status ReadJsonFields(const nlohmann::json& object, Struct& message, bool wants_all = false) {
  absl::Status error;
  const std::string no_path;
  JsonFieldReader reader(object, no_path, wants_all, error);
  Fields(reader, message);
  if (!error.ok()) return error;
  const std::string bytes = EncodeFields(message);
  const WireLimits limits;
  Struct checked;
  WireReader checking(bytes, FieldReader(limits, error));
  Fields(checking, checked);
  return error;
}

// Reads a message from an object with a member `known_by`. INVALID_ARGUMENT names `what` that it should be, and what is
// wrong.
template <typename Struct>
absl::StatusOr<Struct> ParseJsonFields(absl::string_view json, const char* what, const char* known_by,
                                       bool wants_all = false) {
  const absl::StatusOr<nlohmann::json> value = ParseJson(json);
  absl::Status error = value.status();
  Struct message;
  if (error.ok() && !(value->is_object() && value->contains(known_by))) {
    error = absl::InvalidArgumentError(absl::StrCat("expected an object with a member ", known_by, ", got another"));
  }
  if (error.ok()) error = ReadJsonFields(*value, message, wants_all);
  if (error.ok()) return message;
  return absl::InvalidArgumentError(absl::StrCat("expected ", what, " as JSON: ", error.message()));
}

}  // namespace banyan

#endif  // BANYAN_PROTO_FIELD_JSON_READER_H_
