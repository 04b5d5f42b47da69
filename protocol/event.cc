#include "protocol/event.h"

namespace banyan {

Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(Event&& other) noexcept = default;
Event::~Event() = default;

}  // namespace banyan
