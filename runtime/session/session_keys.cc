#include "runtime/session/session_keys.h"

#include "absl/strings/str_cat.h"

namespace banyan {

absl::Status SessionKeys::Add(const std::string& name, int64_t elements, DataType type) {
  const auto [key, added] = named.try_emplace(name, elements, type);
  if (added) return absl::OkStatus();
  if (key->second.state() == SessionKey::State::kFailed) {
    const bool is_same = key->second.elements() == elements && key->second.type() == type;
    if (is_same && key->second.Retry()) return absl::OkStatus();
    named.erase(key);
    named.try_emplace(name, elements, type);
    return absl::OkStatus();
  }
  const std::string text = absl::StrCat("Init came before, with ", key->second.elements(), " elements");
  if (key->second.elements() != elements) {
    return absl::InvalidArgumentError(absl::StrCat(text, ", and now has ", elements));
  }
  if (key->second.type() == type) return absl::AlreadyExistsError(text);
  return absl::InvalidArgumentError(
      absl::StrCat("Init came before, of ", NameOf(key->second.type()), ", and now is of ", NameOf(type)));
}

}  // namespace banyan
