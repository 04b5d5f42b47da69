// Takes typed values out of a YamlDocument. The first problem is kept and the rest of the reading does no harm. So a
// caller reads everything and asks once at the end. Thread-compatible; documents must outlive their readers.
#ifndef BANYAN_TOPOLOGY_OVERLAY_YAML_READER_H_
#define BANYAN_TOPOLOGY_OVERLAY_YAML_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "topology/overlay/yaml_document.h"

namespace banyan {

// Keeps the first problem of a document.
class YamlProblems {
 public:
  explicit YamlProblems(absl::string_view file_name) : file_name_(file_name) {}

  void Add(const FilePlace& place, absl::string_view what);
  // Adds "WHERE: expected WHAT, got VALUE".
  void Expected(const YamlValue& value, absl::string_view where, absl::string_view what);
  const absl::Status& status() const { return status_; }

 private:
  std::string file_name_;
  absl::Status status_;
};

// A value that is read: what messages call it, and who hears what is wrong with it.
struct YamlSpot {
  const YamlValue& value;
  const std::string& where;
  YamlProblems& problems;

  // Adds "WHERE: WHAT".
  void Refuse(absl::string_view what) const;
  void Expected(absl::string_view what) const { problems.Expected(value, where, what); }
};

// What a number counts. The file may write it with a unit of its own: 20ms, 1Gbit/s, 64MB, 64k.
enum class NumberUnit { kNone, kCount, kBytes, kPercent, kSeconds, kMilliseconds, kMegabits };

struct NumberRange {
  double low = 0;
  double high = 0;
  bool low_allowed = true;  // false: the value must be above `low`
  NumberUnit unit = NumberUnit::kNone;
  const char* word = nullptr;  // such as `auto`, in place of a number
};

// These functions read one value. When it is of another type or out of range they add a problem and return nothing.
// `where` names the value in messages.
std::optional<double> ReadNumber(const YamlValue& value, absl::string_view where, const NumberRange& range,
                                 YamlProblems& problems);
std::optional<bool> ReadBool(const YamlValue& value, absl::string_view where, YamlProblems& problems);
std::optional<std::string> ReadText(const YamlValue& value, absl::string_view where, YamlProblems& problems);
// A name of a node or job: 1 to 64 letters, digits, '-', '_' or '.'.
std::optional<std::string> ReadName(const YamlValue& value, absl::string_view where, YamlProblems& problems);
// One of `known`.
std::optional<std::string> ReadWord(const YamlValue& value, absl::string_view where,
                                    const std::vector<std::string>& known, YamlProblems& problems);
// Tells if `value` is this unquoted word, such as `auto` or `all`.
bool IsWord(const YamlValue& value, absl::string_view word);
// Returns whether `text` can name a node or a job, as kNameRule says.
bool IsName(absl::string_view text);
inline constexpr char kNameRule[] = "a name of 1 to 64 letters, digits, '-', '_' or '.', not with '-' or '.' first";
// Describes `value` in messages, shortened: "'x'", "a list", "a map", "nothing".
std::string Describe(const YamlValue& value);

// Reads a map key by key. Each key that is asked for is known; Finish refuses the others.
class YamlMapReader {
 public:
  // `where` names the map in messages: "topology", "nodes[2]"; empty for the whole file.
  YamlMapReader(const YamlValue& map, absl::string_view where, YamlProblems& problems);

  const FilePlace& place() const { return map_.place; }
  const std::string& where() const { return where_; }
  const std::vector<YamlEntry>& entries() const { return map_.entries; }
  // Returns where the value of `key` stands; where the map does when it is absent.
  const FilePlace& PlaceOf(absl::string_view key) const;
  bool Has(absl::string_view key) const;
  // Returns the value of `key`, or nullptr when the key is absent.
  const YamlValue* Find(absl::string_view key);
  // Likewise, and adds a problem when the key is absent: the key that it may have been misspelt as is named.
  const YamlValue* Require(absl::string_view key);
  // Returns the whole path of `key`: "topology.roots".
  std::string PathOf(absl::string_view key) const;

  // Refuses the keys of the map that nobody asked for.
  void Finish();

 private:
  // Returns the entry that looks like `key` misspelt, or nullptr.
  const YamlEntry* FindMisspelt(absl::string_view key) const;

  const YamlValue& map_;
  std::string where_;
  YamlProblems& problems_;
  std::vector<std::string> known_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_YAML_READER_H_
