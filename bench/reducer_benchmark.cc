#include "bench/reducer_benchmark.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/timing.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "core/json_writer.h"
#include "core/random.h"

namespace banyan {
namespace {

constexpr int kVoters = 8;
constexpr double kMicroseconds = 1e6;

struct Shape {
  int64_t elements;
  double paper_us;  // what the paper's nodes take for the local count
};

constexpr Shape kShapes[] = {{131072, 260}, {524288, 570}};

struct Row {
  std::string format;
  Shape shape;
  double encode_us = 0;  // the votes of one voter
  double count_us = 0;   // of all voters
  double decide_us = 0;
  double write_us = 0;
  bool is_right = true;
};

std::vector<std::vector<float>> Gradients(int64_t elements) {
  Random random(1);
  std::vector<std::vector<float>> gradients(kVoters, std::vector<float>(elements));
  for (std::vector<float>& values : gradients) {
    for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
  }
  return gradients;
}

// Adds the votes as plain integers: what a voter's own decision writes is its direction times its scale.
bool IsRight(const std::vector<VoteCount>& votes, const VoteCount& count, const VoteRules& rules) {
  std::vector<int64_t> leads(count.elements());
  std::vector<float> values(count.elements());
  VoteRules own = rules;
  own.aggregate = VoteAggregate::kMean;
  for (const VoteCount& vote : votes) {
    VoteDecision(vote, own).WriteTo(absl::MakeSpan(values));
    for (size_t i = 0; i < values.size(); ++i) leads[i] += (values[i] > 0 ? 1 : 0) - (values[i] < 0 ? 1 : 0);
  }
  VoteDecision(count, rules).WriteTo(absl::MakeSpan(values));
  const float scale = count.scales().Mean(count.weight());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != scale * static_cast<float>((leads[i] > 0 ? 1 : 0) - (leads[i] < 0 ? 1 : 0))) return false;
  }
  return true;
}

Row Measure(const std::string& format, const VoteRules& rules, const Shape& shape, int repetitions) {
  Row row{format, shape};
  const std::vector<std::vector<float>> gradients = Gradients(shape.elements);
  std::vector<VoteCount> votes;
  std::vector<const VoteCount*> all;
  for (const std::vector<float>& values : gradients) {
    votes.push_back(VoteCount::OfVoter(values, SliceScale(values), rules));
  }
  for (const VoteCount& vote : votes) all.push_back(&vote);
  VoteCount count = VoteCount::SumOf(all);
  VoteDecision decision(count, rules);
  std::vector<float> result(shape.elements);
  std::vector<double> encode, sum, decide, write;
  for (int i = 0; i < repetitions; ++i) {
    const std::vector<float>& values = gradients[i % kVoters];
    encode.push_back(SecondsOf([&] { votes[i % kVoters] = VoteCount::OfVoter(values, SliceScale(values), rules); }));
    sum.push_back(SecondsOf([&] { count = VoteCount::SumOf(all); }));
    decide.push_back(SecondsOf([&] { decision = VoteDecision(count, rules); }));
    write.push_back(SecondsOf([&] { decision.WriteTo(absl::MakeSpan(result)); }));
  }
  row.encode_us = Median(encode) * kMicroseconds;
  row.count_us = Median(sum) * kMicroseconds;
  row.decide_us = Median(decide) * kMicroseconds;
  row.write_us = Median(write) * kMicroseconds;
  row.is_right = IsRight(votes, count, rules);
  return row;
}

std::string Text(const std::vector<Row>& rows) {
  std::string text = absl::StrFormat(
      "One core, microseconds (medians); %d voters are counted at once. The paper's local count ran on GPU nodes.\n\n"
      "%-10s %9s %14s %9s %9s %9s %13s\n",
      kVoters, "format", "elements", "encode, each", "count", "decide", "write", "paper's count");
  for (const Row& row : rows) {
    absl::StrAppendFormat(&text, "%-10s %9d %14.1f %9.1f %9.1f %9.1f %13.0f%s\n", row.format, row.shape.elements,
                          row.encode_us, row.count_us, row.decide_us, row.write_us, row.shape.paper_us,
                          row.is_right ? "" : "  WRONG");
  }
  return text;
}

std::string Json(const std::vector<Row>& rows) {
  JsonWriter json;
  json.BeginObject().Name("voters").Integer(kVoters).Name("rows").BeginArray();
  for (const Row& row : rows) {
    json.BeginObject();
    json.Name("format").String(row.format);
    json.Name("elements").Integer(static_cast<uint64_t>(row.shape.elements));
    json.Name("encode_us").Number(row.encode_us);
    json.Name("count_us").Number(row.count_us);
    json.Name("decide_us").Number(row.decide_us);
    json.Name("write_us").Number(row.write_us);
    json.Name("paper_count_us").Number(row.shape.paper_us);
    json.Name("is_right").Boolean(row.is_right);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return absl::StrCat(json.text(), "\n");
}

}  // namespace

int RunReducerBenchmark(const ReducerBenchmarkOptions& options, std::ostream& out) {
  VoteRules ternary;
  ternary.family = LowBitFamily::kTernary;
  std::vector<Row> rows;
  for (const Shape& shape : kShapes) {
    rows.push_back(Measure("G-Binary", VoteRules(), shape, options.repetitions));
    rows.push_back(Measure("G-Ternary", ternary, shape, options.repetitions));
  }
  out << (options.json ? Json(rows) : Text(rows));
  return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_right; }) ? 0 : 1;
}

}  // namespace banyan
