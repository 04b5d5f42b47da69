// Descriptions (proto/fields.h) as JSON: an object has a member for each field, under its name, in order. An optional
// field that is empty is null, and UnlessDefault one that is left out. proto/field_json_reader.h reads it.
#ifndef BANYAN_PROTO_FIELD_JSON_H_
#define BANYAN_PROTO_FIELD_JSON_H_

#include <cstdint>
#include <string>
#include <type_traits>

#include "core/json_writer.h"
#include "proto/field_wire.h"
#include "proto/fields.h"

namespace banyan {

template <typename T>
inline constexpr bool kIsNamed = false;
template <typename Value>
inline constexpr bool kIsNamed<Named<Value>> = true;
template <typename T>
inline constexpr bool kIsTwo = false;
template <typename Value>
inline constexpr bool kIsTwo<Two<Value>> = true;

// Writes members of an object that has begun. Lives on the stack beside the writer.
class JsonFieldWriter {
 public:
  static constexpr bool kReads = false;

  explicit JsonFieldWriter(JsonWriter& json) : json_(json) {}

  template <typename Member, typename... Limits>
  void operator()(int, const char* name, Member& member, Limits...) {
    json_.Name(name);
    Put(member);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, UnlessDefault<Member> wrapped, Limits...) {
    if (!(wrapped.member == Member())) (*this)(number, name, wrapped.member);
  }
  template <typename Function>
  void Check(Function) {}
  template <typename Member>
  void InOwner(Member& member) {
    if constexpr (!kIsOptional<Member>) {
      Fields(*this, member);
    } else if (member.has_value()) {
      Fields(*this, *member);
    }
  }

 private:
  template <typename Value>
  void Put(Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) {
      json_.String(value);
    } else if constexpr (std::is_same_v<Value, bool>) {
      json_.Boolean(value);
    } else if constexpr (std::is_same_v<Value, double>) {
      json_.Number(value);
    } else if constexpr (std::is_integral_v<Value>) {
      json_.Integer(static_cast<uint64_t>(value));
    } else if constexpr (kIsId<Value>) {
      json_.Integer(value.value());
    } else if constexpr (kIsOptional<Value>) {
      if (!value.has_value()) {
        json_.Null();
      } else {
        Put(*value);
      }
    } else if constexpr (kIsList<Value>) {
      PutList(value);
    } else if constexpr (kIsTwo<Value>) {
      json_.BeginArray();
      Put(value.first);
      Put(value.second);
      json_.EndArray();
    } else {
      json_.BeginObject();
      Fields(*this, value);
      json_.EndObject();
    }
  }

  template <typename List>
  void PutList(List& list) {
    if constexpr (kIsNamed<typename List::value_type>) {
      json_.BeginObject();
      for (auto& entry : list) (*this)(0, entry.name.c_str(), entry.value);
      json_.EndObject();
    } else {
      json_.BeginArray();
      for (auto& entry : list) Put(entry);
      json_.EndArray();
    }
  }

  JsonWriter& json_;
};

// Returns a message as an object on one line. A writer changes nothing, though descriptions serve readers as well.
template <typename Struct>
std::string JsonOf(const Struct& message) {
  JsonWriter json;
  json.BeginObject();
  JsonFieldWriter writer(json);
  Fields(writer, const_cast<Struct&>(message));
  return json.EndObject().text();
}

}  // namespace banyan

#endif  // BANYAN_PROTO_FIELD_JSON_H_
