#include "precision/profile/precision_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kBinding[] = R"(schema: 1
binding: net
provenance: {source: its names, made_by: a test}
tensors:
- {name: conv.weight, elements: 100, role: backbone, route: low-bit, family: ternary, reason: a convolution}
- {name: conv.bias, elements: 10, role: bias, route: fp32, reason: small}
- name: bucket
  elements: 50
  slices:
  - {first: 5, elements: 20, role: encoder, route: low-bit, reason: a matrix}
  - {first: 25, elements: 5, role: norm, route: fp32, reason: sensitive}
)";

std::string With(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string Refusal(const std::string& text) { return std::string(ReadBinding(text, "b.yaml").status().message()); }

TEST(PrecisionBindingTest, ReadsTensorsAndSlices) {
  const absl::StatusOr<PrecisionBinding> binding = ReadBinding(kBinding, "b.yaml");
  ASSERT_TRUE(binding.ok()) << binding.status();
  EXPECT_EQ(binding->elements(), 160);
  EXPECT_EQ(binding->candidate_elements(), 120);
  EXPECT_EQ(binding->Find("conv.weight")->slices[0].family, LowBitFamily::kTernary);
  EXPECT_EQ(binding->Find("nobody"), nullptr);
}

TEST(PrecisionBindingTest, WhatIsNotNamedIsFullPrecision) {
  const PrecisionBinding binding = *ReadBinding(kBinding, "b.yaml");
  const std::vector<SliceBinding> bucket = binding.SlicesOf("bucket", 50);
  ASSERT_EQ(bucket.size(), 4u);
  EXPECT_FALSE(bucket[0].is_candidate);
  EXPECT_EQ(bucket[0].elements, 5);
  EXPECT_TRUE(bucket[1].is_candidate);
  EXPECT_EQ(bucket[3].first, 30);
  EXPECT_EQ(bucket[3].elements, 20);
  for (const char* name : {"nobody", "conv.weight"}) {  // the second with another size
    const std::vector<SliceBinding> slices = binding.SlicesOf(name, 7);
    ASSERT_EQ(slices.size(), 1u);
    EXPECT_EQ(slices[0].elements, 7);
    EXPECT_FALSE(slices[0].is_candidate);
  }
}

TEST(PrecisionBindingTest, IsWrittenAsItIsRead) {
  const PrecisionBinding binding = *ReadBinding(kBinding, "b.yaml");
  const std::string yaml = BindingYaml(binding);
  const absl::StatusOr<PrecisionBinding> again = ReadBinding(yaml, "again.yaml");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(BindingYaml(*again), yaml);
  EXPECT_EQ(again->candidate_elements(), 120);
}

TEST(PrecisionBindingTest, TextIsQuotedAsAnyReaderOfYamlTakesIt) {
  SliceBinding slice;
  slice.elements = 4;
  slice.reason = "its 'name' has \"quotes\"\n\x01";
  const std::string yaml = BindingYaml(PrecisionBinding("b", {"s", "m", "e"}, {{"t", 4, {slice}}}));
  EXPECT_NE(yaml.find(R"(reason: "its 'name' has \"quotes\"\u000a\u0001")"), std::string::npos) << yaml;
  const absl::StatusOr<PrecisionBinding> again = ReadBinding(yaml, "b.yaml");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->tensors()[0].slices[0].reason, slice.reason);
}

TEST(PrecisionBindingTest, RefusalsSayWhereAndWhat) {
  EXPECT_THAT(Refusal(With(kBinding, "role: bias, route: fp32", "role: bias, route: low-bit")),
              HasSubstr("b.yaml:6:54: tensors[1].route: the role bias is sensitive and stays fp32"));
  EXPECT_THAT(Refusal(With(kBinding, "first: 25", "first: 24")), HasSubstr("expected elements from 25 on"));
  EXPECT_THAT(Refusal(With(kBinding, "first: 25, elements: 5", "first: 25, elements: 26")), HasSubstr("got 25 to 50"));
  EXPECT_THAT(Refusal(With(kBinding, "conv.bias", "conv.weight")), HasSubstr("'conv.weight' is bound twice"));
  EXPECT_THAT(Refusal(With(kBinding, ", reason: small", "")), HasSubstr("reason"));
  EXPECT_THAT(Refusal(With(kBinding, "encoder", "encodr")), HasSubstr("b.yaml:10"));
  EXPECT_THAT(Refusal(With(kBinding, "schema: 1", "schema: 0")), HasSubstr("schema: expected 1"));
}

}  // namespace
}  // namespace banyan
