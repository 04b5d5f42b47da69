// What a receiver makes of a message, for the harnesses of tests. Pure functions.
#ifndef BANYAN_PROTO_TESTING_READ_BACK_H_
#define BANYAN_PROTO_TESTING_READ_BACK_H_

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "proto/message.h"
#include "proto/wire.h"

namespace banyan {

// Fails the test when the receiver would refuse the message, or take it for another one.
inline void ExpectReadable(const Message& message, const Payload& payload = {}) {
  const absl::StatusOr<Message> read = DecodeMessage(EncodeMessage(message), payload);
  if (!read.ok()) {
    ADD_FAILURE() << "a message that its receiver refuses: " << read.status();
  } else {
    EXPECT_TRUE(*read == message) << "message " << message.index() << " of Message differs when it is read";
  }
}

}  // namespace banyan

#endif  // BANYAN_PROTO_TESTING_READ_BACK_H_
