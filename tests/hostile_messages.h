// Messages that nobody should send: valid ones with bytes changed, and well-formed ones with values that make no sense.
// The same seed gives the same messages. Thread-compatible.
#ifndef BANYAN_TESTS_HOSTILE_MESSAGES_H_
#define BANYAN_TESTS_HOSTILE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "proto/message.h"
#include "proto/session_messages.h"
#include "proto/testing/wire_samples.h"

namespace banyan {

class HostileMessages {
 public:
  // The job's name is no secret. Its nodes are n1, n2, ...
  HostileMessages(std::string job, uint64_t seed);

  Random& random() { return random_; }
  std::string Noise(size_t max_bytes);
  // Some bytes changed, cut off, doubled or added.
  std::string Mutated(std::string bytes);

  // The frames of one message between daemons: changed bytes, or values that make no sense. An operator's order that
  // could be obeyed is not among them.
  std::vector<std::string> MutatedFrames();
  std::vector<std::string> SenselessFrames();
  // The same for messages between worker and node.
  std::string MutatedWorkerMessage();
  std::string SenselessWorkerMessage();

 private:
  std::vector<std::string> AnyMutatedFrames();
  uint64_t Number();
  NodeId Node();
  SourceRoute Route();
  ChunkId Chunk();
  std::string Name();
  Message PeerMessage();
  Message NodeMessage();
  Message SchedulerMessage();
  WorkerMessage AnyWorkerMessage();

  const std::string job_;
  const std::vector<WireSample> samples_;
  Random random_;
};

}  // namespace banyan

#endif  // BANYAN_TESTS_HOSTILE_MESSAGES_H_
