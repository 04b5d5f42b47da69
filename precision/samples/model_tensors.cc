#include "precision/samples/model_tensors.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

class TensorWriter {
 public:
  void Linear(const std::string& name, int64_t out, int64_t in) {
    tensors_.push_back({name + ".weight", {out, in}});
    tensors_.push_back({name + ".bias", {out}});
  }
  void Norm(const std::string& name, int64_t width) {
    tensors_.push_back({name + ".weight", {width}});
    tensors_.push_back({name + ".bias", {width}});
  }
  void Table(const std::string& name, int64_t rows, int64_t width) {
    tensors_.push_back({name + ".weight", {rows, width}});
  }
  void Convolution(const std::string& name, int64_t out, int64_t in, int64_t side) {
    tensors_.push_back({name + ".weight", {out, in, side, side}});
  }
  const std::vector<NamedShape>& tensors() const { return tensors_; }

 private:
  std::vector<NamedShape> tensors_;
};

constexpr int64_t kWidth = 768;
constexpr int64_t kInner = 3072;
constexpr int64_t kWords = 30522;
constexpr int64_t kPositions = 512;

// Two convolutions, and where the number of channels changes a third beside them.
void WriteBlock(const std::string& at, int64_t in, int64_t out, TensorWriter& model) {
  model.Convolution(at + "conv1", out, in, 3);
  model.Norm(at + "bn1", out);
  model.Convolution(at + "conv2", out, out, 3);
  model.Norm(at + "bn2", out);
  if (in == out) return;
  model.Convolution(at + "downsample.0", out, in, 1);
  model.Norm(at + "downsample.1", out);
}

}  // namespace

std::vector<NamedShape> ResNet18Tensors(int64_t classes) {
  constexpr int64_t kChannels[] = {64, 128, 256, 512};
  TensorWriter model;
  model.Convolution("conv1", kChannels[0], 3, 3);
  model.Norm("bn1", kChannels[0]);
  int64_t in = kChannels[0];
  for (int layer = 0; layer < 4; ++layer) {
    for (int block = 0; block < 2; ++block) {
      WriteBlock(absl::StrCat("layer", layer + 1, ".", block, "."), in, kChannels[layer], model);
      in = kChannels[layer];
    }
  }
  model.Linear("fc", classes, in);
  return model.tensors();
}

std::vector<NamedShape> DistilBertTensors() {
  TensorWriter model;
  model.Table("distilbert.embeddings.word_embeddings", kWords, kWidth);
  model.Table("distilbert.embeddings.position_embeddings", kPositions, kWidth);
  model.Norm("distilbert.embeddings.LayerNorm", kWidth);
  for (int layer = 0; layer < 6; ++layer) {
    const std::string at = absl::StrCat("distilbert.transformer.layer.", layer, ".");
    for (const char* part : {"q_lin", "k_lin", "v_lin", "out_lin"})
      model.Linear(at + "attention." + part, kWidth, kWidth);
    model.Norm(at + "sa_layer_norm", kWidth);
    model.Linear(at + "ffn.lin1", kInner, kWidth);
    model.Linear(at + "ffn.lin2", kWidth, kInner);
    model.Norm(at + "output_layer_norm", kWidth);
  }
  model.Linear("pre_classifier", kWidth, kWidth);
  model.Linear("classifier", 2, kWidth);
  return model.tensors();
}

std::vector<NamedShape> BertBaseTensors() {
  TensorWriter model;
  model.Table("bert.embeddings.word_embeddings", kWords, kWidth);
  model.Table("bert.embeddings.position_embeddings", kPositions, kWidth);
  model.Table("bert.embeddings.token_type_embeddings", 2, kWidth);
  model.Norm("bert.embeddings.LayerNorm", kWidth);
  for (int layer = 0; layer < 12; ++layer) {
    const std::string at = absl::StrCat("bert.encoder.layer.", layer, ".");
    for (const char* part : {"query", "key", "value"}) model.Linear(at + "attention.self." + part, kWidth, kWidth);
    model.Linear(at + "attention.output.dense", kWidth, kWidth);
    model.Norm(at + "attention.output.LayerNorm", kWidth);
    model.Linear(at + "intermediate.dense", kInner, kWidth);
    model.Linear(at + "output.dense", kWidth, kInner);
    model.Norm(at + "output.LayerNorm", kWidth);
  }
  model.Linear("bert.pooler.dense", kWidth, kWidth);
  model.Linear("classifier", 2, kWidth);
  return model.tensors();
}

std::vector<NamedShape> PythiaTensors(int64_t layers, int64_t width, int64_t vocabulary) {
  TensorWriter model;
  model.Table("gpt_neox.embed_in", vocabulary, width);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string at = absl::StrCat("gpt_neox.layers.", layer, ".");
    model.Norm(at + "input_layernorm", width);
    model.Norm(at + "post_attention_layernorm", width);
    model.Linear(at + "attention.query_key_value", 3 * width, width);
    model.Linear(at + "attention.dense", width, width);
    model.Linear(at + "mlp.dense_h_to_4h", 4 * width, width);
    model.Linear(at + "mlp.dense_4h_to_h", width, 4 * width);
  }
  model.Norm("gpt_neox.final_layer_norm", width);
  model.Table("embed_out", vocabulary, width);
  return model.tensors();
}

}  // namespace banyan
