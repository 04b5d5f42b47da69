#include "bench/codec_benchmark.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/timing.h"
#include "compression/codec_registry.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/json_writer.h"
#include "core/random.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

constexpr int64_t kChunkElements = 65536;
constexpr int64_t kChunks = 244;  // 64 MB, more than a cache holds
constexpr int64_t kElements = kChunks * kChunkElements;
constexpr double kFloatBytes = sizeof(float) * kElements;
constexpr double kSparseRatio = 0.01;

struct Case {
  std::string name;
  Encoding encoding;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
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

struct Result {
  std::string name;
  bool encodes = true;  // or hands the values on as they lie
  Rates encode, decode, add;
  double bytes_per_element = 0;
  bool is_right = true;
};

// One codec at work on the model.
class CodecRun {
 public:
  CodecRun(Case work, Buffer model, Buffer decoded)
      : case_(std::move(work)), model_(std::move(model)), decoded_(std::move(decoded)), chunks_(kChunks) {}

  Result Measure(int repetitions) {
    Result result;
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
  void Turn(Result* result) {
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

  Case case_;
  Buffer model_;
  Buffer decoded_;
  std::vector<CheckedChunk> chunks_;
};

std::string Cell(const Rates& rates) {
  return absl::StrFormat("%8.1f %5.2f", Median(rates.gb_per_s), Median(rates.over_memcpy));
}

// What one core of a node takes for its part of a round.
double CodingSeconds(const CodecRound& round, const Result& result) {
  const double encode = result.encodes ? 1 / Median(result.encode.gb_per_s) : 0;
  return round.model_bytes / 1e9 * (encode + 1 / Median(result.add.gb_per_s) + 1 / Median(result.decode.gb_per_s));
}

double RoundSeconds(const CodecRound& round, const Result& result) {
  return round.seconds * result.bytes_per_element / sizeof(float);
}

std::string RoundCells(const CodecRound& round, const Result& result) {
  const double coding = CodingSeconds(round, result);
  const double links = RoundSeconds(round, result);
  return absl::StrFormat("  %8.3f %8.3f %6.1f %%", links, coding, 100 * coding / links);
}

std::string Text(const std::vector<Result>& results, const std::optional<CodecRound>& round) {
  std::string text = absl::StrFormat(
      "One core, GB/s of fp32 and these over memcpy of the same floats (medians of turns):\n\n"
      "%-18s %14s %14s %14s  bytes/element%s\n",
      "codec", "encode", "decode", "decode-and-add", round.has_value() ? "   round, s  coding, s" : "");
  for (const Result& result : results) {
    absl::StrAppendFormat(&text, "%-18s %14s %14s %14s  %13.4f%s\n", result.name,
                          result.encodes ? Cell(result.encode) : "no copy", Cell(result.decode), Cell(result.add),
                          result.bytes_per_element, round.has_value() ? RoundCells(*round, result) : "");
  }
  return text;
}

void WriteRates(JsonWriter& json, const std::string& what, const Rates& rates, bool exists) {
  json.Name(absl::StrCat(what, "_gb_per_s"));
  exists ? json.Number(Median(rates.gb_per_s)) : json.Null();
  json.Name(absl::StrCat(what, "_over_memcpy"));
  exists ? json.Number(Median(rates.over_memcpy)) : json.Null();
}

std::string Json(const std::vector<Result>& results, const CodecBenchmarkOptions& options) {
  JsonWriter json;
  json.BeginObject();
  json.Name("bytes").Integer(static_cast<uint64_t>(kFloatBytes));
  json.Name("chunk_elements").Integer(kChunkElements);
  json.Name("repetitions").Integer(static_cast<uint64_t>(options.repetitions));
  json.Name("codecs").BeginArray();
  for (const Result& result : results) {
    json.BeginObject();
    json.Name("codec").String(result.name);
    WriteRates(json, "encode", result.encode, result.encodes);
    WriteRates(json, "decode", result.decode, true);
    WriteRates(json, "add", result.add, true);
    json.Name("bytes_per_element").Number(result.bytes_per_element);
    if (options.round.has_value()) {
      json.Name("round_seconds").Number(RoundSeconds(*options.round, result));
      json.Name("coding_seconds").Number(CodingSeconds(*options.round, result));
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return absl::StrCat(json.text(), "\n");
}

}  // namespace

int RunCodecBenchmark(const CodecBenchmarkOptions& options, std::ostream& out,
                      const std::function<void(double)>& progress) {
  const Buffer model = MakeModel();
  const Buffer decoded = Buffer::Allocate(kElements);
  const std::vector<Case> cases = Cases();
  std::vector<Result> results;
  for (const Case& next : cases) {
    progress(static_cast<double>(results.size()) / static_cast<double>(cases.size()));
    results.push_back(CodecRun(next, model, decoded).Measure(options.repetitions));
  }
  progress(1);
  out << (options.json ? Json(results, options) : Text(results, options.round));
  return std::all_of(results.begin(), results.end(), [](const Result& result) { return result.is_right; }) ? 0 : 1;
}

}  // namespace banyan
