#include "examples/precision/residual_model.h"

#include <torch/nn.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace banyan {
namespace {

namespace nn = torch::nn;

constexpr int64_t kChannels[] = {16, 32, 64};
constexpr int64_t kTestBatch = 500;
// Of the running statistics: about the last ten rounds of all workers.
constexpr double kStatisticsPart = 0.01;

nn::Conv2d Convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

nn::BatchNorm2d Norm(int64_t channels) {
  return nn::BatchNorm2d(nn::BatchNorm2dOptions(channels).momentum(kStatisticsPart));
}

struct Residual : nn::Module {
  Residual(int64_t in, int64_t out, int64_t stride)
      : conv1(register_module("conv1", Convolution(in, out, 3, stride))),
        conv2(register_module("conv2", Convolution(out, out, 3, 1))),
        norm1(register_module("norm1", Norm(out))),
        norm2(register_module("norm2", Norm(out))) {
    if (in == out && stride == 1) return;
    shortcut = register_module("shortcut", Convolution(in, out, 1, stride));
    shortcut_norm = register_module("shortcut_norm", Norm(out));
  }

  torch::Tensor Forward(const torch::Tensor& x) {
    const torch::Tensor change = norm2(conv2(torch::relu(norm1(conv1(x)))));
    return torch::relu(change + (shortcut.is_empty() ? x : shortcut_norm(shortcut(x))));
  }

  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d norm1, norm2;
  nn::Conv2d shortcut = nullptr;
  nn::BatchNorm2d shortcut_norm = nullptr;
};

struct Network : nn::Module {
  Network()
      : stem(register_module("stem", Convolution(1, kChannels[0], 3, 2))),
        norm(register_module("norm", Norm(kChannels[0]))),
        head(register_module("head", nn::Linear(kChannels[2], kClasses))) {
    int64_t in = kChannels[0];
    for (const int64_t out : kChannels) {
      blocks.push_back(register_module("block" + std::to_string(blocks.size()),
                                       std::make_shared<Residual>(in, out, in == out ? 1 : 2)));
      in = out;
    }
  }

  torch::Tensor Forward(torch::Tensor x) {
    x = torch::relu(norm(stem(x)));
    for (const std::shared_ptr<Residual>& block : blocks) x = block->Forward(x);
    return head(x.mean({2, 3}));
  }

  nn::Conv2d stem;
  nn::BatchNorm2d norm;
  std::vector<std::shared_ptr<Residual>> blocks;
  nn::Linear head;
};

// Views: `batch` outlives them.
torch::Tensor PixelsOf(const Batch& batch) {
  return torch::from_blob(const_cast<float*>(batch.pixels.data()), {batch.size(), 1, kImageSide, kImageSide},
                          torch::kFloat);
}

torch::Tensor LabelsOf(const Batch& batch) {
  return torch::from_blob(const_cast<int64_t*>(batch.labels.data()), {batch.size()}, torch::kLong);
}

}  // namespace

struct ResidualModel::State {
  State(const ImageModelOptions& options, const ImageSet& training_images, const ImageSet& test_images)
      : test_images(test_images),
        shards(options, training_images),
        optimizer(network.parameters(), torch::optim::SGDOptions(1).momentum(options.momentum)) {
    for (auto& item : network.named_parameters()) {
      tensors.push_back(item.value());
      tensors.back().mutable_grad() = torch::zeros_like(tensors.back());
      gradients.emplace_back(static_cast<size_t>(tensors.back().numel()));
      parameters.push_back({item.key(), absl::MakeSpan(gradients.back()),
                            absl::MakeSpan(tensors.back().data_ptr<float>(), gradients.back().size()),
                            tensors.back().dim() > 1 ? tensors.back().size(0) : 1});
    }
  }

  const ImageSet& test_images;
  ImageShards shards;
  Network network;
  torch::optim::SGD optimizer;
  std::vector<torch::Tensor> tensors;
  std::vector<std::vector<float>> gradients;
  std::vector<Parameter> parameters;
};

ResidualModel::ResidualModel(const ImageModelOptions& options, const ImageSet& training_images,
                             const ImageSet& test_images) {
  torch::manual_seed(options.seed);
  state_ = std::make_unique<State>(options, training_images, test_images);
}

ResidualModel::~ResidualModel() = default;

absl::Span<const GuidedModel::Parameter> ResidualModel::parameters() const { return state_->parameters; }

double ResidualModel::ComputeGradients(int64_t worker, int64_t label_shift) {
  const Batch batch = state_->shards.Next(worker, label_shift);
  const torch::Tensor loss = nn::functional::cross_entropy(state_->network.Forward(PixelsOf(batch)), LabelsOf(batch));
  loss.backward();
  for (size_t i = 0; i < state_->tensors.size(); ++i) {
    torch::Tensor& gradient = state_->tensors[i].mutable_grad();
    const torch::Tensor flat = gradient.contiguous();
    std::copy_n(flat.data_ptr<float>(), flat.numel(), state_->gradients[i].data());
    gradient.zero_();
  }
  return loss.item<float>();
}

void ResidualModel::ApplyGradients(double learning_rate) {
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < state_->tensors.size(); ++i) {
    torch::Tensor& tensor = state_->tensors[i];
    tensor.mutable_grad().copy_(torch::from_blob(state_->gradients[i].data(), tensor.sizes(), torch::kFloat));
  }
  for (torch::optim::OptimizerParamGroup& group : state_->optimizer.param_groups()) {
    group.options().set_lr(learning_rate);
  }
  state_->optimizer.step();
  for (torch::Tensor& tensor : state_->tensors) tensor.mutable_grad().zero_();
}

ModelQuality ResidualModel::Measure() {
  torch::NoGradGuard no_grad;
  state_->network.eval();
  const ImageSet& images = state_->test_images;
  int64_t told = 0;
  for (int64_t begin = 0; begin < images.size(); begin += kTestBatch) {
    std::vector<int64_t> indices(static_cast<size_t>(std::min(kTestBatch, images.size() - begin)));
    std::iota(indices.begin(), indices.end(), begin);
    const Batch batch = MakeBatch(images, indices);
    told += state_->network.Forward(PixelsOf(batch)).argmax(1).eq(LabelsOf(batch)).sum().item<int64_t>();
  }
  state_->network.train();
  return {static_cast<double>(told) / static_cast<double>(images.size())};
}

}  // namespace banyan
