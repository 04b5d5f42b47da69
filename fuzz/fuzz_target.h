// The parsers that see foreign bytes: from peers, workers, files and users. Each is a target of the fuzzer, which
// looks for bytes that crash it or break what it promises. Pure functions.
#ifndef BANYAN_FUZZ_FUZZ_TARGET_H_
#define BANYAN_FUZZ_FUZZ_TARGET_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace banyan {

struct FuzzTarget {
  std::string name;
  // Gives a parser `bytes`, and returns whether it took them. Ends the process where what it returns is not what it
  // promises: a message comes back as it was sent, for instance.
  bool (*run)(absl::string_view bytes);
  // What a parser takes, to begin with.
  std::vector<std::string> (*seeds)();
};

// Returns all of them, each with a name of its own.
const std::vector<FuzzTarget>& FuzzTargets();

// Returns the target of a name, or null.
const FuzzTarget* FindFuzzTarget(absl::string_view name);

// The targets of messages between daemons, and between a node and its workers.
std::vector<FuzzTarget> MessageTargets();
// The targets of what chunks carry.
std::vector<FuzzTarget> ChunkTargets();
// The targets of what the scheduler keeps.
std::vector<FuzzTarget> RecordTargets();
// The targets of what users write, and of texts between commands.
std::vector<FuzzTarget> TextTargets();

}  // namespace banyan

#endif  // BANYAN_FUZZ_FUZZ_TARGET_H_
