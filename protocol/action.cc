#include "protocol/action.h"

namespace banyan {

Action::Action(Action&& other) noexcept = default;
Action& Action::operator=(Action&& other) noexcept = default;
Action::~Action() = default;

}  // namespace banyan
