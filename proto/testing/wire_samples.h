// What tests and benchmarks of the wire format share: one message of every kind, of which every field differs from its
// default, bytes that are held fast, and what a receiver makes of a message. Pure functions, but for files.
#ifndef BANYAN_PROTO_TESTING_WIRE_SAMPLES_H_
#define BANYAN_PROTO_TESTING_WIRE_SAMPLES_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/buffer.h"
#include "proto/fields.h"
#include "proto/message.h"

namespace banyan {

struct WireSample {
  Message message;
  Payload payload;
};

// Every alternative of Message at least once.
std::vector<WireSample> WireSamples();

// A status in which every member differs from its default.
JobStatus SampleStatus();

// Sets each number of a description that is a metric to a value of its own.
struct SampleSetter {
  static constexpr bool kReads = false;
  template <typename Member, typename... Limits>
  void operator()(int number, const char*, Member& member, Metric, Limits...) {
    member = std::is_same_v<Member, uint64_t> ? static_cast<Member>(1000 + number) : static_cast<Member>(1.0 / number);
  }
};

// Counters that all differ from their defaults, so that a new one needs no sample of its own.
template <typename Counters>
Counters SampleCounters() {
  Counters counters;
  SampleSetter setter;
  Fields(setter, counters);
  return counters;
}

// A relayed chunk of two frames.
WireSample SampleChunk();

// A reduce half's chunk of nothing.
WireSample SampleEmptyContribution();
// Returns a sum of nothing.
WireSample SampleEmptyResult();

// A relayed chunk of a training state.
WireSample SampleStateChunk();

// Returns the lines of the file that holds bytes fast: a line of hexadecimal digits for each sample, after comments
// that begin with '#'. `path` is one from the repository's root that the test has among its `data`.
std::vector<std::string> GoldenLines(const std::string& path);

// Fails the test when the receiver would refuse the message, or take it for another one.
void ExpectReadable(const Message& message, const Payload& payload = {});

}  // namespace banyan

#endif  // BANYAN_PROTO_TESTING_WIRE_SAMPLES_H_
