// Which keys may come in, and as whom. Values; thread-compatible.
#ifndef BANYAN_PROTO_ACCESS_LIST_H_
#define BANYAN_PROTO_ACCESS_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "proto/fields.h"

namespace banyan {

// What the owner of a key may do: a node trains as itself; an operator reconfigures, removes and stops; an observer
// sees the status, as all others may.
enum class Role : uint8_t { kNode, kOperator, kObserver };

struct ListedKey {
  std::string public_key;  // Z85, 40 characters
  Role role = Role::kNode;
  std::string name;  // of the node, or of the person
  NodeId node;       // of a node only
  friend bool operator==(const ListedKey&, const ListedKey&) = default;
};

// To every node: the keys of all nodes, after it has joined and whenever they change. A node has several while its key
// is changed; the newest comes first.
struct AccessList {
  Term term;
  std::vector<ListedKey> keys;
  friend bool operator==(const AccessList&, const AccessList&) = default;
};

inline constexpr size_t kKeyCharacters = 40;

// Returns whether `text` has the form of a key: 40 characters of Z85 (rfc.zeromq.org/spec/32).
inline bool IsKeyText(absl::string_view text) {
  constexpr absl::string_view kOthers = ".-:+=^!/*?&<>()[]{}@%$#";
  return text.size() == kKeyCharacters && std::all_of(text.begin(), text.end(), [&](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kOthers.find(c) != absl::string_view::npos;
         });
}

template <typename Visitor>
void Fields(Visitor& v, ListedKey& m) {
  v(1, "public_key", m.public_key, kName);
  v(2, "role", m.role, UpTo{Role::kObserver});
  v(3, "name", m.name, kName);
  v(4, "node", m.node);
  v.Check([&m](FieldReader& fields) {
    fields.Expect(IsKeyText(m.public_key), "public_key", "40 characters of Z85", "another text");
  });
}

template <typename Visitor>
void Fields(Visitor& v, AccessList& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "keys", m.keys);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_ACCESS_LIST_H_
