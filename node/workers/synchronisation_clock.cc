#include "node/workers/synchronisation_clock.h"

#include "core/check.h"

namespace banyan {

void SynchronisationClock::Begin(Timestamp now, int64_t elements) {
  if (open_++ == 0) {
    began_at_ = now;
    elements_ = 0;
  }
  elements_ += elements;
}

void SynchronisationClock::End(Timestamp now) {
  BANYAN_CHECK(open_ > 0);
  if (--open_ > 0) return;
  last_ = {last_.count + 1, elements_, now - began_at_};
}

}  // namespace banyan
