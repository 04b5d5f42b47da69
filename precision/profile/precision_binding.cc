#include "precision/profile/precision_binding.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/json_writer.h"
#include "proto/precision/key_routes.h"
#include "topology/overlay/yaml_document.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 40;

constexpr std::pair<TensorRole, const char*> kRoles[] = {
    {TensorRole::kBackbone, "backbone"},   {TensorRole::kEncoder, "encoder"}, {TensorRole::kOther, "other"},
    {TensorRole::kEmbedding, "embedding"}, {TensorRole::kNorm, "norm"},       {TensorRole::kBias, "bias"},
    {TensorRole::kHead, "head"},
};

TensorRole ReadRole(YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* value = map.Require("role");
  if (value == nullptr) return TensorRole::kOther;
  std::vector<std::string> names;
  for (const auto& [unused, name] : kRoles) names.emplace_back(name);
  const std::optional<std::string> word = ReadWord(*value, map.PathOf("role"), names, problems);
  for (const auto& [role, name] : kRoles) {
    if (word == name) return role;
  }
  return TensorRole::kOther;
}

// Reads role, route, family and reason. A sensitive role that may go low-bit is a mistake here already.
SliceBinding ReadSlice(YamlMapReader& map, YamlProblems& problems) {
  SliceBinding slice;
  slice.role = ReadRole(map, problems);
  if (const YamlValue* value = map.Require("route"); value != nullptr) {
    slice.is_candidate = ReadWord(*value, map.PathOf("route"), {"low-bit", "fp32"}, problems) == "low-bit";
  }
  if (const YamlValue* value = map.Find("family"); value != nullptr) {
    const std::optional<std::string> word = ReadWord(*value, map.PathOf("family"), {"binary", "ternary"}, problems);
    if (word.has_value()) slice.family = *word == "binary" ? LowBitFamily::kBinary : LowBitFamily::kTernary;
  }
  ReadTextOf(map, "reason", true, slice.reason, problems);
  if (slice.is_candidate && IsSensitive(slice.role)) {
    problems.Add(
        map.PlaceOf("route"),
        absl::StrFormat("%s: the role %s is sensitive and stays fp32; write fp32, or another role if it has one",
                        map.PathOf("route"), RoleName(slice.role)));
  }
  return slice;
}

void ReadSlices(const YamlValue& list, const std::string& where, TensorBinding& tensor, YamlProblems& problems) {
  if (list.kind != YamlValue::Kind::kSequence) {
    problems.Add(list.place, absl::StrCat(where, ": expected a list of slices, got ", Describe(list)));
    return;
  }
  int64_t end = 0;
  for (size_t i = 0; i < list.items.size(); ++i) {
    YamlMapReader map(*list.items[i], absl::StrCat(where, "[", i, "]"), problems);
    int64_t first = 0;
    int64_t elements = 0;
    map.Require("first");
    map.Require("elements");
    map.Integer("first", 0, kMostElements, first);
    map.Integer("elements", 1, kMostElements, elements);
    SliceBinding slice = ReadSlice(map, problems);
    map.Finish();
    slice.first = first;
    slice.elements = elements;
    if (first < end || first + elements > tensor.elements) {
      problems.Add(map.place(), absl::StrFormat("%s[%d]: expected elements from %d on, of the %d that the tensor has, "
                                                "got %d to %d; slices ascend and do not overlap",
                                                where, i, end, tensor.elements, first, first + elements - 1));
    }
    end = first + elements;
    tensor.slices.push_back(std::move(slice));
  }
}

TensorBinding ReadTensor(const YamlValue& value, const std::string& where, YamlProblems& problems) {
  TensorBinding tensor;
  YamlMapReader map(value, where, problems);
  ReadTextOf(map, "name", true, tensor.name, problems);
  map.Require("elements");
  map.Integer("elements", 1, kMostElements, tensor.elements);
  if (const YamlValue* slices = map.Find("slices"); slices != nullptr) {
    ReadSlices(*slices, map.PathOf("slices"), tensor, problems);
  } else {
    SliceBinding whole = ReadSlice(map, problems);
    whole.elements = tensor.elements;
    tensor.slices.push_back(std::move(whole));
  }
  map.Finish();
  const size_t slices = PrecisionBinding("", {}, {tensor}).SlicesOf(tensor.name, tensor.elements).size();
  if (slices > KeyRoutes::kMostSlices) {
    problems.Add(map.place(), absl::StrFormat("%s: expected at most %d slices of a tensor, what they leave out among "
                                              "them, got %d; make several tensors of it",
                                              where, KeyRoutes::kMostSlices, slices));
  }
  return tensor;
}

std::vector<TensorBinding> ReadTensors(YamlMapReader& file, YamlProblems& problems) {
  std::vector<TensorBinding> tensors;
  std::set<std::string> names;
  const YamlValue* list = file.Require("tensors");
  if (list == nullptr) return tensors;
  if (list->kind != YamlValue::Kind::kSequence) {
    problems.Add(list->place, absl::StrCat("tensors: expected a list of tensors, got ", Describe(*list)));
    return tensors;
  }
  for (size_t i = 0; i < list->items.size(); ++i) {
    const std::string where = absl::StrCat("tensors[", i, "]");
    TensorBinding tensor = ReadTensor(*list->items[i], where, problems);
    if (!names.insert(tensor.name).second) {
      problems.Add(list->items[i]->place,
                   absl::StrCat(where, ": tensor '", tensor.name, "' is bound twice; remove one"));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// JSON's strings are YAML's too.
std::string Quoted(absl::string_view text) { return JsonWriter().String(std::string(text)).text(); }

std::string SliceYaml(const SliceBinding& slice) {
  std::string text = absl::StrCat("role: ", RoleName(slice.role), ", route: ", slice.is_candidate ? "low-bit" : "fp32");
  if (slice.family.has_value()) absl::StrAppend(&text, ", family: ", FamilyName(*slice.family));
  return absl::StrCat(text, ", reason: ", Quoted(slice.reason));
}

}  // namespace

bool IsSensitive(TensorRole role) { return role >= TensorRole::kEmbedding; }

absl::string_view RoleName(TensorRole role) {
  for (const auto& [known, name] : kRoles) {
    if (known == role) return name;
  }
  return "other";
}

absl::string_view FamilyName(LowBitFamily family) { return family == LowBitFamily::kBinary ? "binary" : "ternary"; }

PrecisionBinding::PrecisionBinding(std::string name, Provenance provenance, std::vector<TensorBinding> tensors)
    : name_(std::move(name)), provenance_(std::move(provenance)), tensors_(std::move(tensors)) {
  for (size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].name] = i;
}

const TensorBinding* PrecisionBinding::Find(absl::string_view tensor) const {
  const auto found = index_.find(tensor);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::vector<SliceBinding> PrecisionBinding::SlicesOf(absl::string_view tensor, int64_t elements) const {
  std::vector<SliceBinding> slices;
  int64_t end = 0;
  const auto fill = [&](int64_t first) {
    if (first <= end) return;
    SliceBinding unnamed;
    unnamed.first = end;
    unnamed.elements = first - end;
    unnamed.reason = "not named by the binding";
    slices.push_back(std::move(unnamed));
  };
  // A tensor of another size is not the one that was bound.
  const TensorBinding* bound = Find(tensor);
  if (bound != nullptr && bound->elements == elements) {
    for (const SliceBinding& slice : bound->slices) {
      fill(slice.first);
      slices.push_back(slice);
      end = slice.first + slice.elements;
    }
  }
  fill(elements);
  return slices;
}

int64_t PrecisionBinding::elements() const {
  int64_t sum = 0;
  for (const TensorBinding& tensor : tensors_) sum += tensor.elements;
  return sum;
}

int64_t PrecisionBinding::candidate_elements() const {
  int64_t sum = 0;
  for (const TensorBinding& tensor : tensors_) {
    for (const SliceBinding& slice : tensor.slices) sum += slice.is_candidate ? slice.elements : 0;
  }
  return sum;
}

absl::StatusOr<PrecisionBinding> ReadBinding(absl::string_view text, absl::string_view file_name) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  YamlProblems problems(file_name);
  YamlMapReader file(document->root(), "", problems);
  ReadSchema(file, kBindingSchema, "a binding", problems);
  std::string name;
  ReadTextOf(file, "binding", true, name, problems);
  Provenance provenance = ReadProvenance(file, problems);
  std::vector<TensorBinding> tensors = ReadTensors(file, problems);
  file.Finish();
  if (!problems.status().ok()) return problems.status();
  return PrecisionBinding(std::move(name), std::move(provenance), std::move(tensors));
}

std::string BindingYaml(const PrecisionBinding& binding) {
  const Provenance& from = binding.provenance();
  std::string text = absl::StrFormat("schema: %d\nbinding: %s\nprovenance: {source: %s, made_by: %s", kBindingSchema,
                                     Quoted(binding.name()), Quoted(from.source), Quoted(from.made_by));
  if (!from.evidence.empty()) absl::StrAppend(&text, ", evidence: ", Quoted(from.evidence));
  absl::StrAppend(&text, "}\ntensors:\n");
  for (const TensorBinding& tensor : binding.tensors()) {
    absl::StrAppend(&text, "- {name: ", Quoted(tensor.name), ", elements: ", tensor.elements);
    if (tensor.slices.size() == 1 && tensor.slices[0].elements == tensor.elements) {
      absl::StrAppend(&text, ", ", SliceYaml(tensor.slices[0]), "}\n");
      continue;
    }
    absl::StrAppend(&text, ", slices: [");
    for (const SliceBinding& slice : tensor.slices) {
      absl::StrAppend(&text, &slice == &tensor.slices[0] ? "" : ", ", "{first: ", slice.first,
                      ", elements: ", slice.elements, ", ", SliceYaml(slice), "}");
    }
    absl::StrAppend(&text, "]}\n");
  }
  return text;
}

}  // namespace banyan
