#include "precision/profile/precision_binding.h"

#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/json_writer.h"
#include "proto/precision/key_routes.h"
#include "topology/overlay/yaml_document.h"
#include "topology/overlay/yaml_slots.h"

namespace banyan {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 40;

// By their numbers.
const char* const kRoles[] = {"backbone", "encoder", "other", "embedding", "norm", "bias", "head"};

// Reads role, route, family and reason. A sensitive role that may go low-bit is a mistake here already.
void ReadSlice(YamlMapReader& map, SliceBinding& slice, YamlProblems& problems) {
  LowBitFamily family = LowBitFamily::kBinary;
  ReadKeys(map,
           {{"role", Required(Word(slice.role, {std::begin(kRoles), std::end(kRoles)}))},
            {"route", Required(Word(slice.is_candidate, {"fp32", "low-bit"}))},
            {"family", Word(family, {"binary", "ternary"})},
            {"reason", Required(Text(slice.reason))}},
           problems);
  if (map.Has("family")) slice.family = family;
  if (slice.is_candidate && IsSensitive(slice.role)) {
    problems.Add(
        map.PlaceOf("route"),
        absl::StrFormat("%s: the role %s is sensitive and stays fp32; write fp32, or another role if it has one",
                        map.PathOf("route"), RoleName(slice.role)));
  }
}

YamlSlot Slice(TensorBinding& tensor, SliceBinding& slice) {
  return Map(
      {{"first", Required(Number(slice.first, Count(0, kMostElements)))},
       {"elements", Required(Number(slice.elements, Count(1, kMostElements)))}},
      [&](YamlMapReader& map, YamlProblems& problems) {
        ReadSlice(map, slice, problems);
        const size_t before = tensor.slices.size() - 1;
        const int64_t end = before == 0 ? 0 : tensor.slices[before - 1].first + tensor.slices[before - 1].elements;
        if (slice.first >= end && slice.first + slice.elements <= tensor.elements) return;
        problems.Add(map.place(),
                     absl::StrFormat("%s: expected elements from %d on, of the %d that the tensor has, "
                                     "got %d to %d; slices ascend and do not overlap",
                                     map.where(), end, tensor.elements, slice.first, slice.first + slice.elements - 1));
      });
}

YamlSlot Tensor(TensorBinding& tensor, std::set<std::string>& names) {
  const auto slice = [&tensor](SliceBinding& of) { return Slice(tensor, of); };
  return Map({{"name", Required(Text(tensor.name))},
              {"elements", Required(Number(tensor.elements, Count(1, kMostElements)))},
              {"slices", List<SliceBinding>(tensor.slices, "of slices", slice)}},
             [&](YamlMapReader& map, YamlProblems& problems) {
               if (!map.Has("slices")) {
                 SliceBinding& whole = tensor.slices.emplace_back();
                 ReadSlice(map, whole, problems);
                 whole.elements = tensor.elements;
               }
               const size_t slices = PrecisionBinding("", {}, {tensor}).SlicesOf(tensor.name, tensor.elements).size();
               if (slices > KeyRoutes::kMostSlices) {
                 problems.Add(map.place(),
                              absl::StrFormat("%s: expected at most %d slices of a tensor, what they leave out among "
                                              "them, got %d; make several tensors of it",
                                              map.where(), KeyRoutes::kMostSlices, slices));
               }
               if (names.insert(tensor.name).second) return;
               problems.Add(map.place(),
                            absl::StrCat(map.where(), ": tensor '", tensor.name, "' is bound twice; remove one"));
             });
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

absl::string_view RoleName(TensorRole role) { return kRoles[static_cast<size_t>(role)]; }

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
  ReadKeys(file, {{"binding", Required(Text(name))}}, problems);
  Provenance provenance = ReadProvenance(file, problems);
  std::vector<TensorBinding> tensors;
  std::set<std::string> names;
  const auto tensor = [&names](TensorBinding& of) { return Tensor(of, names); };
  ReadKeys(file, {{"tensors", Required(List<TensorBinding>(tensors, "of tensors", tensor))}}, problems);
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
