// Cuts what there is to say of many keys into as many messages as its receiver takes: see WireLimits. Whoever sends a
// list that grows with the model does it with this. The description of an entry says how large it is. Pure functions.
#ifndef BANYAN_PROTO_MESSAGE_PARTS_H_
#define BANYAN_PROTO_MESSAGE_PARTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "proto/field_wire.h"
#include "proto/wire_limits.h"

namespace banyan {

// Room for the fields of a message beside its list.
inline constexpr size_t kMostFieldsBytes = 1024;

// Returns no fewer bytes than the entry takes on the wire, with its tag, its length and a number of keys that follow.
template <typename Entry>
size_t BytesOf(const Entry& entry) {
  constexpr size_t kAroundBytes = 16;
  return EncodeFields(entry).size() + kAroundBytes;
}

// Returns whether a receiver takes the message whole, whose lists are no longer than one may be.
template <typename Struct>
bool IsTakenWhole(const Struct& message) {
  return EncodeFields(message).size() + kMostFieldsBytes <= WireLimits().max_control_bytes;
}

// Returns for how many keys the entry stands.
template <typename Entry>
size_t KeysOf(const Entry& entry) {
  if constexpr (requires { entry.more_keys; }) return size_t{1} + entry.more_keys;
  return 1;
}

// Calls `send` with the entries, in order, in as few lists as it takes for each to fit into a message of
// `most_bytes`. An entry that fits into none is alone in its list.
template <typename Entry, typename Send>
void SendInParts(std::vector<Entry> entries, size_t most_bytes, Send send) {
  constexpr auto kMostKeys = static_cast<size_t>(WireLimits().max_entries);
  std::vector<Entry> part;
  size_t keys = 0;
  size_t bytes = kMostFieldsBytes;
  for (Entry& entry : entries) {
    keys += KeysOf(entry);
    bytes += BytesOf(entry);
    if ((keys > kMostKeys || bytes > most_bytes) && !part.empty()) {
      send(std::exchange(part, {}));
      keys = KeysOf(entry);
      bytes = kMostFieldsBytes + BytesOf(entry);
    }
    part.push_back(std::move(entry));
  }
  if (!part.empty()) send(std::move(part));
}
template <typename Entry, typename Send>
void SendInParts(std::vector<Entry> entries, Send send) {
  SendInParts(std::move(entries), WireLimits().max_control_bytes, send);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_MESSAGE_PARTS_H_
