// What most files include of Abseil and the standard library. Nothing includes this file itself: see
// third_party/precompiled_headers.bzl.
#ifndef BANYAN_THIRD_PARTY_PRECOMPILED_LIBRARIES_H_
#define BANYAN_THIRD_PARTY_PRECOMPILED_LIBRARIES_H_

// GCC compares the macros that this file asks for: where this one is defined, the precompiled form is not taken.
#ifdef BANYAN_PLAIN_HEADERS
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#endif  // BANYAN_THIRD_PARTY_PRECOMPILED_LIBRARIES_H_
