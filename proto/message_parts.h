// Cuts what there is to say of many keys into as many messages as its receiver takes: see WireLimits. Whoever sends a
// list that grows with the model does it with this. Pure functions.
#ifndef BANYAN_PROTO_MESSAGE_PARTS_H_
#define BANYAN_PROTO_MESSAGE_PARTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "proto/wire_limits.h"

namespace banyan {

// No entry of a list of numbers, which has at most eight, takes more bytes.
inline constexpr size_t kMostEntryBytes = 80;
// So many of them fit into any message, beside its other fields.
inline constexpr size_t kMostEntriesTogether = (WireLimits().max_control_bytes - 1024) / kMostEntryBytes;

// Returns no fewer bytes than the entry takes on the wire.
template <typename Entry>
size_t MostBytesOf(const Entry& entry) {
  constexpr size_t kBorderBytes = 10;
  size_t bytes = kMostEntryBytes;
  if constexpr (requires { entry.name.size(); }) bytes += entry.name.size();
  if constexpr (requires { entry.borders.size(); }) bytes += entry.borders.size() * kBorderBytes;
  if constexpr (requires { entry.layout.parts; }) {
    for (const auto& part : entry.layout.parts) bytes += kMostEntryBytes + part.name.size();
  }
  return bytes;
}

// Returns for how many keys the entry stands.
template <typename Entry>
size_t KeysOf(const Entry& entry) {
  if constexpr (requires { entry.more_keys; }) return size_t{1} + entry.more_keys;
  return 1;
}

// Calls `send` with the entries, in order, in as few lists as it takes for each to fit into a message. An entry that
// fits into none is alone in its list.
template <typename Entry, typename Send>
void SendInParts(std::vector<Entry> entries, Send send) {
  constexpr WireLimits kLimits;
  std::vector<Entry> part;
  size_t keys = 0;
  size_t bytes = 0;
  for (Entry& entry : entries) {
    keys += KeysOf(entry);
    bytes += MostBytesOf(entry);
    const bool fits =
        keys <= static_cast<size_t>(kLimits.max_entries) && bytes <= kMostEntriesTogether * kMostEntryBytes;
    if (!fits && !part.empty()) {
      send(std::exchange(part, {}));
      keys = KeysOf(entry);
      bytes = MostBytesOf(entry);
    }
    part.push_back(std::move(entry));
  }
  if (!part.empty()) send(std::move(part));
}

}  // namespace banyan

#endif  // BANYAN_PROTO_MESSAGE_PARTS_H_
