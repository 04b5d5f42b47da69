#include "compression/codecs/sparse_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"
#include "compression/kernels/half_float.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "frames hold the machine's own floats");

// Values between chunk and bytes pass through a piece of this many that stays in the first-level cache.
constexpr int64_t kPiece = 512;

void Gather(const float* values, const uint32_t* indices, int64_t count, float* gathered) {
  for (int64_t i = 0; i < count; ++i) gathered[i] = values[indices[i]];
}

// put(element, value) for each of the indices.
template <typename Put>
void ForEachValue(const uint8_t* bytes, CodecId value_codec, absl::Span<const uint32_t> indices,
                  absl::Span<float> chunk, Put put) {
  const int64_t value_bytes = SparseValueBytes(value_codec);
  const int64_t count = indices.size();
  float piece[kPiece];
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t size = std::min(kPiece, count - first);
    ReadValues(bytes + first * value_bytes, value_codec, absl::MakeSpan(piece, size));
    for (int64_t i = 0; i < size; ++i) put(chunk[indices[first + i]], piece[i]);
  }
}

}  // namespace

absl::Status CheckValueCodec(absl::string_view codec, CodecId value_codec) {
  if (value_codec == CodecId::kFp32 || value_codec == CodecId::kFp16) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("expected values in %s as codec %d or %d, got %d", codec,
                                                    static_cast<int>(CodecId::kFp32), static_cast<int>(CodecId::kFp16),
                                                    static_cast<int>(value_codec)));
}

int64_t SparseValueBytes(CodecId value_codec) {
  BANYAN_CHECK(value_codec == CodecId::kFp32 || value_codec == CodecId::kFp16);
  return value_codec == CodecId::kFp32 ? 4 : 2;
}

void GatherValues(absl::Span<const float> values, absl::Span<const uint32_t> indices, CodecId value_codec,
                  uint8_t* bytes) {
  const int64_t value_bytes = SparseValueBytes(value_codec);
  const int64_t count = indices.size();
  float piece[kPiece];
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t size = std::min(kPiece, count - first);
    Gather(values.data(), indices.data() + first, size, piece);
    WriteValues(absl::MakeConstSpan(piece, size), value_codec, bytes + first * value_bytes);
  }
}

std::vector<float> ValuesAt(absl::Span<const float> values, absl::Span<const uint32_t> indices) {
  std::vector<float> found(indices.size());
  Gather(values.data(), indices.data(), indices.size(), found.data());
  return found;
}

void WriteValues(absl::Span<const float> values, CodecId value_codec, uint8_t* bytes) {
  if (value_codec == CodecId::kFp16) return FloatsToHalves(values, bytes);
  if (!values.empty()) std::memcpy(bytes, values.data(), values.size() * sizeof(float));
}

void ScatterValues(const uint8_t* bytes, CodecId value_codec, absl::Span<const uint32_t> indices,
                   absl::Span<float> chunk) {
  std::fill(chunk.begin(), chunk.end(), 0.0f);
  ForEachValue(bytes, value_codec, indices, chunk, [](float& element, float value) { element = value; });
}

void ScatterAddValues(const uint8_t* bytes, CodecId value_codec, absl::Span<const uint32_t> indices,
                      absl::Span<float> chunk) {
  ForEachValue(bytes, value_codec, indices, chunk, [](float& element, float value) { element += value; });
}

void ReadValues(const uint8_t* bytes, CodecId value_codec, absl::Span<float> chunk) {
  if (value_codec == CodecId::kFp16) return HalvesToFloats(bytes, chunk);
  if (!chunk.empty()) std::memcpy(chunk.data(), bytes, chunk.size() * sizeof(float));
}

void AddValues(const uint8_t* bytes, CodecId value_codec, absl::Span<float> chunk) {
  if (value_codec == CodecId::kFp16) return AddHalvesInto(chunk, bytes);
  AddBytesInto(chunk, absl::MakeConstSpan(bytes, chunk.size() * sizeof(float)));
}

}  // namespace banyan
