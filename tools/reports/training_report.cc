#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/result_table.h"
#include "compression/codec_registry.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/json_writer.h"
#include "proto/compression/codec_traits.h"
#include "tools/reports/plan_reports.h"
#include "topology/advice/training_forecast.h"
#include "topology/evaluation/round_time.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

constexpr int64_t kSampleElements = 65536;
constexpr double kSparseRatio = 0.01;
constexpr double kPricedSteps = 1000;

// What gradients look like to a codec, as far as sizes go.
Buffer SampleGradients() {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  Buffer values = Buffer::AllocateForOverwrite(kSampleElements);
  for (float& value : values.mutable_floats()) value = normal(engine);
  return values;
}

bool IsSparse(CodecId id) { return id == CodecId::kTopK || id == CodecId::kRandomK; }

double BytesPerElement(CodecId id) {
  const Encoding encoding = {.codec = id, .ratio = IsSparse(id) ? kSparseRatio : 1, .seed = 1};
  return static_cast<double>(EncodeChunk(encoding, SampleGradients(), 1).payload_bytes()) / kSampleElements;
}

std::string NameOfCodec(CodecId id) {
  return absl::StrCat(CodecName(id), IsSparse(id) ? absl::StrFormat(" %g %%", 100 * kSparseRatio) : "");
}

struct Method {
  SyncMethod method;
  const char* title;
  const char* key;
};

constexpr Method kMethods[] = {{SyncMethod::kAttach, "attach", "attach"},
                               {SyncMethod::kDiLoCo, "DiLoCo", "diloco"},
                               {SyncMethod::kStreaming, "Streaming", "streaming"}};

// Of one codec: what stands in a row, from the left to the right.
class Row {
 public:
  Row(ResultTable& table, const TrainingQuestion& question) : table_(table), question_(question) {
    table.rows.emplace_back();
  }

  void Add(const std::string& title, const std::string& key, Cell cell) {
    if (table_.rows.size() == 1) table_.columns.push_back({title, key});
    table_.rows.back().push_back(std::move(cell));
  }

  void AddUtilisation(const Method& method, std::optional<int64_t> steps, const TrainingForecast& forecast) {
    const double part = forecast.Utilisation(method.method, steps.value_or(1));
    Add(steps.has_value() ? absl::StrCat(method.title, " ", *steps) : method.title,
        steps.has_value() ? absl::StrCat(method.key, "_", *steps) : method.key,
        Cell{absl::StrFormat("%.1f %%", 100 * part), part});
  }

  // With `round_price`, also what the steps cost.
  void AddFewestSteps(const Method& method, const TrainingForecast& forecast, std::optional<double> round_price) {
    const std::optional<int64_t> steps = forecast.FewestSteps(method.method, question_.target);
    Add(method.method == SyncMethod::kDiLoCo ? "hidden from" : "hidden from ",
        absl::StrCat(method.key, "_fewest_steps"),
        steps.has_value() ? Cell::Number(static_cast<double>(*steps)) : Cell::Number(std::nullopt, 0));
    if (!round_price.has_value()) return;
    AddPrice(method, steps, *round_price);
  }

  void AddPrice(const Method& method, std::optional<int64_t> steps, double round_price) {
    const std::optional<double> price =
        steps.has_value() ? std::optional(kPricedSteps * round_price / static_cast<double>(*steps)) : std::nullopt;
    Add(absl::StrCat(method.title, " price"), absl::StrCat(method.key, "_price"),
        price.has_value() ? Cell{absl::StrFormat("%.4g", *price), *price} : Cell::Number(std::nullopt, 0));
  }

 private:
  ResultTable& table_;
  const TrainingQuestion& question_;
};

void AddCodec(CodecId id, const TrainingQuestion& question, ResultTable& table) {
  const double bytes = BytesPerElement(id);
  const double sent_part = SentPartOf(id);
  const TrainingForecast forecast(question.view, question.policy, question.model, question.least_elements, sent_part,
                                  question.step);
  std::optional<double> round_price;
  if (question.round_price.has_value()) round_price = *question.round_price * sent_part;
  Row row(table, question);
  row.Add("codec", "", Cell::Text(NameOfCodec(id)));
  row.Add("bytes/element", "bytes_per_element", Cell::Number(bytes, 4));
  const double seconds = absl::ToDoubleSeconds(forecast.round_time());
  row.Add("round", "round_seconds", Cell{absl::StrFormat("%.3g s", seconds), seconds});
  for (const Method& method : kMethods) {
    if (method.method == SyncMethod::kAttach) {
      row.AddUtilisation(method, std::nullopt, forecast);
      if (round_price.has_value()) row.AddPrice(method, 1, *round_price);
    } else if (question.steps_per_sync.has_value()) {
      row.AddUtilisation(method, question.steps_per_sync, forecast);
      if (round_price.has_value()) row.AddPrice(method, question.steps_per_sync, *round_price);
    } else {
      for (const int64_t steps : kUsualStepsPerSync) {
        // One step has no fragments: Streaming is DiLoCo.
        if (steps > 1 || method.method == SyncMethod::kDiLoCo) row.AddUtilisation(method, steps, forecast);
      }
      row.AddFewestSteps(method, forecast, round_price);
    }
  }
}

ResultTable TrainingTable(const TrainingQuestion& question) {
  ResultTable table;
  for (const CodecId id : KnownCodecs()) {
    // What queues may cut is of the size of its last level only where none does.
    if (CodecFor(id)->levels() == 1) AddCodec(id, question, table);
  }
  return table;
}

}  // namespace

double SentPartOf(CodecId codec) { return 8 * BytesPerElement(codec) / kBitsPerElement; }

std::string TrainingText(const TrainingQuestion& question) {
  ResultTable table = TrainingTable(question);
  table.title = absl::StrFormat("Utilisation: the part of the time in which steps of %.3g s are computed",
                                absl::ToDoubleSeconds(question.step));
  std::string text = table.AsText();
  absl::StrAppendFormat(
      &text,
      "\nattach     gradients of every step, sent while backward goes on\n"
      "DiLoCo N   all wait for a round after N steps\n"
      "Streaming  the same in %d fragments, each awaited N/%d - 1 steps (fragment_sync_delay) after it was sent\n",
      kStreamingFragments, kStreamingFragments);
  if (!question.steps_per_sync.has_value()) {
    absl::StrAppendFormat(&text, "hidden     from so many steps per round on, utilisation is at least %g %%\n",
                          100 * question.target);
  }
  if (question.round_price.has_value()) {
    absl::StrAppendFormat(
        &text, "price      of what links carry in %g steps%s\n", kPricedSteps,
        question.steps_per_sync.has_value() ? "" : ", from where it is hidden on; of every step with attach");
  }
  return text;
}

std::string TrainingJson(const TrainingQuestion& question) {
  JsonWriter json;
  json.BeginObject().Name("step_seconds").Number(absl::ToDoubleSeconds(question.step));
  json.Name("target_utilisation").Number(question.target);
  json.Name("codecs");
  TrainingTable(question).WriteTo(json);
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace banyan
