// What a YAML map may say, as a table of its keys. A row is a key's name, what it takes and where its value lies, what
// becomes of another value while a job runs, and what it means. Reading, writing, reports of differences and documents
// follow from the rows. Rows refer to the values that they stand for, which outlive them. Free functions; thread-safe
// on distinct values and problems.
#ifndef BANYAN_TOPOLOGY_OVERLAY_YAML_KEYS_H_
#define BANYAN_TOPOLOGY_OVERLAY_YAML_KEYS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

struct YamlKey;

// What a key takes, and where its value lies. The functions of yaml_slots.h make it.
struct YamlSlot {
  const char* form = "";                // of other values than numbers and words
  NumberRange range = {};               // of a number
  std::vector<std::string> words = {};  // one of these
  std::vector<YamlKey> keys = {};       // of a map
  std::function<void(const YamlSpot&)> read = nullptr;
  std::function<std::string()> text = nullptr;  // the value in reports; empty where there is none
  std::function<std::string()> yaml = nullptr;  // the value in a file, if that is another; empty where it says nothing
  const char* none = "(none)";                  // what reports say of an empty text
  bool is_required = false;
};

// What becomes of another value while a job runs.
enum class KeyChange : uint8_t {
  kFixed,     // refused: nodes or results rest on it, so that the job's records have it
  kRefused,   // a reconfiguration refuses it
  kLive,      // a reconfiguration takes it
  kLiveOnly,  // likewise; the job's records have it, and another start of the scheduler refuses it
};

struct YamlKey {
  std::string name;
  YamlSlot slot;
  KeyChange change = KeyChange::kFixed;
  const char* meaning = "";
  // Words of the map's first key, without one of which this key has no use; empty: it always has.
  const char* only = "";
};

std::vector<std::string> WordsOf(absl::string_view only);

// Says of a key that has no use why, to follow its path and a colon.
using UnusedText = std::function<std::string(const YamlKey&)>;

// ---- what follows ----

// Reads those of `keys` that are in `map`.
void ReadKeys(YamlMapReader& map, const std::vector<YamlKey>& keys, YamlProblems& problems,
              const UnusedText& unused = nullptr);

// Returns the rows that have a value for reports, also of maps within, under their whole paths.
std::vector<YamlKey> LeafKeys(const std::vector<YamlKey>& keys);
// Returns the value as reports have it; never empty.
std::string ReportText(const YamlSlot& slot);
// Returns the value as a file has it; empty where it says nothing.
std::string FileText(const YamlSlot& slot);
std::string FileText(const std::vector<YamlKey>& keys);  // {key: value, ..}
std::string QuotedText(absl::string_view text);
// As many digits as tell it from all other numbers.
std::string ExactText(double value);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_YAML_KEYS_H_
