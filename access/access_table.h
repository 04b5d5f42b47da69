// The keys that may come in, and what their owners may say. Drivers ask before a message reaches a core. Pure.
// Thread-compatible.
//
// Invariants:
// - A node speaks as itself alone: its Join names it, and its PeerHello its id.
// - Only operators reconfigure, remove and stop. All who are listed may ask for the status, observers nothing else.
#ifndef BANYAN_ACCESS_ACCESS_TABLE_H_
#define BANYAN_ACCESS_ACCESS_TABLE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/access_list.h"
#include "proto/message.h"

namespace banyan {

class AccessTable {
 public:
  // Takes the place of all keys so far.
  void Replace(std::vector<ListedKey> keys);

  // Returns whose `public_key` is; null when it is not listed.
  const ListedKey* Find(absl::string_view public_key) const;
  // Returns the keys of the node called `name`, the newest first.
  std::vector<std::string> KeysOf(const std::string& name) const;

  // Checks that the owner of `public_key` may say this. PERMISSION_DENIED says who is refused and what is expected.
  absl::Status Check(absl::string_view public_key, const Message& message) const;

 private:
  std::vector<ListedKey> keys_;
  std::map<std::string, size_t, std::less<>> index_;  // of `keys_`, by key
};

// Returns "node 'n1'", "operator 'ada'".
std::string Describe(const ListedKey& key);

}  // namespace banyan

#endif  // BANYAN_ACCESS_ACCESS_TABLE_H_
