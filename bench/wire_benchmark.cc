// What the header of a chunk costs: encoding and decoding are paid for once per chunk and hop, on the protocol thread.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <variant>

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

void EncodeChunkHeader(benchmark::State& state) {
  const WireSample sample = DirectChunk();
  for (auto _ : state) benchmark::DoNotOptimize(EncodeMessage(sample.message));
}
BENCHMARK(EncodeChunkHeader);

void DecodeChunkHeader(benchmark::State& state) {
  const WireSample sample = DirectChunk();
  const std::string header = EncodeMessage(sample.message);
  for (auto _ : state) benchmark::DoNotOptimize(DecodeMessage(header, sample.payload));
  state.counters["header_bytes"] = static_cast<double>(header.size());
}
BENCHMARK(DecodeChunkHeader);

void EncodeAndDecodeRelayedChunkHeader(benchmark::State& state) {
  const WireSample sample = SampleChunk();
  for (auto _ : state) benchmark::DoNotOptimize(DecodeMessage(EncodeMessage(sample.message), sample.payload));
}
BENCHMARK(EncodeAndDecodeRelayedChunkHeader);

// Acknowledges one chunk each.
void EncodeAndDecodeLinkAck(benchmark::State& state) {
  const Message ack = LinkAck{{{70000, Timestamp::FromNanoseconds(1234567890123), Timestamp::FromNanoseconds(99)}}};
  for (auto _ : state) benchmark::DoNotOptimize(DecodeMessage(EncodeMessage(ack), {}));
}
BENCHMARK(EncodeAndDecodeLinkAck);

}  // namespace
}  // namespace banyan

BENCHMARK_MAIN();
