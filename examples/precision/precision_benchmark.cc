// The program behind `banyan bench precision`, which LibTorch is in: see tools/precision_benchmark/precision_options.h
// for its arguments. The table goes to stdout, progress to stderr. Fails where a route was violated.

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/precision/guided_model.h"
#include "examples/precision/guided_training.h"
#include "examples/precision/image_model.h"
#include "examples/precision/precision_table.h"
#include "examples/precision/residual_model.h"
#include "examples/precision/text_corpus.h"
#include "examples/precision/text_model.h"
#include "posix/stop_signals.h"
#include "precision/audit/audit_file.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"
#include "tools/precision_benchmark/precision_options.h"
#include "tools/terminal/main_support.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

// The binding with every slice a candidate of any family: what a setting without a binding would do.
PrecisionBinding BindAll(const PrecisionBinding& binding) {
  std::vector<TensorBinding> tensors = binding.tensors();
  for (TensorBinding& tensor : tensors) {
    for (SliceBinding& slice : tensor.slices) {
      slice.is_candidate = true;
      slice.family = std::nullopt;
    }
  }
  return PrecisionBinding(binding.name(), binding.provenance(), std::move(tensors));
}

absl::StatusOr<GuidedTraining> ReadTraining(const PrecisionOptions& options) {
  GuidedTraining training;
  const absl::StatusOr<std::string> profile_text = ReadOverlayText(options.profile);
  if (!profile_text.ok()) return profile_text.status();
  absl::StatusOr<OperatingProfile> profile = ReadProfile(*profile_text, options.profile);
  if (!profile.ok()) return profile.status();
  training.profile = *std::move(profile);
  const absl::StatusOr<std::string> binding_text = ReadOverlayText(options.binding);
  if (!binding_text.ok()) return binding_text.status();
  absl::StatusOr<PrecisionBinding> binding = ReadBinding(*binding_text, options.binding);
  if (!binding.ok()) return binding.status();
  training.binding = options.binds_all ? BindAll(*binding) : *std::move(binding);
  if (options.mean) training.profile.rules.aggregate = VoteAggregate::kMean;
  training.rounds = options.rounds;
  training.workers = options.workers;
  training.damage = options.damage;
  training.learning_rate = options.learning_rate;
  return training;
}

absl::Status WriteFiles(const PrecisionOptions& options, const GuidedOutcome& last) {
  absl::Status status;
  if (!options.audit.empty()) status.Update(WriteRunFile(options.audit, last.audit_json));
  std::string losses;
  for (double loss : last.losses) absl::StrAppendFormat(&losses, "%.9g\n", loss);
  if (!options.losses.empty()) status.Update(WriteRunFile(options.losses, losses));
  return status;
}

// Makes the model that a seed gives.
using ModelMaker = std::function<std::unique_ptr<GuidedModel>(uint64_t seed)>;

absl::StatusOr<ModelMaker> ReadImages(const PrecisionOptions& options) {
  absl::StatusOr<ImageSplits> images = LoadFashionMnist(options.data);
  if (!images.ok()) return images.status();
  return [images = std::make_shared<ImageSplits>(*std::move(images)),
          &options](uint64_t seed) -> std::unique_ptr<GuidedModel> {
    const ImageModelOptions model{.seed = seed, .workers = options.workers, .batch = options.batch};
    if (options.model == TrainedModel::kResidual) {
      return std::make_unique<ResidualModel>(model, images->training, images->test);
    }
    return std::make_unique<ImageModel>(model, images->training, images->test);
  };
}

absl::StatusOr<ModelMaker> ReadCorpus(const PrecisionOptions& options) {
  const absl::StatusOr<std::string> text = ReadText(options.data);
  if (!text.ok()) return text.status();
  absl::StatusOr<TextCorpus> corpus = TextCorpus::Cut(*text, options.workers, kTextContext + 1);
  if (!corpus.ok()) return corpus.status();
  return [corpus = std::make_shared<TextCorpus>(*std::move(corpus)), &options](uint64_t seed) {
    return std::make_unique<TextModel>(
        TextModelOptions{.seed = seed, .workers = options.workers, .batch = options.batch}, *corpus);
  };
}

absl::StatusOr<std::vector<GuidedRow>> MakeRows(const PrecisionOptions& options) {
  absl::StatusOr<GuidedTraining> training = ReadTraining(options);
  if (!training.ok()) return training.status();
  const absl::StatusOr<ModelMaker> make_model =
      options.model == TrainedModel::kText ? ReadCorpus(options) : ReadImages(options);
  if (!make_model.ok()) return make_model.status();
  std::vector<GuidedRow> rows;
  GuidedOutcome last;
  const auto add_row = [&](const std::string& name) {
    GuidedRow& row = rows.emplace_back(GuidedRow{name, {}});
    for (int64_t seed = 1; seed <= options.seeds; ++seed) {
      last = RunGuidedTraining(*training, *(*make_model)(static_cast<uint64_t>(seed)));
      std::cerr << absl::StreamFormat("%s, seed %d: accuracy %.4f, %.3f low-bit\n", name, seed,
                                      last.result.quality.accuracy, last.result.candidates.low_bit_share());
      row.results.push_back(last.result);
    }
  };
  for (const std::string& setting : options.settings) {
    const ControlSettings controls = *NamedControls(setting);
    training->profile.controls = controls;
    const bool is_bounded = controls.budget && controls.low_bit && !options.bounds.empty();
    if (!is_bounded) add_row(setting);
    for (const double bound : is_bounded ? options.bounds : std::vector<double>()) {
      training->profile.exposure.bound = bound;
      add_row(absl::StrFormat("%s, bound %g", setting, bound));
    }
  }
  const absl::Status status = WriteFiles(options, last);
  if (!status.ok()) return status;
  return rows;
}

absl::Status CheckViolations(const std::vector<GuidedRow>& rows) {
  for (const GuidedRow& row : rows) {
    for (const GuidedResult& result : row.results) {
      if (result.all.violations > 0) return absl::InternalError("a route was not the one decided; see the table");
    }
  }
  return absl::OkStatus();
}

absl::Status Measure(const PrecisionOptions& options) {
  const absl::StatusOr<std::vector<GuidedRow>> rows = MakeRows(options);
  if (!rows.ok()) return rows.status();
  std::cout << (options.json ? PrecisionJson(*rows) : PrecisionText(*rows));
  return CheckViolations(*rows);
}

int Main(absl::Span<const std::string> arguments) {
  PrecisionOptions options;
  if (std::optional<int> code = ParsePrecisionOptions(arguments, options, std::cout, std::cerr); code.has_value()) {
    return *code;
  }
  UseOneThread();
  const absl::Status status = Measure(options);
  if (status.ok()) return 0;
  std::cerr << "banyan bench precision: " << status.message() << std::endl;
  return 1;
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  banyan::OpenStandardStreams();
  banyan::OutliveReaders();
  const int code = banyan::Main(std::vector<std::string>(argv + 1, argv + argc));
  return banyan::FinishOutput(code, "banyan bench precision", std::cerr);
}
