// Tells the simulator about a message without encoding it: its size on the wire, a hash of what tells it from others, a
// line of text. Pure functions.
#ifndef BANYAN_SIM_MESSAGE_FACTS_H_
#define BANYAN_SIM_MESSAGE_FACTS_H_

#include <cstdint>
#include <string>

#include "proto/message.h"
#include "protocol/event.h"

namespace banyan {

// An estimate of the encoded size, without a chunk's payload: what the messages of proto/ take, to some bytes.
int64_t HeaderBytes(const Message& message);

// Same for messages with the same ids. Of values that a core makes up freely (texts, reports) only the number counts.
uint64_t MessageDigest(const Message& message);

// "chunk key 3 round 2 chunk 7 reduce 1>4>5"
std::string DescribeMessage(const Message& message);

uint64_t EventDigest(const Event& event);
std::string DescribeEvent(const Event& event);

}  // namespace banyan

#endif  // BANYAN_SIM_MESSAGE_FACTS_H_
