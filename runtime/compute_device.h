// The device of `banyan node --device`: a GPU, or the emulated one, as the place where a node's computations encode,
// decode and add chunks. The processor does, with the same bits, what the device has no kernels for, what is too small
// for it, and what it has no memory for; after another error of the device it does everything, and the log says so.
//
//   absl::StatusOr<std::unique_ptr<ComputeDevice>> device = ComputeDevice::Open("cuda:0", log);
//
// Thread-safe; owned by the process's main, and outlives the node.
//
// Invariants:
// - One computation at a time is on the device.
#ifndef BANYAN_RUNTIME_COMPUTE_DEVICE_H_
#define BANYAN_RUNTIME_COMPUTE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compression/chunk_device.h"
#include "compression/cuda/device.h"
#include "protocol/action.h"

namespace banyan {

class ComputeDevice : public ChunkDevice {
 public:
  using Log = std::function<void(LogLevel level, absl::string_view text)>;

  // Chunks of so many bytes at most are the processor's, and a node's protocol thread's: starting a GPU and waking
  // another thread cost more.
  static constexpr int64_t kBriefBytes = int64_t{64} << 10;

  // Returns INVALID_ARGUMENT unless the name is `cpu`, `emulated` or `cuda:N`.
  static absl::Status CheckName(absl::string_view name);
  // Null for `cpu`. FAILED_PRECONDITION for a GPU when this program was built without CUDA; NOT_FOUND when the machine
  // has none of that number. REQUIRES: CheckName() is OK.
  static absl::StatusOr<std::unique_ptr<ComputeDevice>> Open(const std::string& name, Log log);

  // `name` is what the log calls it.
  ComputeDevice(std::string name, std::unique_ptr<Device> device, Log log)
      : name_(std::move(name)), device_(std::move(device)), log_(std::move(log)) {}

  CheckedChunk Encode(const Encoding& encoding, const Buffer& values, uint32_t weight) const override;
  void Add(absl::Span<const CheckedChunk> chunks, bool is_fresh, Buffer& sum) const override;

  // Logs what the device has done so far.
  void LogWork() const;

 private:
  // Does the work on the device and counts it in `done`; false after an error.
  bool Try(int64_t* done, absl::FunctionRef<absl::Status(Device&)> work) const;

  const std::string name_;
  const std::unique_ptr<Device> device_;
  const Log log_;
  mutable std::mutex mutex_;  // guards the device and what follows
  mutable bool is_lost_ = false;
  mutable int64_t encoded_ = 0;
  mutable int64_t sums_ = 0;
  mutable int64_t out_of_memory_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_COMPUTE_DEVICE_H_
