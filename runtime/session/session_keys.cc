#include "runtime/session/session_keys.h"

#include "absl/strings/str_cat.h"

namespace banyan {

absl::Status SessionKeys::Add(const std::string& name, int64_t elements) {
  const auto [key, added] = named.try_emplace(name, elements);
  if (added) return absl::OkStatus();
  const std::string text = absl::StrCat("Init came before, with ", key->second.elements(), " elements");
  if (key->second.elements() == elements) return absl::AlreadyExistsError(text);
  return absl::InvalidArgumentError(absl::StrCat(text, ", and now has ", elements));
}

}  // namespace banyan
