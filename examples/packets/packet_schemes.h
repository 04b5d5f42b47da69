// Gradients in packets of 365 numbers that switches cut, and of which nothing comes back: the setting of "When ML
// Training Cuts Through Congestion" (Chen, Vargaftik, Ben Basat, HotNets 2024), and what its section 5 leaves open. A
// study: jobs send chunks by the codecs of compression/trimmable/, whose cuts come back in a later round.
#ifndef BANYAN_EXAMPLES_PACKETS_PACKET_SCHEMES_H_
#define BANYAN_EXAMPLES_PACKETS_PACKET_SCHEMES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/random.h"

namespace banyan {

inline constexpr int64_t kPacketNumbers = 365;

// Which packets are cut, and to what.
struct PacketCuts {
  double share = 0;
  // What a cut leaves of each number's 32 bits: its sign, 1, or at least 9 from the top. Of factors it leaves that part
  // of the ranks, one at least.
  int bits = 1;
};

// A vector has one row.
struct PacketTensor {
  int64_t rows = 1;
  int64_t columns = 0;
};

// A sender with its receiver. Thread-compatible.
class PacketScheme {
 public:
  virtual ~PacketScheme() = default;

  // Makes of `message`, all tensors one after the other, what the receiver decodes.
  virtual void Deliver(absl::Span<float> message) = 0;

  // Of all messages; side information is not cut, and counts.
  double sent_bits() const { return sent_bits_; }
  double arrived_bits() const { return arrived_bits_; }

 protected:
  PacketScheme(const PacketCuts& cuts, uint64_t seed) : cuts_(cuts), random_(seed) {}

  const PacketCuts& cuts() const { return cuts_; }
  Random& random() { return random_; }
  // Whether the next packet is cut; counts its bits, and those that a cut would leave of them.
  bool IsCut(double bits, double left_bits);
  void CountSideBits(double bits);

 private:
  const PacketCuts cuts_;
  Random random_;
  double sent_bits_ = 0;
  double arrived_bits_ = 0;
};

// What MakePacketScheme knows, by the names of tools/packet_benchmark:
//   sign       heads are signs, one root mean square for the message, as the paper has it
//   sign-rows  one for every 4,096 numbers, as codec trim_sign has it
//   rht        rows of 2^15 are rotated (randomized Hadamard transform), each packet of a row is cut for itself
//   rht-rows   rows of 4,096, of which a cut takes all tails, as codec trim_rht has it
//   topk-rht   a tenth of the numbers, the largest, is rotated and sent as rht; the rest stays with the sender
//   low-rank   matrices as 16 ranks, the largest eigenvalue first in each packet; the rest stays with the sender
// REQUIRES: a known name.
std::unique_ptr<PacketScheme> MakePacketScheme(absl::string_view name, const std::vector<PacketTensor>& tensors,
                                               const PacketCuts& cuts, uint64_t seed);

// The first `bits` of `value`, and the middle of what they leave open. REQUIRES: 9 <= bits < 32.
float FirstBits(float value, int bits);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PACKETS_PACKET_SCHEMES_H_
