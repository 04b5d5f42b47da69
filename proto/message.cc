#include "proto/message.h"

#include <memory>
#include <utility>

namespace banyan {

Message::Message() = default;
Message::Message(const Message& other) = default;
Message::Message(Message&& other) noexcept = default;
Message::~Message() = default;

// Assignment as the variant has it would make code for each of the alternatives once more.
Message& Message::operator=(const Message& other) {
  if (this != &other) *this = Message(other);
  return *this;
}

Message& Message::operator=(Message&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

}  // namespace banyan
