#include "examples/precision/text_model.h"

#include <torch/nn.h>
#include <torch/optim/adamw.h>
#include <torch/utils.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"

namespace banyan {
namespace {

namespace nn = torch::nn;

constexpr double kInitialDeviation = 0.02;
constexpr int64_t kMeasuredAtOnce = 64;

// x (batch, length, width) -> the same shape.
struct Block : nn::Module {
  Block(int64_t width, int64_t heads)
      : heads(heads),
        norm1(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})))),
        norm2(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})))),
        qkv(register_module("qkv", nn::Linear(width, 3 * width))),
        project(register_module("project", nn::Linear(width, width))),
        widen(register_module("widen", nn::Linear(width, 4 * width))),
        narrow(register_module("narrow", nn::Linear(4 * width, width))) {}

  torch::Tensor Forward(torch::Tensor x, const torch::Tensor& future) {
    const int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
    const torch::Tensor parts =
        qkv(norm1(x)).view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).contiguous();
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
    const torch::Tensor scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) * scale + future;
    const torch::Tensor seen = torch::matmul(torch::softmax(scores, -1), parts[2]);
    x = x + project(seen.transpose(1, 2).reshape({batch, length, width}));
    return x + narrow(torch::gelu(widen(norm2(x))));
  }

  const int64_t heads;
  nn::LayerNorm norm1, norm2;
  nn::Linear qkv, project, widen, narrow;
};

// (batch, length) numbers of characters -> (batch, length, characters) logits of the next ones.
struct Transformer : nn::Module {
  Transformer(const TextModelOptions& options, int64_t characters)
      : character_embedding(register_module("character_embedding", nn::Embedding(characters, options.width))),
        position_embedding(register_module("position_embedding", nn::Embedding(kTextContext, options.width))),
        norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({options.width})))),
        head(register_module("head", nn::Linear(nn::LinearOptions(options.width, characters).bias(false)))),
        future(torch::full({kTextContext, kTextContext}, -std::numeric_limits<float>::infinity()).triu(1)) {
    for (int64_t layer = 0; layer < options.layers; ++layer) {
      blocks.push_back(
          register_module("block" + std::to_string(layer), std::make_shared<Block>(options.width, options.heads)));
    }
    torch::NoGradGuard no_grad;
    for (torch::Tensor& tensor : parameters()) {
      if (tensor.dim() == 2) tensor.normal_(0, kInitialDeviation);
    }
  }

  torch::Tensor Forward(const torch::Tensor& characters) {
    torch::Tensor x = character_embedding(characters) + position_embedding(torch::arange(kTextContext));
    for (const std::shared_ptr<Block>& block : blocks) x = block->Forward(x, future);
    return head(norm(x));
  }

  nn::Embedding character_embedding, position_embedding;
  std::vector<std::shared_ptr<Block>> blocks;
  nn::LayerNorm norm;
  nn::Linear head;
  torch::Tensor future;  // added to scores: no character sees what comes after it
};

// Sequences, and for each place the character that follows, (batch, kTextContext) both.
struct TextBatch {
  torch::Tensor seen;
  torch::Tensor next;
};

TextBatch TakeSequences(absl::Span<const int64_t> text, const std::vector<size_t>& starts) {
  const auto size = static_cast<int64_t>(starts.size());
  TextBatch batch{torch::empty({size, kTextContext}, torch::kLong), torch::empty({size, kTextContext}, torch::kLong)};
  for (int64_t i = 0; i < size; ++i) {
    const absl::Span<const int64_t> from = text.subspan(starts[static_cast<size_t>(i)]);
    std::copy_n(from.begin(), kTextContext, batch.seen[i].data_ptr<int64_t>());
    std::copy_n(from.begin() + 1, kTextContext, batch.next[i].data_ptr<int64_t>());
  }
  return batch;
}

torch::Tensor LossOf(const torch::Tensor& logits, const torch::Tensor& next) {
  return nn::functional::cross_entropy(logits.flatten(0, 1), next.flatten());
}

// How many sequences begin in `text`.
uint64_t StartsIn(absl::Span<const int64_t> text) { return text.size() - static_cast<size_t>(kTextContext); }

}  // namespace

struct TextModel::State {
  State(const TextModelOptions& options, const TextCorpus& corpus)
      : options(options),
        corpus(corpus),
        network(options, corpus.characters()),
        optimizer(network.parameters(),
                  torch::optim::AdamWOptions().betas(std::make_tuple(0.9, 0.99)).weight_decay(0.1)) {
    Random random(options.seed);
    for (int64_t worker = 0; worker < options.workers; ++worker) draws.push_back(random.Fork());
    for (auto& item : network.named_parameters()) {
      tensors.push_back(item.value());
      tensors.back().mutable_grad() = torch::zeros_like(tensors.back());
      gradients.emplace_back(static_cast<size_t>(tensors.back().numel()));
      parameters.push_back({item.key(), absl::MakeSpan(gradients.back()),
                            absl::MakeSpan(tensors.back().data_ptr<float>(), gradients.back().size()),
                            tensors.back().dim() > 1 ? tensors.back().size(0) : 1});
    }
  }

  const TextModelOptions options;
  const TextCorpus& corpus;
  Transformer network;
  torch::optim::AdamW optimizer;
  std::vector<Random> draws;  // of sequences, by worker
  std::vector<torch::Tensor> tensors;
  std::vector<std::vector<float>> gradients;
  std::vector<Parameter> parameters;
};

TextModel::TextModel(const TextModelOptions& options, const TextCorpus& corpus) {
  torch::manual_seed(options.seed);
  state_ = std::make_unique<State>(options, corpus);
}

TextModel::~TextModel() = default;

absl::Span<const GuidedModel::Parameter> TextModel::parameters() const { return state_->parameters; }

double TextModel::ComputeGradients(int64_t worker, int64_t label_shift) {
  const absl::Span<const int64_t> text = state_->corpus.part(worker);
  std::vector<size_t> starts(static_cast<size_t>(state_->options.batch));
  for (size_t& start : starts) start = state_->draws[static_cast<size_t>(worker)].Below(StartsIn(text));
  TextBatch batch = TakeSequences(text, starts);
  if (label_shift != 0) batch.next = (batch.next + label_shift) % state_->corpus.characters();
  const torch::Tensor loss = LossOf(state_->network.Forward(batch.seen), batch.next);
  loss.backward();
  for (size_t i = 0; i < state_->tensors.size(); ++i) {
    torch::Tensor& gradient = state_->tensors[i].mutable_grad();
    std::copy_n(gradient.data_ptr<float>(), gradient.numel(), state_->gradients[i].data());
    gradient.zero_();
  }
  return loss.item<float>();
}

void TextModel::ApplyGradients(double learning_rate) {
  for (size_t i = 0; i < state_->tensors.size(); ++i) {
    std::copy(state_->gradients[i].begin(), state_->gradients[i].end(),
              state_->tensors[i].mutable_grad().data_ptr<float>());
  }
  for (torch::optim::OptimizerParamGroup& group : state_->optimizer.param_groups()) {
    group.options().set_lr(learning_rate);
  }
  state_->optimizer.step();
  for (torch::Tensor& tensor : state_->tensors) tensor.mutable_grad().zero_();
}

ModelQuality TextModel::Measure() {
  torch::NoGradGuard no_grad;
  const absl::Span<const int64_t> text = state_->corpus.held_out();
  const int64_t measured = state_->options.measured;
  double loss = 0, told = 0;
  for (int64_t begin = 0; begin < measured; begin += kMeasuredAtOnce) {
    const int64_t end = std::min(measured, begin + kMeasuredAtOnce);
    std::vector<size_t> starts;
    for (int64_t i = begin; i < end; ++i) {
      starts.push_back(static_cast<size_t>(i) * StartsIn(text) / static_cast<size_t>(measured));
    }
    const TextBatch batch = TakeSequences(text, starts);
    const torch::Tensor logits = state_->network.Forward(batch.seen);
    const double part = static_cast<double>(end - begin) / static_cast<double>(measured);
    loss += part * LossOf(logits, batch.next).item<float>();
    told += part * logits.argmax(-1).eq(batch.next).to(torch::kDouble).mean().item<double>();
  }
  return {told, loss};
}

}  // namespace banyan
