#include "tools/view/simulation_recorder.h"

#include <regex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/json_value.h"
#include "core/json_writer.h"
#include "tools/metrics/scheduler_metrics.h"

namespace banyan {
namespace {

bool HasSize(absl::string_view around, absl::string_view name) {
  return around == "memory" || absl::EndsWith(name, "mbps") || absl::EndsWith(name, "bytes") || name == "elements";
}

std::string Scaled(absl::string_view number, int64_t scale) {
  uint64_t whole = 0;
  if (absl::SimpleAtoi(number, &whole)) return absl::StrCat(whole * static_cast<uint64_t>(scale));
  double value = 0;
  BANYAN_CHECK(absl::SimpleAtod(number, &value));
  return JsonWriter().Number(value * static_cast<double>(scale)).text();
}

// What the reasons of policies say of rates, in words.
std::string WithRatesInWords(const std::string& json, int64_t scale) {
  static const std::regex kPromise(R"(([0-9.e+-]+) instead of ([0-9.e+-]+) Mbit/s)");
  std::string text;
  auto rest = json.begin();
  for (std::sregex_iterator match(json.begin(), json.end(), kPromise), end; match != end; ++match) {
    absl::StrAppend(&text, std::string(rest, (*match)[0].first), Scaled((*match)[1].str(), scale), " instead of ",
                    Scaled((*match)[2].str(), scale), " Mbit/s");
    rest = (*match)[0].second;
  }
  return text + std::string(rest, json.end());
}

// Appends the text from `rest` to the end of `value`, with its sizes scaled. `around` is the name of what holds it.
void AppendScaled(const JsonValue& value, absl::string_view around, int64_t scale, const char*& rest,
                  std::string& text) {
  for (const JsonValue& inner : value) AppendScaled(inner, value.name(), scale, rest, text);
  // Those of an array go by its name.
  const absl::string_view name = value.name().empty() ? around : value.name();
  if (value.kind() != JsonValue::Kind::kNumber || !HasSize(around, name)) return;
  absl::StrAppend(&text, absl::string_view(rest, static_cast<size_t>(value.text().data() - rest)),
                  Scaled(value.text(), scale));
  rest = value.text().data() + value.text().size();
}

}  // namespace

std::string AtFullSize(const std::string& json, int64_t scale) {
  std::string text;
  const char* rest = json.data();
  const absl::StatusOr<JsonValue> value = JsonValue::Parse(json);
  BANYAN_CHECK(value.ok());
  AppendScaled(*value, "", scale, rest, text);
  text.append(rest, json.data() + json.size());
  return absl::StrContains(text, " instead of ") ? WithRatesInWords(text, scale) : text;
}

// Tells the recorder what the time is in each step.
class SimulationRecorder::Timed : public Protocol {
 public:
  Timed(SimulationRecorder* recorder, std::unique_ptr<Protocol> core)
      : recorder_(recorder), core_(std::move(core), [recorder](const std::string& json) { recorder->Take(json); }) {}

  Actions Step(Timestamp now, Event event) override {
    recorder_->now_ = now;
    return core_.Step(now, std::move(event));
  }
  Timestamp NextDeadline() const override { return core_.NextDeadline(); }

 private:
  SimulationRecorder* const recorder_;
  WatchedScheduler core_;
};

std::unique_ptr<Protocol> SimulationRecorder::Wrap(std::unique_ptr<Protocol> core) {
  return std::make_unique<Timed>(this, std::move(core));
}

void SimulationRecorder::Take(const std::string& json) {
  // A process's clock begins anywhere.
  if (!start_.has_value()) start_ = next_ = now_;
  WriteTraces();
  if (now_ < next_ || !status_.ok()) return;
  next_ = now_ + interval_;
  if (++statuses_ % kStatusesOfPace == 0) interval_ *= 2;
  status_ = writer_->Add(absl::ToDoubleSeconds(now_ - *start_), AtFullSize(json, scale_));
}

void SimulationRecorder::WriteTraces() {
  if (traces_ == nullptr || !start_.has_value() || !status_.ok()) return;
  for (const RoundChart& chart : traces_->Take()) {
    status_.Update(writer_->AddTrace(absl::ToDoubleSeconds(now_ - *start_), chart));
  }
}

}  // namespace banyan
