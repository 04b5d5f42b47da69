#include "topology/overlay/yaml_document.h"

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "topology/overlay/text/yaml_text.h"
#include "yaml-cpp/eventhandler.h"

namespace banyan {
namespace {

// yaml-cpp's marks count from 0.
FilePlace PlaceOf(const YAML::Mark& mark) {
  return mark.is_null() ? FilePlace() : FilePlace{mark.line + 1, mark.column + 1};
}

// What this file refuses. Thrown, for yaml-cpp calls us and has no other way out. Its column is of bytes.
struct Refused {
  Refused(const YAML::Mark& mark, std::string what) : fault{PlaceOf(mark), std::move(what)} {}
  YamlFault fault;
};

// Builds the tree from yaml-cpp's events. Throws what it refuses, for Parse to catch.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(CharacterColumns* columns, std::deque<YamlValue>* values) : columns_(columns), values_(values) {}

  const YamlValue* root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_ != nullptr) throw Refused(mark, "a second document starts here; keep one per file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAsKey(mark);
    YamlValue* value = Make(YamlValue::Kind::kNull, mark);
    // What is missing has the mark of whatever comes next.
    if (!open_.empty() && open_.back().key.has_value()) value->place = open_.back().key->place;
    Finish(value, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAsKey(mark);
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Refused(mark, "this alias leads to itself");
    Attach(found->second, mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    CheckTag(mark, tag);
    if (WantsKey()) return TakeKey(mark, text);
    YamlValue* value = Make(YamlValue::Kind::kScalar, mark);
    value->scalar = text;
    value->quoted = tag == "!";
    Finish(value, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlValue::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlValue::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A sequence or map that is not complete.
  struct OpenValue {
    YamlValue* value = nullptr;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    std::optional<YamlEntry> key;  // map: waits for its value
    std::set<std::string> keys;    // map: seen so far
  };

  static void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refused(mark, absl::StrCat("tags such as '", tag, "' are not used here; leave it out"));
  }

  bool WantsKey() const {
    return !open_.empty() && open_.back().value->kind == YamlValue::Kind::kMap && !open_.back().key.has_value();
  }

  void RefuseAsKey(const YAML::Mark& mark) const {
    if (WantsKey()) throw Refused(mark, "a key must be a plain word");
  }

  void TakeKey(const YAML::Mark& mark, const std::string& text) {
    if (text == "<<") throw Refused(mark, "merge keys ('<<') are not used here; write the keys out");
    if (absl::StartsWith(text, "-{") || absl::StartsWith(text, "-[")) {
      throw Refused(mark, "a list's '-' needs a space after it");
    }
    if (!open_.back().keys.insert(text).second) {
      throw Refused(mark, absl::StrCat("the key '", text, "' is given twice; keep one"));
    }
    open_.back().key = YamlEntry{text, Shown(mark), nullptr};
  }

  // Where a reader sees it.
  FilePlace Shown(const YAML::Mark& mark) const {
    const FilePlace place = PlaceOf(mark);
    return columns_->Of(place.line, place.column);
  }

  YamlValue* Make(YamlValue::Kind kind, const YAML::Mark& mark) {
    values_->emplace_back();
    values_->back().kind = kind;
    values_->back().place = Shown(mark);
    return &values_->back();
  }

  void Open(YamlValue::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    CheckTag(mark, tag);
    RefuseAsKey(mark);
    if (open_.size() >= kMaxYamlDepth) throw Refused(mark, "values are nested too deeply");
    open_.emplace_back();
    open_.back().value = Make(kind, mark);
    open_.back().anchor = anchor;
    open_.back().mark = mark;
  }

  void Close() {
    const OpenValue closed = std::move(open_.back());
    open_.pop_back();
    Finish(closed.value, closed.anchor);
  }

  void Finish(const YamlValue* value, YAML::anchor_t anchor) {
    if (anchor != 0) anchored_[anchor] = value;
    Attach(value, open_.empty() ? YAML::Mark() : open_.back().mark);
  }

  void Attach(const YamlValue* value, const YAML::Mark& mark) {
    if (open_.empty()) {
      root_ = value;
      return;
    }
    OpenValue& parent = open_.back();
    parent.value->values += value->values;
    if (parent.value->values > kMaxYamlValues) {
      throw Refused(mark, absl::StrCat("more than ", kMaxYamlValues, " values; are aliases nested?"));
    }
    if (parent.value->kind == YamlValue::Kind::kSequence) {
      parent.value->items.push_back(value);
      return;
    }
    parent.key->value = value;
    parent.value->entries.push_back(*std::move(parent.key));
    parent.key.reset();
  }

  CharacterColumns* columns_;
  std::deque<YamlValue>* values_;
  std::vector<OpenValue> open_;
  std::map<YAML::anchor_t, const YamlValue*> anchored_;  // complete values only
  const YamlValue* root_ = nullptr;
};

// Lets `builder` have the events of `text`, which comes from PlainYamlText. `suspect` tells more than a parser can.
absl::Status Build(const std::string& text, const std::optional<YamlFault>& suspect, absl::string_view file_name,
                   CharacterColumns& columns, TreeBuilder& builder) {
  const auto status_of = [&](const FilePlace& place, const std::string& what) {
    return ToStatus(suspect.value_or(YamlFault{columns.Of(place.line, place.column), what}), file_name);
  };
  try {
    std::istringstream stream{text};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return status_of(refused.fault.place, refused.fault.what);
  } catch (const YAML::Exception& error) {
    const FilePlace place = PlaceOf(error.mark);
    return status_of(place, YamlAdvice(text, place, error.msg));
  } catch (const std::exception& error) {
    return ToStatus({{}, absl::StrCat("not readable as YAML: ", error.what())}, file_name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<YamlDocument> YamlDocument::Parse(absl::string_view text, absl::string_view file_name) {
  const absl::StatusOr<std::string> plain = PlainYamlText(text, file_name);
  if (!plain.ok()) return plain.status();
  const YamlScanResult scan = ScanYaml(*plain);
  if (scan.wrong.has_value()) return ToStatus(*scan.wrong, file_name);
  YamlDocument document;
  CharacterColumns columns(*plain);
  TreeBuilder builder(&columns, &document.values_);
  if (absl::Status status = Build(*plain, scan.suspect, file_name, columns, builder); !status.ok()) return status;
  if (builder.root() == nullptr) {
    return ToStatus({{}, "the file is empty, or has nothing but comments"}, file_name);
  }
  document.root_ = builder.root();
  return document;
}

}  // namespace banyan
