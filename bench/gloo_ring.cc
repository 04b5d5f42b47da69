#include "bench/gloo_ring.h"

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <exception>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr std::chrono::seconds kPatience(120);

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

struct GlooRing::Connection {
  std::shared_ptr<gloo::rendezvous::Context> context;  // shared because Gloo's operations want it so
};

absl::StatusOr<std::unique_ptr<GlooRing>> GlooRing::Connect(int rank, int world, const std::string& directory) {
  auto connection = std::make_unique<Connection>();
  const absl::Status status = Try("connect", [&] {
    gloo::transport::tcp::attr address("127.0.0.1");
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(address);
    gloo::rendezvous::FileStore store(directory);
    connection->context = std::make_shared<gloo::rendezvous::Context>(rank, world);
    connection->context->setTimeout(kPatience);
    connection->context->connectFullMesh(store, device);
  });
  if (!status.ok()) return status;
  return std::unique_ptr<GlooRing>(new GlooRing(std::move(connection)));
}

GlooRing::GlooRing(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

GlooRing::~GlooRing() = default;

absl::Status GlooRing::Barrier() {
  return Try("wait at a barrier", [&] {
    gloo::BarrierOptions options(connection_->context);
    gloo::barrier(options);
  });
}

absl::Status GlooRing::AllReduce(absl::Span<float> values) {
  return Try("reduce", [&] {
    gloo::AllreduceOptions options(connection_->context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        [](void* sum, const void* a, const void* b, size_t count) { gloo::sum<float>(sum, a, b, count); });
    gloo::allreduce(options);
  });
}

}  // namespace banyan
