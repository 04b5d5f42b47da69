// Lists with an entry for each key that travel as runs: entries of consecutive keys that are equal otherwise share one,
// which says how many more keys it is for. A message then has the size of what differs, not of the model. Pure
// functions.
#ifndef BANYAN_PROTO_KEY_RUNS_H_
#define BANYAN_PROTO_KEY_RUNS_H_

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace banyan {

// Calls `write` with the first entry of each run and the number of entries that follow it in the run. The entries have
// a `key` and can be compared.
template <typename Entry, typename Write>
void WriteKeyRuns(const std::vector<Entry>& entries, Write write) {
  size_t first = 0;
  while (first < entries.size()) {
    size_t next = first + 1;
    Entry expected = entries[first];
    for (; next < entries.size(); ++next) {
      expected.key = expected.key.Next();
      if (!(entries[next] == expected)) break;
    }
    write(entries[first], static_cast<uint32_t>(next - first - 1));
    first = next;
  }
}

// Adds `entry` and the same for `more_keys` keys after its own. False, and nothing is added, when there would be more
// than `most` entries or a key beyond the last possible one.
template <typename Entry>
bool AddKeyRun(Entry entry, uint32_t more_keys, size_t most, std::vector<Entry>& entries) {
  const bool fits = entries.size() < most && more_keys < most - entries.size();
  if (!fits || entry.key.value() + more_keys < entry.key.value()) return false;
  for (uint64_t added = 0; added <= more_keys; ++added) {
    entries.push_back(entry);
    entry.key = entry.key.Next();
  }
  return true;
}

}  // namespace banyan

#endif  // BANYAN_PROTO_KEY_RUNS_H_
