// Numbers that a codec's format cannot hold. A sum on the way up may be far larger than the mean that comes of it, and
// a value that has become infinite there is lost for all. Pure functions.
#ifndef BANYAN_COMPRESSION_OVERFLOW_H_
#define BANYAN_COMPRESSION_OVERFLOW_H_

#include "absl/types/span.h"
#include "compression/encoding.h"

namespace banyan {

// Returns the encoding, or one in kFp32 where the codec would make an infinity of a finite one of these values. What is
// not finite already makes no difference.
Encoding WithoutOverflow(Encoding encoding, absl::Span<const float> values);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_OVERFLOW_H_
