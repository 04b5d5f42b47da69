// One message of every kind for tests and benchmarks of the wire format: every field differs from its default. Pure
// functions.
#ifndef BANYAN_PROTO_TESTING_WIRE_SAMPLES_H_
#define BANYAN_PROTO_TESTING_WIRE_SAMPLES_H_

#include <vector>

#include "core/buffer.h"
#include "proto/message.h"

namespace banyan {

struct WireSample {
  Message message;
  Payload payload;
};

// Every alternative of Message at least once.
std::vector<WireSample> WireSamples();

// A relayed chunk of two frames.
WireSample SampleChunk();

// A reduce half's chunk of nothing.
WireSample SampleEmptyContribution();
// Returns a sum of nothing.
WireSample SampleEmptyResult();

// A relayed chunk of a training state.
WireSample SampleStateChunk();

}  // namespace banyan

#endif  // BANYAN_PROTO_TESTING_WIRE_SAMPLES_H_
