// What the header of a chunk costs: encoding and decoding are paid for once per chunk and hop, on the protocol thread.
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>

#include "bench/timing.h"
#include "proto/testing/wire_samples.h"
#include "proto/wire.h"

namespace banyan {
namespace {

// As most chunks are: one frame, between two neighbours.
WireSample DirectChunk() {
  ChunkMessage chunk = std::get<ChunkMessage>(SampleChunk().message);
  chunk.route = {{NodeId(3), NodeId(7)}, 0};
  chunk.elements = 65536;
  chunk.frames = {{CodecId::kFp32, 0, 65536, 262144}};
  return {Message(std::move(chunk)), {Buffer::Allocate(65536)}};
}

template <typename Work>
void Print(const char* name, Work work) {
  constexpr double kNanoseconds = 1e9;
  std::printf("%-40s %8.0f ns\n", name, SecondsPerCall(0.5, work) * kNanoseconds);
}

void RunWireBenchmark() {
  const WireSample direct = DirectChunk();
  const WireSample relayed = SampleChunk();
  const std::string header = EncodeMessage(direct.message);
  // Acknowledges one chunk.
  const Message ack = LinkAck{{{70000, Timestamp::FromNanoseconds(1234567890123), Timestamp::FromNanoseconds(99)}}};
  // Sums of what was made, so that nothing is left out for having no use.
  volatile size_t used = 0;
  std::printf("a chunk's header has %zu bytes\n", header.size());
  Print("encode a chunk's header", [&] { used = used + EncodeMessage(direct.message).size(); });
  Print("decode a chunk's header", [&] { used = used + (DecodeMessage(header, direct.payload).ok() ? 1 : 0); });
  Print("encode and decode a relayed one",
        [&] { used = used + (DecodeMessage(EncodeMessage(relayed.message), relayed.payload).ok() ? 1 : 0); });
  Print("encode and decode a link's ack", [&] { used = used + (DecodeMessage(EncodeMessage(ack), {}).ok() ? 1 : 0); });
}

}  // namespace
}  // namespace banyan

int main() { banyan::RunWireBenchmark(); }
