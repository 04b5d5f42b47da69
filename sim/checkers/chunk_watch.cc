#include "sim/checkers/chunk_watch.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "core/buffer.h"
#include "core/digest.h"
#include "sim/message_facts.h"

namespace banyan {

void ChunkWatch::OnSent(const SentMessage& sent) {
  if (const auto* assigned = std::get_if<KeysAssigned>(&sent.message)) {
    for (const KeySlice& key : assigned->keys) {
      for (size_t tensor = 0; tensor < plan_->tensors.size(); ++tensor) {
        if (plan_->tensors[tensor].name == key.name) tensors_[key.key] = tensor;
      }
    }
  } else if (const auto* message = std::get_if<ChunkMessage>(&sent.message)) {
    const auto tensor = tensors_.find(message->id.key);
    if (tensor == tensors_.end()) return;
    Chunk& chunk = rounds_[{tensor->second, message->id.round}][message->id.chunk];
    chunk.elements = message->elements;
    const bool is_result = message->made_in != Epoch() || message->id.half == Half::kBroadcast;
    if (!is_result) return;
    const Epoch made_in = message->made_in == Epoch() ? message->id.epoch : message->made_in;
    chunk.made_in.insert(made_in);
    CheckResult(sent, *message, made_in);
  }
}

void ChunkWatch::CheckResult(const SentMessage& sent, const ChunkMessage& message, Epoch made_in) {
  if (message.frames.size() != 1 || message.frames.front().codec != CodecId::kFp32) return;
  const Buffer& frame = sent.payload.front();
  const uint64_t hash = DigestBytes(frame.bytes(), 0);
  const MadeChunk chunk(message.id.key, message.id.round, message.id.chunk, made_in);
  if (results_.try_emplace(chunk, hash).first->second == hash) return;
  violations_->Add(sent.now, "one result",
                   absl::StrCat("node ", sent.from.value(), " to node ", sent.to.value(), ": ",
                                DescribeMessage(sent.message), ": epoch ", made_in.value(), " made another one"));
}

std::vector<ChunkWatch::Chunk> ChunkWatch::ChunksOf(size_t tensor, Round round) const {
  const auto found = rounds_.find({tensor, round});
  if (found == rounds_.end()) return {};
  std::vector<Chunk> chunks;
  int64_t elements = 0;
  for (const auto& [index, chunk] : found->second) {
    if (index.value() != chunks.size()) return {};
    chunks.push_back(chunk);
    chunks.back().first_element = elements;
    elements += chunk.elements;
  }
  if (elements != plan_->tensors[tensor].elements) return {};
  return chunks;
}

}  // namespace banyan
