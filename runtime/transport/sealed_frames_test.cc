#include "runtime/transport/sealed_frames.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/transport/socket_frames.h"

namespace banyan {
namespace {

using Frames = std::vector<zmq::message_t>;

AeadKey CountingKey() {
  AeadKey key;
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(i);
  return key;
}

Frames FramesWith(const std::vector<std::string>& texts) {
  Frames frames;
  for (const std::string& text : texts) frames.emplace_back(text.data(), text.size());
  return frames;
}

std::vector<std::string> TextsOf(const Frames& frames) {
  std::vector<std::string> texts;
  for (const zmq::message_t& frame : frames) texts.emplace_back(BytesOf(frame));
  return texts;
}

Frames CopyOf(const Frames& frames) { return FramesWith(TextsOf(frames)); }

class SealedFramesTest : public testing::TestWithParam<Aead> {
 protected:
  FrameSealer sealer_{GetParam(), CountingKey()};
  FrameOpener opener_{GetParam(), CountingKey()};
};

INSTANTIATE_TEST_SUITE_P(OfBoth, SealedFramesTest, testing::Values(Aead::kAes256Gcm, Aead::kChaCha20Poly1305));

// Computed by another implementation (Python's `cryptography`): key 00 to 1f, nonces 0, 1, 2, associated data 01, 00,
// 00.
TEST(SealedFramesVectorsTest, WhatIsOnTheWireIsTheStandards) {
  const std::vector<std::pair<Aead, std::vector<std::string>>> vectors = {
      {Aead::kAes256Gcm,
       {"66d9d4bad05e94f12c4dab039e108c18c6a6ba282d37",
        "65b7c6902b95543e6148715f80c95b836660842ddf965a6e13d3c070eee538e1f8", "1a8cc9f837c125bcdc2b6804add7fc67"}},
      {Aead::kChaCha20Poly1305,
       {"70dd2355c894f0bf9b1553cd9ee188ac950182ee9623",
        "193d05b55e6bdc5a42175e49df7b766663b2b4dfe29fd6a910b07bc59936805bbc", "877c0500245940e437b6e671f2e01b5e"}}};
  for (const auto& [aead, expected] : vectors) {
    FrameSealer sealer(aead, CountingKey());
    std::vector<std::string> sealed;
    for (const std::vector<std::string>& message :
         {std::vector<std::string>{"header", "payload of floats"}, std::vector<std::string>{""}}) {
      Frames frames = FramesWith(message);
      sealer.Seal(frames);
      for (const std::string& text : TextsOf(frames)) sealed.push_back(absl::BytesToHexString(text));
    }
    EXPECT_EQ(sealed, expected);
  }
}

TEST_P(SealedFramesTest, MessagesComeBackInTheirOrder) {
  const std::vector<std::vector<std::string>> messages = {
      {"header", std::string(1 << 20, 'x'), ""}, {""}, {"h"}, {"a", "b"}};
  for (const std::vector<std::string>& message : messages) {
    Frames frames = FramesWith(message);
    sealer_.Seal(frames);
    ASSERT_TRUE(opener_.Open(frames).ok());
    EXPECT_EQ(TextsOf(frames), message);
  }
}

TEST_P(SealedFramesTest, NothingOfAFrameIsSeen) {
  const std::string text(1000, 'x');
  Frames frames = FramesWith({text, text});
  sealer_.Seal(frames);
  const std::vector<std::string> sealed = TextsOf(frames);
  EXPECT_EQ(sealed[0].find("xxxx"), std::string::npos);
  EXPECT_NE(sealed[0], sealed[1]);
}

// Each way in which somebody between two nodes may change what crosses.
TEST_P(SealedFramesTest, WhatWasChangedOnItsWayDoesNotOpen) {
  Frames first = FramesWith({"header", "payload"});
  Frames second = FramesWith({"header", "payload"});
  sealer_.Seal(first);
  sealer_.Seal(second);
  const std::vector<std::string> texts = TextsOf(first);
  std::vector<std::vector<std::string>> changed;
  for (size_t frame = 0; frame < texts.size(); ++frame) {
    for (size_t i = 0; i < texts[frame].size(); ++i) {
      changed.push_back(texts);
      changed.back()[frame][i] ^= 1;
    }
    changed.push_back(texts);
    changed.back()[frame].pop_back();
    changed.push_back(texts);
    changed.back()[frame].push_back('x');
  }
  changed.push_back({texts[0]});                      // its end is left out
  changed.push_back({texts[1]});                      // its beginning
  changed.push_back({texts[1], texts[0]});            // moved
  changed.push_back({texts[0], texts[0]});            // repeated
  changed.push_back({texts[0], texts[1], texts[1]});  // longer
  changed.push_back(TextsOf(second));                 // a later one first
  changed.push_back({""});
  changed.push_back({std::string(15, '\0')});
  for (const std::vector<std::string>& message : changed) {
    FrameOpener opener(GetParam(), CountingKey());
    Frames frames = FramesWith(message);
    EXPECT_EQ(opener.Open(frames).code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(frames.empty());
    // And nothing after it.
    Frames whole = CopyOf(first);
    EXPECT_FALSE(opener.Open(whole).ok());
  }
}

TEST_P(SealedFramesTest, WhatCameOnceDoesNotOpenAgain) {
  Frames frames = FramesWith({"header", "payload"});
  sealer_.Seal(frames);
  Frames again = CopyOf(frames);
  EXPECT_TRUE(opener_.Open(frames).ok());
  EXPECT_FALSE(opener_.Open(again).ok());
}

TEST_P(SealedFramesTest, AnotherKeyOpensNothing) {
  Frames frames = FramesWith({"header"});
  sealer_.Seal(frames);
  FrameOpener other(GetParam(), AeadKey{});
  EXPECT_FALSE(other.Open(frames).ok());
}

}  // namespace
}  // namespace banyan
