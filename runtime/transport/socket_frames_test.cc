#include "runtime/transport/socket_frames.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

class SocketFramesTest : public testing::Test {
 protected:
  void SetUp() override {
    ApplyLimits(SocketLimits(), first_);
    ApplyLimits(SocketLimits(), second_);
    first_.bind("inproc://test");
    second_.connect("inproc://test");
  }

  std::vector<zmq::message_t> Frames(size_t count) {
    std::vector<zmq::message_t> frames;
    for (size_t i = 0; i < count; ++i) frames.emplace_back("abc", 3);
    return frames;
  }

  zmq::context_t context_;
  zmq::socket_t first_{context_, zmq::socket_type::pair};
  zmq::socket_t second_{context_, zmq::socket_type::pair};
};

TEST_F(SocketFramesTest, AMessageArrivesWhole) {
  ReceivedFrames received;
  EXPECT_FALSE(ReceiveFrames(second_, 5, received));
  std::vector<zmq::message_t> frames = Frames(3);
  EXPECT_EQ(SizeOf(frames), 9u);
  EXPECT_EQ(SendFrames(first_, frames), SendResult::kSent);
  ASSERT_TRUE(ReceiveFrames(second_, 5, received));
  EXPECT_EQ(received.frames.size(), 3u);
  EXPECT_FALSE(received.too_many);
  EXPECT_EQ(BytesOf(received.frames[2]), "abc");
  EXPECT_FALSE(ReceiveFrames(second_, 5, received));
}

TEST_F(SocketFramesTest, FramesBeyondTheLimitAreDroppedAndSaid) {
  std::vector<zmq::message_t> frames = Frames(7);
  EXPECT_EQ(SendFrames(first_, frames), SendResult::kSent);
  frames = Frames(1);
  EXPECT_EQ(SendFrames(first_, frames), SendResult::kSent);
  ReceivedFrames received;
  ASSERT_TRUE(ReceiveFrames(second_, 5, received));
  EXPECT_TRUE(received.too_many);
  EXPECT_EQ(received.frames.size(), 5u);
  ASSERT_TRUE(ReceiveFrames(second_, 5, received));
  EXPECT_EQ(received.frames.size(), 1u);
}

TEST_F(SocketFramesTest, AFrameKeepsItsBuffersMemory) {
  std::vector<float> values = {1, 2, 3};
  bool released = false;
  Buffer buffer = Buffer::Wrap(values.data(), values.size(), DataType::kFloat32, MemoryKind::kHost,
                               [&released] { released = true; });
  zmq::message_t frame = FrameOf(buffer.Slice(1, 2));
  buffer = Buffer();
  EXPECT_EQ(frame.data(), &values[1]);
  EXPECT_EQ(frame.size(), 8u);
  EXPECT_FALSE(released);
  frame.rebuild();
  EXPECT_TRUE(released);
  EXPECT_EQ(FrameOf(Buffer()).size(), 0u);
}

TEST_F(SocketFramesTest, ABufferSharesAnAlignedFramesMemoryAndCopiesAnother) {
  alignas(16) char memory[64] = {};
  const float value = 2.5;
  for (size_t offset : {0, 1, 4, 6}) {
    std::memcpy(memory + offset, &value, sizeof(value));
    zmq::message_t frame(memory + offset, 4, nullptr, nullptr);
    const Buffer buffer = BufferOf(std::move(frame));
    EXPECT_EQ(buffer.data() == memory + offset, offset % 4 == 0) << offset;
    EXPECT_EQ(buffer.AsFloats().floats()[0], value);
  }
  EXPECT_TRUE(BufferOf(zmq::message_t()).empty());
}

}  // namespace
}  // namespace banyan
