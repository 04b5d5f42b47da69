#include "tests/hostile_messages.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/buffer.h"
#include "proto/session_codec.h"
#include "proto/wire.h"

namespace banyan {
namespace {

std::vector<std::string> FramesOf(std::string header, const Payload& payload) {
  std::vector<std::string> frames = {std::move(header)};
  for (const Buffer& buffer : payload) {
    frames.emplace_back(static_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size_bytes()));
  }
  return frames;
}

// Whoever reaches the scheduler may stop the job or remove its nodes, so that doing so shows nothing.
bool IsOrder(const std::vector<std::string>& frames) {
  const absl::StatusOr<Message> message = DecodeMessage(frames.front(), {});
  return message.ok() && (std::holds_alternative<StopJob>(*message) || std::holds_alternative<RemoveNode>(*message));
}

}  // namespace

HostileMessages::HostileMessages(std::string job, uint64_t seed)
    : job_(std::move(job)), samples_(WireSamples()), random_(seed) {}

std::string HostileMessages::Noise(size_t max_bytes) {
  std::string bytes(random_.Below(max_bytes) + 1, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_.Next());
  return bytes;
}

std::string HostileMessages::Mutated(std::string bytes) {
  const uint64_t changes = random_.Below(4) + 1;
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = random_.Below(bytes.size() + 1);
    switch (random_.Below(5)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, Noise(8));
        break;
      case 2:
        bytes += bytes.substr(at);
        break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_.Next());
    }
  }
  return bytes;
}

// Small ones, and those at the edges of what fits.
uint64_t HostileMessages::Number() {
  switch (random_.Below(4)) {
    case 0:
      return random_.Next();
    case 1:
      return ~uint64_t{0} >> random_.Below(64);
    default:
      return random_.Below(5);
  }
}

NodeId HostileMessages::Node() { return NodeId(static_cast<uint32_t>(Number())); }

std::string HostileMessages::Name() { return random_.Chance(0.5) ? absl::StrCat("n", random_.Below(5)) : Noise(40); }

SourceRoute HostileMessages::Route() {
  SourceRoute route;
  for (uint64_t i = random_.Below(4) + 2; i > 0; --i) route.path.push_back(Node());
  route.hop = static_cast<uint32_t>(random_.Below(3));
  return route;
}

ChunkId HostileMessages::Chunk() {
  return {Epoch(Number()),
          Attempt(static_cast<uint32_t>(Number())),
          Round(Number()),
          KeyId(static_cast<uint32_t>(Number())),
          ChunkIndex(static_cast<uint32_t>(Number())),
          random_.Chance(0.5) ? Half::kReduce : Half::kBroadcast};
}

Message HostileMessages::PeerMessage() {
  const auto time = [this] { return Timestamp::FromNanoseconds(static_cast<int64_t>(Number() >> 1)); };
  switch (random_.Below(6)) {
    case 0:
      return PeerHello{random_.Chance(0.9) ? kProtocolVersion : 7, random_.Chance(0.9) ? job_ : Noise(20),
                       Term(Number()), Node(), Incarnation(random_.Next())};
    case 1:
      return LinkAck{{{Number(), time(), time(), true}, {Number(), time(), time()}}};
    case 2:
      return DeliveryAck{Route(), {Chunk(), Chunk()}};
    case 3:
      return Busy{Route(), {Chunk()}};
    case 4:
      return Grant{Route()};
    default:
      return PeerHeartbeat{time(), std::nullopt};
  }
}

Message HostileMessages::NodeMessage() {
  switch (random_.Below(9)) {
    case 0:
      return Join{kProtocolVersion, random_.Chance(0.5) ? job_ : "", Name(), "tcp://127.0.0.1:1",
                  Incarnation(random_.Next())};
    case 1:
      return RegisterKeys{{{Name(), static_cast<int64_t>(Number() >> 1)}}};
    case 2:
      return PolicyRequest{{{KeyId(static_cast<uint32_t>(Number())), Round(Number())}}};
    case 3:
      return RoundsClosed{{{KeyId(static_cast<uint32_t>(Number())), Round(Number()), Number()}}};
    case 4:
      return BarrierEntered{Number()};
    case 5:
      return PeerLost{Node(), Noise(100)};
    case 6:
      return WorkerLost{WorkerId(static_cast<uint32_t>(Number())), Noise(100)};
    case 7:
      return StatusRequest{};
    default:
      return Leave{Noise(100)};
  }
}

Message HostileMessages::SchedulerMessage() {
  switch (random_.Below(5)) {
    case 0:
      return JobFailed{Term(Number()), absl::StatusCode::kInternal, Noise(100)};
    case 1:
      return ClosedEverywhere{Term(Number()), {{KeyId(static_cast<uint32_t>(Number())), Round(Number())}}};
    case 2:
      return JoinRefused{Term(Number()), Noise(100)};
    case 3:
      return BarrierReleased{Term(Number()), Number()};
    default:
      StatusReply reply;
      reply.status->job = Noise(1000);
      return reply;
  }
}

std::vector<std::string> HostileMessages::MutatedFrames() {
  std::vector<std::string> frames = AnyMutatedFrames();
  while (IsOrder(frames)) frames = AnyMutatedFrames();
  return frames;
}

std::vector<std::string> HostileMessages::AnyMutatedFrames() {
  const WireSample& sample = samples_[random_.Below(samples_.size())];
  std::vector<std::string> frames = FramesOf(EncodeMessage(sample.message), sample.payload);
  std::string& victim = frames[random_.Below(frames.size())];
  victim = Mutated(std::move(victim));
  return frames;
}

std::vector<std::string> HostileMessages::SenselessFrames() {
  switch (random_.Below(4)) {
    case 0:
      return FramesOf(EncodeMessage(NodeMessage()), {});
    case 1:
      return FramesOf(EncodeMessage(SchedulerMessage()), {});
    case 2:
      return FramesOf(EncodeMessage(PeerMessage()), {});
    default:
      break;
  }
  WireSample sample = SampleChunk();
  auto& chunk = std::get<ChunkMessage>(sample.message);
  chunk.id = Chunk();
  chunk.route = Route();
  chunk.tree = TreeIndex(static_cast<uint32_t>(Number()));
  chunk.policy = PolicyVersion(Number());
  chunk.weight = static_cast<uint32_t>(Number());
  chunk.link_sequence = Number();
  return FramesOf(EncodeMessage(sample.message), sample.payload);
}

WorkerMessage HostileMessages::AnyWorkerMessage() {
  const auto slot = [this] { return static_cast<uint32_t>(random_.Below(70)); };
  switch (random_.Below(8)) {
    case 0:
      // Worker 0 is attached, and there is no other.
      return AttachWorker{static_cast<uint32_t>(random_.Below(3)), WorkerId(static_cast<uint32_t>(Number())),
                          CallId(Number())};
    case 1:
      return OpenTensor{CallId(Number()), Name(), static_cast<int64_t>(Number() >> 1)};
    case 2:
      return BarrierCall{CallId(Number())};
    case 3:
      return ReportLossCall{CallId(Number()), Number(), 1e300};
    case 4:
      return WorkerGoodBye{};
    case 5:
      return DescribeWait{CallId(Number()), Name()};
    case 6:
      return DescribeGroup{{{Name(), static_cast<int64_t>(Number() >> 1)}, {Name(), 1}}};
    default:
      return TensorCall{CallId(Number()),
                        TensorId(Number()),
                        static_cast<TensorCallKind>(random_.Below(6)),
                        slot(),
                        slot(),
                        static_cast<int32_t>(Number())};
  }
}

std::string HostileMessages::SenselessWorkerMessage() { return EncodeWorkerMessage(AnyWorkerMessage()); }

std::string HostileMessages::MutatedWorkerMessage() { return Mutated(SenselessWorkerMessage()); }

}  // namespace banyan
