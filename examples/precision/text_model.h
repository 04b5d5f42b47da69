// A transformer that tells the next character, as a guided model: blocks of causal attention and two full layers,
// normed before each. Its optimizer is AdamW. Its numbers are a function of the seed, on machines of one kind.
#ifndef BANYAN_EXAMPLES_PRECISION_TEXT_MODEL_H_
#define BANYAN_EXAMPLES_PRECISION_TEXT_MODEL_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "examples/precision/guided_model.h"
#include "examples/precision/text_corpus.h"

namespace banyan {

constexpr int64_t kTextContext = 64;  // characters that the model sees

struct TextModelOptions {
  uint64_t seed = 1;
  int64_t workers = 1;
  int64_t batch = 8;  // sequences of each worker in each round
  int64_t width = 64;
  int64_t heads = 4;
  int64_t layers = 2;
  int64_t measured = 256;  // sequences that are held out
};

class TextModel : public GuidedModel {
 public:
  // `corpus` is cut for as many workers and outlives this. REQUIRES: UseOneThread() was called; each part has more than
  // kTextContext characters; `heads` divides `width`.
  TextModel(const TextModelOptions& options, const TextCorpus& corpus);
  ~TextModel() override;

  absl::Span<const Parameter> parameters() const override;
  double ComputeGradients(int64_t worker, int64_t label_shift) override;
  void ApplyGradients(double learning_rate) override;
  ModelQuality Measure() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_TEXT_MODEL_H_
