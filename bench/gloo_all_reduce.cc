#include "bench/gloo_all_reduce.h"

#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr int kDefaultBase = 2;  // Gloo's

// Gloo throws.
absl::Status Try(const char* what, const std::function<void()>& call) {
  try {
    call();
    return absl::OkStatus();
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("Gloo cannot ", what, ": ", error.what()));
  }
}

}  // namespace

struct GlooAllReduce::Connection {
  // Those of Gloo's older interface, which are bound to their memory.
  std::unique_ptr<gloo::Algorithm> Bind(absl::Span<float> values) const {
    const std::vector<float*> memory = {values.data()};
    const int count = static_cast<int>(values.size());
    if (algorithm == GlooAlgorithm::kDirect) {
      return std::make_unique<gloo::AllreduceBcube<float>>(context, memory, count);
    }
    return std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context, memory, count);
  }

  void RunRing(absl::Span<float> values) const {
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        [](void* sum, const void* a, const void* b, size_t count) { gloo::sum<float>(sum, a, b, count); });
    gloo::allreduce(options);
  }

  std::shared_ptr<gloo::rendezvous::Context> context;  // shared because Gloo's operations want it so
  GlooAlgorithm algorithm = GlooAlgorithm::kRing;
  std::unique_ptr<gloo::Algorithm> bound;
};

absl::StatusOr<GlooAlgorithm> ParseGlooAlgorithm(absl::string_view name) {
  if (name == "ring") return GlooAlgorithm::kRing;
  if (name == "halving-doubling") return GlooAlgorithm::kHalvingDoubling;
  if (name == "direct") return GlooAlgorithm::kDirect;
  return absl::InvalidArgumentError(absl::StrCat("expected ring, halving-doubling or direct, got '", name, "'"));
}

absl::StatusOr<std::unique_ptr<GlooAllReduce>> GlooAllReduce::Connect(const GlooOptions& options) {
  auto connection = std::make_unique<Connection>();
  connection->algorithm = options.algorithm;
  const absl::Status status = Try("connect", [&] {
    gloo::transport::tcp::attr address(options.address.c_str());
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(address);
    gloo::rendezvous::FileStore store(options.directory);
    const int base = options.algorithm == GlooAlgorithm::kDirect ? options.world : kDefaultBase;
    connection->context = std::make_shared<gloo::rendezvous::Context>(options.rank, options.world, base);
    connection->context->setTimeout(absl::ToChronoMilliseconds(options.patience));
    connection->context->connectFullMesh(store, device);
  });
  if (!status.ok()) return status;
  return std::unique_ptr<GlooAllReduce>(new GlooAllReduce(std::move(connection)));
}

GlooAllReduce::GlooAllReduce(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

GlooAllReduce::~GlooAllReduce() = default;

absl::Status GlooAllReduce::Barrier() {
  return Try("wait at a barrier", [&] {
    gloo::BarrierOptions options(connection_->context);
    gloo::barrier(options);
  });
}

absl::Status GlooAllReduce::Sum(absl::Span<float> values) {
  return Try("reduce", [&] {
    if (connection_->algorithm == GlooAlgorithm::kRing) return connection_->RunRing(values);
    if (connection_->bound == nullptr) connection_->bound = connection_->Bind(values);
    connection_->bound->run();
  });
}

}  // namespace banyan
