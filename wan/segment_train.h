// A packet on its way, as the emulated network knows it: how many wire segments it is, which of them still live, and
// where it goes. A packet that the kernel has not cut into segments yet (segmentation offload) travels as a train of
// them. So one lost segment does not cost the others. A value; thread-compatible.
#ifndef BANYAN_WAN_SEGMENT_TRAIN_H_
#define BANYAN_WAN_SEGMENT_TRAIN_H_

#include <bit>
#include <cstdint>

namespace banyan {

inline constexpr int kMaxTrainSegments = 64;

struct SegmentTrain {
  uint32_t packet = 0;         // whose bytes these are: a slot that the driver knows
  uint16_t first_segment = 0;  // of the train in its packet
  uint8_t segments = 1;        // 1..kMaxTrainSegments
  uint8_t hop = 0;             // of its route
  uint32_t route = 0;          // index in the forwarding core
  uint32_t segment_bytes = 0;  // on the wire, of every segment but the last
  uint32_t last_bytes = 0;     // of the last one
  uint64_t alive = 1;          // bit i: segment i has been neither dropped nor lost
  // Of a train of one segment: a queue may cut it, and has.
  bool is_trimmable = false;
  bool is_trimmed = false;

  int CountAlive() const { return std::popcount(alive); }
  uint32_t BytesOf(int segment) const { return segment + 1 == segments ? last_bytes : segment_bytes; }

  // Returns the bytes of the living segments on the wire.
  int64_t WireBytes() const {
    const uint64_t last = uint64_t{1} << (segments - 1);
    const int64_t full = int64_t{segment_bytes} * std::popcount(alive & ~last);
    return full + ((alive & last) != 0 ? last_bytes : 0);
  }
};

// The mask of a train without losses.
inline uint64_t AllAlive(int segments) {
  return segments == kMaxTrainSegments ? ~uint64_t{0} : (uint64_t{1} << segments) - 1;
}

// A train of one segment of this size.
inline SegmentTrain SingleSegment(uint32_t packet, uint32_t bytes) {
  SegmentTrain train;
  train.packet = packet;
  train.segment_bytes = bytes;
  train.last_bytes = bytes;
  return train;
}

}  // namespace banyan

#endif  // BANYAN_WAN_SEGMENT_TRAIN_H_
