#include "examples/fashion_mnist/classifier.h"

#include <dlfcn.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>
#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <type_traits>
#include <utility>

namespace banyan {
namespace {

constexpr int64_t kFirstChannels = 16;
constexpr int64_t kSecondChannels = 32;
constexpr int64_t kKernel = 5;
// 28 pixels padded by 2, pooled to 14, cut to 10 by the second kernel, pooled to 5.
constexpr int64_t kFeatures = kSecondChannels * 5 * 5;
constexpr int64_t kTestBatch = 500;

struct Layers : torch::nn::Module {
  explicit Layers(int64_t hidden)
      : conv1(register_module(
            "conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, kFirstChannels, kKernel).padding(kKernel / 2)))),
        conv2(register_module("conv2",
                              torch::nn::Conv2d(torch::nn::Conv2dOptions(kFirstChannels, kSecondChannels, kKernel)))),
        fc1(register_module("fc1", torch::nn::Linear(kFeatures, hidden))),
        fc2(register_module("fc2", torch::nn::Linear(hidden, kClasses))) {}

  torch::Tensor Forward(torch::Tensor images) {
    // Smooth throughout: at a kink (of a ReLU, of a maximum) rounding would decide where a gradient goes. The same
    // samples split differently would not give the same sums.
    torch::Tensor x = torch::silu(torch::avg_pool2d(conv1(images), 2));
    x = torch::silu(torch::avg_pool2d(conv2(x), 2));
    return fc2(torch::silu(fc1(x.flatten(1))));
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Linear fc1, fc2;
};

// A view: `batch` outlives it.
torch::Tensor PixelsOf(const Batch& batch) {
  return torch::from_blob(const_cast<float*>(batch.pixels.data()), {batch.size(), 1, kImageSide, kImageSide},
                          torch::kFloat);
}

torch::Tensor LabelsOf(const Batch& batch) {
  return torch::from_blob(const_cast<int64_t*>(batch.labels.data()), {batch.size()}, torch::kLong);
}

std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(Layers& layers, const ClassifierOptions& options) {
  if (options.adam) {
    return std::make_unique<torch::optim::Adam>(layers.parameters(), torch::optim::AdamOptions(options.learning_rate));
  }
  return std::make_unique<torch::optim::SGD>(layers.parameters(), torch::optim::SGDOptions(options.learning_rate));
}

template <typename Value>
absl::Span<uint8_t> BytesOf(Value* values, int64_t count) {
  return {reinterpret_cast<uint8_t*>(values), static_cast<size_t>(count) * sizeof(Value)};
}

// Where LibTorch keeps what an optimizer knows of a parameter: a text in version 1.13, a pointer in 2.6.
template <typename Key>
Key KeyOf(torch::TensorImpl* parameter) {
  if constexpr (std::is_pointer_v<Key>) {
    return parameter;
  } else {
    std::ostringstream text;
    text << parameter;
    return text.str();
  }
}

using StateMap = std::remove_reference_t<decltype(std::declval<torch::optim::Optimizer&>().state())>;

StateMap::key_type StateKey(const torch::Tensor& parameter) {
  return KeyOf<StateMap::key_type>(parameter.unsafeGetTensorImpl());
}

// Adam begins with this by itself, but only at its first step.
void MakeMoments(const torch::Tensor& parameter, torch::optim::Optimizer& optimizer) {
  auto moments = std::make_unique<torch::optim::AdamParamState>();
  moments->step(0);
  moments->exp_avg(torch::zeros_like(parameter));
  moments->exp_avg_sq(torch::zeros_like(parameter));
  optimizer.state()[StateKey(parameter)] = std::move(moments);
}

}  // namespace

struct Classifier::Network {
  explicit Network(const ClassifierOptions& options)
      : layers(options.hidden), optimizer(MakeOptimizer(layers, options)) {
    for (auto& item : layers.named_parameters()) {
      torch::Tensor& tensor = item.value();
      tensor.mutable_grad() = torch::zeros_like(tensor);
      gradients.emplace_back(tensor.numel());
      const size_t index = tensors.size();
      tensor.register_hook([this, index](torch::Tensor gradient) { TakeGradient(index, gradient); });
      tensors.push_back(tensor);
      if (options.adam) MakeMoments(tensor, *optimizer);
      parameters.push_back({item.key(), absl::MakeSpan(tensor.data_ptr<float>(), tensor.numel()),
                            absl::MakeSpan(gradients.back()), tensor.dim() > 1 ? tensor.size(0) : 1});
    }
  }

  void TakeGradient(size_t index, const torch::Tensor& gradient) {
    const torch::Tensor flat = gradient.contiguous();
    std::copy_n(flat.data_ptr<float>(), flat.numel(), gradients[index].data());
    if (on_gradient) on_gradient(index);
  }

  Layers layers;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::vector<torch::Tensor> tensors;
  std::vector<std::vector<float>> gradients;
  std::vector<Parameter> parameters;
  std::function<void(size_t)> on_gradient;
};

void UseOneThread() {
  // OpenBLAS has threads of its own where LibTorch is linked with it; other BLAS libraries lack the function.
  using SetThreads = void (*)(int);
  if (auto set_threads = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set_threads(1);
  torch::set_num_threads(1);
  torch::set_num_interop_threads(1);
}

Classifier::Classifier(const ClassifierOptions& options) {
  torch::manual_seed(options.seed);
  network_ = std::make_unique<Network>(options);
}

Classifier::~Classifier() = default;

const std::vector<Classifier::Parameter>& Classifier::parameters() const { return network_->parameters; }

double Classifier::ComputeGradients(const Batch& batch, const std::function<void(size_t)>& on_gradient) {
  network_->on_gradient = on_gradient;
  torch::Tensor loss = torch::nn::functional::cross_entropy(network_->layers.Forward(PixelsOf(batch)), LabelsOf(batch));
  loss.backward();
  network_->on_gradient = nullptr;
  return loss.item<float>();
}

void Classifier::SetLearningRate(double learning_rate) {
  for (torch::optim::OptimizerParamGroup& group : network_->optimizer->param_groups()) {
    group.options().set_lr(learning_rate);
  }
}

void Classifier::ApplyGradients() {
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < network_->tensors.size(); ++i) {
    torch::Tensor& tensor = network_->tensors[i];
    tensor.mutable_grad().copy_(torch::from_blob(network_->gradients[i].data(), tensor.sizes(), torch::kFloat));
  }
  network_->optimizer->step();
}

double Classifier::MeasureAccuracy(const ImageSet& images) {
  torch::NoGradGuard no_grad;
  int64_t correct = 0;
  for (int64_t begin = 0; begin < images.size(); begin += kTestBatch) {
    std::vector<int64_t> indices(std::min(kTestBatch, images.size() - begin));
    std::iota(indices.begin(), indices.end(), begin);
    const Batch batch = MakeBatch(images, indices);
    correct += network_->layers.Forward(PixelsOf(batch)).argmax(1).eq(LabelsOf(batch)).sum().item<int64_t>();
  }
  return static_cast<double>(correct) / static_cast<double>(images.size());
}

std::vector<Classifier::StatePiece> Classifier::TrainingState() {
  std::vector<StatePiece> pieces;
  for (size_t i = 0; i < network_->tensors.size(); ++i) {
    const std::string& name = network_->parameters[i].name;
    const absl::Span<float> values = network_->parameters[i].values;
    pieces.push_back({name, BytesOf(values.data(), values.size())});
    const auto found = network_->optimizer->state().find(StateKey(network_->tensors[i]));
    if (found == network_->optimizer->state().end()) continue;
    auto& moments = static_cast<torch::optim::AdamParamState&>(*found->second);
    pieces.push_back({name + ".step", BytesOf(&moments.step(), 1)});
    pieces.push_back({name + ".mean", BytesOf(moments.exp_avg().data_ptr<float>(), moments.exp_avg().numel())});
    pieces.push_back({name + ".square", BytesOf(moments.exp_avg_sq().data_ptr<float>(), moments.exp_avg_sq().numel())});
  }
  return pieces;
}

uint64_t Classifier::HashValues() const {
  uint64_t hash = 0;
  for (const Parameter& parameter : network_->parameters) {
    hash = XXH3_64bits_withSeed(parameter.values.data(), parameter.values.size() * sizeof(float), hash);
  }
  return hash;
}

}  // namespace banyan
