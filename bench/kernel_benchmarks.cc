#include "bench/kernel_benchmarks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "bench/plain_add.h"
#include "bench/result_table.h"
#include "bench/timing.h"
#include "compression/codec_registry.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/json_writer.h"
#include "core/random.h"
#include "node/rounds/chunk_computations.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

// A model as nodes work on it.
constexpr int64_t kChunkElements = 65536;
constexpr int64_t kChunks = 244;  // 64 MB, more than a cache holds
constexpr int64_t kElements = kChunks * kChunkElements;
constexpr double kFloatBytes = sizeof(float) * kElements;

// --- aggregate ---

constexpr int kPairs = 31;
// Each element is read twice and written once.
constexpr double kTrafficBytes = 3 * kFloatBytes;

// One model's accumulators and one model's worth of incoming numbers.
class Aggregation {
 public:
  Aggregation() : accumulators_(Buffer::Allocate(kElements)), incoming_(Buffer::Allocate(kElements)) {
    absl::Span<float> values = incoming_.mutable_floats();
    for (int64_t i = 0; i < kElements; ++i) values[i] = static_cast<float>(i % 7);
    for (int64_t i = 0; i < kChunks; ++i) {
      inputs_.push_back(
          {EncodeChunk({.codec = CodecId::kFp32}, incoming_.Slice(i * kChunkElements, kChunkElements), 1)});
    }
  }

  // What a node does with each chunk that arrives.
  void AddChunks() {
    for (int64_t i = 0; i < kChunks; ++i) {
      AccumulateChunk add(accumulators_.Slice(i * kChunkElements, kChunkElements), false, inputs_[i], kChunkElements);
      add.Run();
    }
  }

  void AddPlainly() { PlainAdd(accumulators_.mutable_floats(), incoming_.floats()); }

  // Whether the accumulators hold `additions` times the incoming numbers.
  bool IsRight(int additions) const {
    const absl::Span<const float> sums = accumulators_.floats();
    const absl::Span<const float> values = incoming_.floats();
    bool right = true;
    for (int64_t i = 0; i < kElements; ++i) right = right && sums[i] == additions * values[i];
    return right;
  }

 private:
  Buffer accumulators_;
  Buffer incoming_;
  std::vector<std::vector<CheckedChunk>> inputs_;  // per chunk
};

struct Medians {
  double aggregate_gb_per_s;
  double plain_gb_per_s;
  double ratio;
};

void Print(std::ostream& out, bool json, const Medians& medians) {
  if (json) {
    out << absl::StrFormat(R"({"bytes":%d,"chunk_elements":%d,"pairs":%d,"aggregate_gb_per_s":%.3f,)"
                           R"("plain_add_gb_per_s":%.3f,"ratio":%.3f})"
                           "\n",
                           kElements * sizeof(float), kChunkElements, kPairs, medians.aggregate_gb_per_s,
                           medians.plain_gb_per_s, medians.ratio);
  } else {
    out << absl::StrFormat(
        "aggregate: %.2f GB/s, plain memory add: %.2f GB/s, ratio %.2f (medians of %d interleaved pairs)\n",
        medians.aggregate_gb_per_s, medians.plain_gb_per_s, medians.ratio, kPairs);
  }
}

}  // namespace

int RunAggregateBenchmark(std::ostream& out, bool json) {
  Aggregation aggregation;
  aggregation.AddChunks();
  aggregation.AddPlainly();
  std::vector<double> chunk_rates, plain_rates, ratios;
  for (int pair = 0; pair < kPairs; ++pair) {
    double chunk_seconds = 0, plain_seconds = 0;
    const auto chunks_turn = [&] { chunk_seconds = SecondsOf([&] { aggregation.AddChunks(); }); };
    if (pair % 2 == 0) chunks_turn();
    plain_seconds = SecondsOf([&] { aggregation.AddPlainly(); });
    if (pair % 2 == 1) chunks_turn();
    chunk_rates.push_back(kTrafficBytes / chunk_seconds / 1e9);
    plain_rates.push_back(kTrafficBytes / plain_seconds / 1e9);
    ratios.push_back(plain_seconds / chunk_seconds);
  }
  Print(out, json,
        {.aggregate_gb_per_s = Median(chunk_rates), .plain_gb_per_s = Median(plain_rates), .ratio = Median(ratios)});
  return aggregation.IsRight(2 * (kPairs + 1)) ? 0 : 1;
}

// --- codec ---

namespace {

constexpr double kSparseRatio = 0.01;

struct CodecCase {
  std::string name;
  Encoding encoding;
};

std::vector<CodecCase> CodecCases() {
  std::vector<CodecCase> cases;
  for (CodecId id : KnownCodecs()) {
    const Encoding encoding{.codec = id, .ratio = kSparseRatio};
    const std::string name(CodecName(id));
    if (id == CodecId::kTopK) {
      Encoding sampled = encoding;
      sampled.selection = TopKSelection::kSampled;
      cases.push_back({absl::StrCat(name, " 1% exact"), encoding});
      cases.push_back({absl::StrCat(name, " 1% sampled"), sampled});
    } else if (id == CodecId::kRandomK) {
      cases.push_back({absl::StrCat(name, " 1%"), encoding});
    } else {
      cases.push_back({name, encoding});
    }
    if (TraitsOf(id)->is_trimmable) {
      Encoding head = encoding;
      head.levels = 1;
      cases.push_back({absl::StrCat(name, " head"), head});
    }
  }
  return cases;
}

// Gaussian values; every chunk has the same.
Buffer MakeModel() {
  Buffer model = Buffer::Allocate(kElements);
  const absl::Span<float> values = model.mutable_floats();
  Random random(1);
  for (int64_t i = 0; i < kChunkElements; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random.Unit()));
    values[i] = static_cast<float>(radius * std::cos(2 * std::numbers::pi * random.Unit()));
  }
  for (int64_t i = kChunkElements; i < kElements; ++i) values[i] = values[i - kChunkElements];
  return model;
}

// The same over many turns.
struct Rates {
  void Add(double copy_seconds, double seconds) {
    gb_per_s.push_back(kFloatBytes / seconds / 1e9);
    over_memcpy.push_back(copy_seconds / seconds);
  }

  std::vector<double> gb_per_s;
  std::vector<double> over_memcpy;
};

struct CodecResult {
  std::string name;
  bool encodes = true;  // or hands the values on as they lie
  Rates encode, decode, add;
  double bytes_per_element = 0;
  bool is_right = true;
};

// One codec at work on the model.
class CodecRun {
 public:
  CodecRun(CodecCase work, Buffer model, Buffer decoded)
      : case_(std::move(work)), model_(std::move(model)), decoded_(std::move(decoded)), chunks_(kChunks) {}

  CodecResult Measure(int repetitions) {
    CodecResult result;
    result.name = case_.name;
    Turn(nullptr);
    for (int i = 0; i < repetitions; ++i) Turn(&result);
    int64_t payload_bytes = 0;
    for (const CheckedChunk& chunk : chunks_) {
      payload_bytes += chunk.payload_bytes();
      result.is_right = result.is_right && CheckChunk(chunk.encoded(), kChunkElements).ok();
    }
    result.bytes_per_element = static_cast<double>(payload_bytes) / kElements;
    result.encodes = chunks_[0].encoded().payload[0].data() != model_.data();
    return result;
  }

 private:
  void Turn(CodecResult* result) {
    const double encode = SecondsOf([&] { Encode(); });
    const double copy = SecondsOf([&] { Copy(); });
    const double decode = SecondsOf([&] { Decode(); });
    const double second_copy = SecondsOf([&] { Copy(); });
    const double add = SecondsOf([&] { Add(); });
    if (result == nullptr) return;
    result->encode.Add(copy, encode);
    result->decode.Add((copy + second_copy) / 2, decode);
    result->add.Add(second_copy, add);
  }

  void Encode() {
    for (int64_t i = 0; i < kChunks; ++i) {
      case_.encoding.seed = static_cast<uint64_t>(i);
      chunks_[i] = EncodeChunk(case_.encoding, model_.Slice(i * kChunkElements, kChunkElements), 1);
    }
  }

  void Copy() {
    for (int64_t i = 0; i < kChunks; ++i) {
      std::memcpy(Chunk(i).data(), model_.floats().data() + i * kChunkElements, kChunkElements * sizeof(float));
    }
  }

  void Decode() {
    for (int64_t i = 0; i < kChunks; ++i) DecodeChunk(chunks_[i], Chunk(i));
  }

  void Add() {
    for (int64_t i = 0; i < kChunks; ++i) DecodeAddChunk(chunks_[i], Chunk(i));
  }

  absl::Span<float> Chunk(int64_t i) { return decoded_.mutable_floats().subspan(i * kChunkElements, kChunkElements); }

  CodecCase case_;
  Buffer model_;
  Buffer decoded_;
  std::vector<CheckedChunk> chunks_;
};

// What one core of a node takes for its part of a round.
double CodingSeconds(const CodecRound& round, const CodecResult& result) {
  const double encode = result.encodes ? 1 / Median(result.encode.gb_per_s) : 0;
  return round.model_bytes / 1e9 * (encode + 1 / Median(result.add.gb_per_s) + 1 / Median(result.decode.gb_per_s));
}

double RoundSeconds(const CodecRound& round, const CodecResult& result) {
  return round.seconds * result.bytes_per_element / sizeof(float);
}

ResultTable CodecTable(const std::vector<CodecResult>& results, const std::optional<CodecRound>& round) {
  ResultTable table;
  table.title = "One core, GB/s of fp32 and these over memcpy of the same floats (medians of turns):";
  table.columns = {{"codec"}};
  for (const std::string what : {"encode", "decode", "add"}) {
    table.columns.push_back({what, absl::StrCat(what, "_gb_per_s")});
    table.columns.push_back({"/ memcpy", absl::StrCat(what, "_over_memcpy")});
  }
  table.columns.push_back({"bytes/element", "bytes_per_element"});
  if (round.has_value()) {
    table.columns.push_back({"round, s", "round_seconds"});
    table.columns.push_back({"coding, s", "coding_seconds"});
    table.columns.push_back({"% of round"});
  }
  for (const CodecResult& result : results) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {Cell::Text(result.name)};
    for (const Rates* rates : {&result.encode, &result.decode, &result.add}) {
      // What hands values on as they lie has no rate of encoding.
      const bool exists = result.encodes || rates != &result.encode;
      cells.push_back(exists ? Cell::Number(Median(rates->gb_per_s), 1) : Cell{"no copy", nullptr});
      cells.push_back(exists ? Cell::Number(Median(rates->over_memcpy), 2) : Cell{"", nullptr});
    }
    cells.push_back(Cell::Number(result.bytes_per_element, 4));
    if (!round.has_value()) continue;
    const double coding_s = CodingSeconds(*round, result);
    const double round_s = RoundSeconds(*round, result);
    cells.insert(cells.end(), {Cell::Number(round_s, 3), Cell::Number(coding_s, 3),
                               Cell{absl::StrFormat("%.1f", 100 * coding_s / round_s)}});
  }
  return table;
}

}  // namespace

int RunCodecBenchmark(const CodecBenchmarkOptions& options, std::ostream& out,
                      const std::function<void(double)>& progress) {
  const Buffer model = MakeModel();
  const Buffer decoded = Buffer::Allocate(kElements);
  const std::vector<CodecCase> cases = CodecCases();
  std::vector<CodecResult> results;
  for (const CodecCase& next : cases) {
    progress(static_cast<double>(results.size()) / static_cast<double>(cases.size()));
    results.push_back(CodecRun(next, model, decoded).Measure(options.repetitions));
  }
  progress(1);
  const ResultTable table = CodecTable(results, options.round);
  if (options.json) {
    JsonWriter json;
    json.BeginObject().Name("bytes").Integer(static_cast<uint64_t>(kFloatBytes));
    json.Name("chunk_elements").Integer(kChunkElements);
    json.Name("repetitions").Integer(static_cast<uint64_t>(options.repetitions)).Name("codecs");
    table.WriteTo(json);
    out << json.EndObject().text() << "\n";
  } else {
    out << table.AsText();
  }
  return std::all_of(results.begin(), results.end(), [](const CodecResult& result) { return result.is_right; }) ? 0 : 1;
}

// --- reducer ---

namespace {

constexpr int kVoters = 8;
constexpr double kMicroseconds = 1e6;

struct VoteShape {
  int64_t elements;
  double paper_us;  // what the paper's nodes take for the local count
};

constexpr VoteShape kVoteShapes[] = {{131072, 260}, {524288, 570}};

std::vector<std::vector<float>> Gradients(int64_t elements) {
  Random random(1);
  std::vector<std::vector<float>> gradients(kVoters, std::vector<float>(elements));
  for (std::vector<float>& values : gradients) {
    for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
  }
  return gradients;
}

// Adds the votes as plain integers: what a voter's own decision writes is its direction times its scale.
bool IsRightCount(const std::vector<VoteCount>& votes, const VoteCount& count, const VoteRules& rules) {
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

// Adds a row to the table. Returns whether the count is right.
bool MeasureVotes(const std::string& format, const VoteRules& rules, const VoteShape& shape, int repetitions,
                  ResultTable& table) {
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
  const bool is_right = IsRightCount(votes, count, rules);
  std::vector<Cell>& cells = table.rows.emplace_back();
  cells = {Cell::Text(format), Cell::Number(static_cast<double>(shape.elements), 0)};
  for (const std::vector<double>& seconds : {encode, sum, decide, write}) {
    cells.push_back(Cell::Number(Median(seconds) * kMicroseconds, 1));
  }
  cells.push_back(Cell::Number(shape.paper_us, 0));
  cells.push_back(Cell::Flag(is_right, is_right ? "right" : "WRONG"));
  return is_right;
}

}  // namespace

int RunReducerBenchmark(const ReducerBenchmarkOptions& options, std::ostream& out) {
  ResultTable table;
  table.title = absl::StrFormat(
      "One core, microseconds (medians); %d voters are counted at once. The paper's local count ran on GPU nodes.",
      kVoters);
  table.columns = {{"format"},
                   {"elements"},
                   {"encode, each", "encode_us"},
                   {"count", "count_us"},
                   {"decide", "decide_us"},
                   {"write", "write_us"},
                   {"paper's count", "paper_count_us"},
                   {"result", "is_right"}};
  VoteRules ternary;
  ternary.family = LowBitFamily::kTernary;
  bool all_right = true;
  for (const VoteShape& shape : kVoteShapes) {
    all_right &= MeasureVotes("G-Binary", VoteRules(), shape, options.repetitions, table);
    all_right &= MeasureVotes("G-Ternary", ternary, shape, options.repetitions, table);
  }
  if (options.json) {
    JsonWriter json;
    json.BeginObject().Name("voters").Integer(kVoters).Name("rows");
    table.WriteTo(json);
    out << json.EndObject().text() << "\n";
  } else {
    out << table.AsText();
  }
  return all_right ? 0 : 1;
}

}  // namespace banyan
