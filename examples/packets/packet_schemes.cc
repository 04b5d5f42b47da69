#include "examples/packets/packet_schemes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "compression/kernels/hadamard.h"
#include "compression/kernels/random_bits.h"
#include "core/check.h"
#include "examples/packets/low_rank.h"

namespace banyan {
namespace {

constexpr int kFloatBits = 32;
constexpr int64_t kLongRow = 1 << 15;  // the paper's
constexpr int64_t kShortRow = 4096;    // that of compression/trimmable/
constexpr double kKeptPart = 0.1;
constexpr int64_t kRanks = 16;

double SquareOf(absl::Span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

// `head` is what a sign alone decodes to.
float CutNumber(float value, float head, int bits) {
  return bits == 1 ? std::copysign(head, value) : FirstBits(value, bits);
}

// Signs, and one size for `range` numbers, or for the whole message.
class SignScheme : public PacketScheme {
 public:
  SignScheme(const PacketCuts& cuts, uint64_t seed, int64_t range) : PacketScheme(cuts, seed), range_(range) {}

  void Deliver(absl::Span<float> message) override {
    const size_t range = range_ > 0 ? static_cast<size_t>(range_) : message.size();
    for (size_t first = 0; first < message.size(); first += range) DeliverRange(message.subspan(first, range));
  }

 private:
  void DeliverRange(absl::Span<float> range) {
    const auto size = static_cast<float>(std::sqrt(SquareOf(range) / static_cast<double>(range.size())));
    CountSideBits(kFloatBits);
    for (size_t first = 0; first < range.size(); first += kPacketNumbers) {
      const absl::Span<float> packet = range.subspan(first, kPacketNumbers);
      const auto numbers = static_cast<double>(packet.size());
      if (!IsCut(kFloatBits * numbers, cuts().bits * numbers)) continue;
      for (float& value : packet) value = CutNumber(value, size, cuts().bits);
    }
  }

  const int64_t range_;
};

// Rotated rows, of which each packet is cut for itself, or all or none.
class RhtScheme : public PacketScheme {
 public:
  RhtScheme(const PacketCuts& cuts, uint64_t seed, int64_t row, bool cuts_rows)
      : PacketScheme(cuts, seed), row_(row), cuts_rows_(cuts_rows) {}

  void Deliver(absl::Span<float> message) override {
    for (size_t first = 0; first < message.size(); first += static_cast<size_t>(row_)) {
      DeliverRow(message.subspan(first, static_cast<size_t>(row_)));
    }
  }

 private:
  void DeliverRow(absl::Span<float> values) {
    const RandomKey key = KeyOfBlock(random().Next(), 0);
    std::vector<float> row(std::bit_ceil(values.size()));
    FlipAndTransform(values, key, absl::MakeSpan(row));
    double l1 = 0;
    for (const float value : row) l1 += std::abs(value);
    // Of a number of the transform, which is as many times its own inverse as the row has numbers.
    const float head = l1 > 0 ? static_cast<float>(SquareOf(values) * static_cast<double>(row.size()) / l1) : 0;
    CountSideBits(kFloatBits);
    const size_t packet = cuts_rows_ ? row.size() : kPacketNumbers;
    for (size_t first = 0; first < row.size(); first += packet) {
      const absl::Span<float> numbers = absl::MakeSpan(row).subspan(first, packet);
      const auto count = static_cast<double>(numbers.size());
      if (!IsCut(kFloatBits * count, cuts().bits * count)) continue;
      for (float& value : numbers) value = CutNumber(value, head, cuts().bits);
    }
    Transform(absl::MakeSpan(row));
    FlipInto(row, key, 1 / static_cast<float>(row.size()), values);
  }

  const int64_t row_;
  const bool cuts_rows_;
};

// The largest numbers alone, rotated. Their places go along whole, a bit for each number of the message.
class TopKRhtScheme : public RhtScheme {
 public:
  TopKRhtScheme(const PacketCuts& cuts, uint64_t seed) : RhtScheme(cuts, seed, kLongRow, false) {}

  void Deliver(absl::Span<float> message) override {
    residual_.resize(message.size());
    for (size_t i = 0; i < message.size(); ++i) residual_[i] += message[i];
    std::vector<size_t> order(message.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto kept = static_cast<size_t>(std::ceil(kKeptPart * static_cast<double>(message.size())));
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                     [this](size_t a, size_t b) { return std::abs(residual_[a]) > std::abs(residual_[b]); });
    order.resize(kept);
    std::sort(order.begin(), order.end());
    std::vector<float> values;
    for (const size_t i : order) values.push_back(std::exchange(residual_[i], 0.0f));
    CountSideBits(static_cast<double>(message.size()));
    RhtScheme::Deliver(absl::MakeSpan(values));
    std::fill(message.begin(), message.end(), 0.0f);
    for (size_t i = 0; i < kept; ++i) message[order[i]] = values[i];
  }

 private:
  std::vector<float> residual_;
};

// Rows of the factors of each matrix, some to a packet, and in a packet all rows' first ranks before the next ones.
// Vectors go whole.
class LowRankScheme : public PacketScheme {
 public:
  LowRankScheme(const PacketCuts& cuts, uint64_t seed, const std::vector<PacketTensor>& tensors)
      : PacketScheme(cuts, seed) {
    int64_t first = 0;
    for (const PacketTensor& shape : tensors) {
      const int64_t elements = shape.rows * shape.columns;
      if (shape.rows > 1) {
        matrices_.push_back({first, LowRank(shape.rows, shape.columns, kRanks, random()),
                             std::vector<float>(static_cast<size_t>(elements))});
      } else {
        vector_elements_ += elements;
      }
      first += elements;
    }
  }

  void Deliver(absl::Span<float> message) override {
    CountSideBits(kFloatBits * static_cast<double>(vector_elements_));
    for (Matrix& matrix : matrices_) {
      const absl::Span<float> values = message.subspan(matrix.first, matrix.residual.size());
      for (size_t i = 0; i < values.size(); ++i) matrix.residual[i] += values[i];
      matrix.factors.Approximate(matrix.residual);
      matrix.factors.MultiplyTo(values);
      for (size_t i = 0; i < values.size(); ++i) matrix.residual[i] -= values[i];
      Cut(matrix.factors.ranks(), matrix.factors.left());
      Cut(matrix.factors.ranks(), matrix.factors.right());
      matrix.factors.MultiplyTo(values);
    }
  }

 private:
  struct Matrix {
    int64_t first;  // in the message
    LowRank factors;
    std::vector<float> residual;
  };

  void Cut(int64_t ranks, std::vector<float>& rows) {
    const int64_t left = std::max<int64_t>(1, ranks * cuts().bits / kFloatBits);
    const auto packet = static_cast<size_t>(kPacketNumbers / ranks * ranks);
    for (size_t first = 0; first < rows.size(); first += packet) {
      const size_t numbers = std::min(packet, rows.size() - first);
      const double bits = kFloatBits * static_cast<double>(numbers);
      if (!IsCut(bits, bits * static_cast<double>(left) / static_cast<double>(ranks))) continue;
      for (size_t i = first; i < first + numbers; ++i) {
        if (static_cast<int64_t>(i) % ranks >= left) rows[i] = 0;
      }
    }
  }

  std::vector<Matrix> matrices_;
  int64_t vector_elements_ = 0;
};

}  // namespace

bool PacketScheme::IsCut(double bits, double left_bits) {
  const bool is_cut = random_.Chance(cuts_.share);
  sent_bits_ += bits;
  arrived_bits_ += is_cut ? left_bits : bits;
  return is_cut;
}

void PacketScheme::CountSideBits(double bits) {
  sent_bits_ += bits;
  arrived_bits_ += bits;
}

std::unique_ptr<PacketScheme> MakePacketScheme(absl::string_view name, const std::vector<PacketTensor>& tensors,
                                               const PacketCuts& cuts, uint64_t seed) {
  if (name == "sign") return std::make_unique<SignScheme>(cuts, seed, 0);
  if (name == "sign-rows") return std::make_unique<SignScheme>(cuts, seed, kShortRow);
  if (name == "rht") return std::make_unique<RhtScheme>(cuts, seed, kLongRow, false);
  if (name == "rht-rows") return std::make_unique<RhtScheme>(cuts, seed, kShortRow, true);
  if (name == "topk-rht") return std::make_unique<TopKRhtScheme>(cuts, seed);
  BANYAN_CHECK(name == "low-rank");
  return std::make_unique<LowRankScheme>(cuts, seed, tensors);
}

float FirstBits(float value, int bits) {
  const uint32_t open = (uint32_t{1} << (kFloatBits - bits)) - 1;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) & ~open) | ((open >> 1) + 1));
}

}  // namespace banyan
