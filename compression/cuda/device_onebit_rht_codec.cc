#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device_codec.h"
#include "compression/cuda/device_work.h"
#include "compression/kernels/sign_layout.h"

namespace banyan {
namespace {

constexpr int64_t kSeedBytes = sizeof(uint64_t);

int64_t ScaleBytes(const RhtLayout& layout) { return layout.rows * static_cast<int64_t>(sizeof(float)); }

// Rows that are longer than a tile of the first kernel; they come first.
int64_t LongRows(int64_t elements) {
  int64_t rows = elements / kLongestRhtRow;
  for (int64_t left = elements % kLongestRhtRow; left > 0; left -= NextRhtRowSize(left)) {
    rows += NextRhtRowSize(left) > TransformTilesKernel::kTile;
  }
  return rows;
}

// All strides of all rows; `tiles` says of what.
void Transform(TransformTilesKernel tiles, DeviceWork& work) {
  work.RunOver(tiles.row_elements, TransformTilesKernel::kTile, tiles);
  work.RunOver(LongRows(tiles.elements) * TransformAcrossKernel::kTile, TransformAcrossKernel::kThreads,
               TransformAcrossKernel{.elements = tiles.elements, .rows = tiles.rows});
}

void WriteSeed(uint64_t seed, uint8_t* to, DeviceWork& work) {
  WriteBytesKernel write{.count = kSeedBytes, .to = to};
  std::memcpy(write.bytes, &seed, sizeof(seed));
  work.RunBlocks(1, write);
}

// One bit after a randomized Hadamard transform on a device: the frames of onebit_rht_codec.cc. The order of a row's
// sums lets sixteen threads at a time work on each of them. Stateless, hence thread-safe on distinct devices.
class OneBitRhtOnDevice : public DeviceCodec {
 public:
  CodecId id() const override { return CodecId::kOneBitRht; }
  absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding& encoding,
                                Device& device) const override {
    const RhtLayout layout = RhtLayoutOf(elements);
    DeviceWork work(device);
    Buffer frame = work.NewBuffer(kSeedBytes + ScaleBytes(layout) + layout.sign_bytes, DataType::kByte);
    float* const rows = work.New<float>(layout.row_elements);
    if (!work.ok()) return work.status();
    uint8_t* const bytes = static_cast<uint8_t*>(frame.mutable_data());
    uint8_t* const scales = bytes + kSeedBytes;
    WriteSeed(encoding.seed, bytes, work);
    Transform({.elements = elements,
               .row_elements = layout.row_elements,
               .seed = encoding.seed,
               .values = values,
               .rows = rows},
              work);
    work.RunBlocks(layout.rows,
                   ScaleRowsKernel{.values = values, .elements = elements, .rows = rows, .scales = scales});
    const PackRowsKernel pack{.rows = rows,
                              .elements = elements,
                              .row_elements = layout.row_elements,
                              .scales = scales,
                              .signs = scales + ScaleBytes(layout)};
    work.RunOver(pack.Units(), PackRowsKernel::kThreads, pack);
    if (!work.ok()) return work.status();
    return frame;
  }

  absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const override {
    const RhtLayout layout = RhtLayoutOf(frame.elements);
    const uint8_t* const scales = static_cast<const uint8_t*>(frame.device.data()) + kSeedBytes;
    uint64_t seed = 0;
    std::memcpy(&seed, frame.host.data(), sizeof(seed));
    DeviceWork work(device);
    float* const rows = work.New<float>(layout.row_elements);
    Transform({.elements = frame.elements,
               .row_elements = layout.row_elements,
               .signs = scales + ScaleBytes(layout),
               .rows = rows},
              work);
    work.RunOver(frame.elements, FlipRowsKernel::kThreads,
                 FlipRowsKernel{.rows = rows,
                                .elements = frame.elements,
                                .seed = seed,
                                .scales = scales,
                                .add = into == Into::kAdd,
                                .out = out});
    return work.status();
  }
};

}  // namespace

const DeviceCodec& DeviceOneBitRhtCodec() {
  static const OneBitRhtOnDevice codec;
  return codec;
}

}  // namespace banyan
