// What a job is told of the links of an overlay that is known here: their rates, wrong ones, none, or nothing but the
// nodes. Benchmarks and simulations compare jobs that know with those that find out. Values and pure functions.
#ifndef BANYAN_TOPOLOGY_OVERLAY_TOLD_LINKS_H_
#define BANYAN_TOPOLOGY_OVERLAY_TOLD_LINKS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Wrong rates are the true ones times a factor between these, drawn for each direction by itself. The factor's
// logarithm is uniform, so that too high is as likely as too low by the same factor.
inline constexpr double kLeastWrongFactor = 0.3;
inline constexpr double kMostWrongFactor = 3;

struct ToldLinks {
  enum class Kind : uint8_t {
    kRates,  // all that the overlay says
    kNone,   // who has a link to whom
    kWrong,  // wrong rates
    kNodes,  // no links: every pair of nodes may have one
  };
  Kind kind = Kind::kRates;
  uint64_t seed = 1;  // of kWrong

  friend bool operator==(const ToldLinks&, const ToldLinks&) = default;
};

// Reads "rates", "none", "nodes", "wrong" or "wrong:SEED". INVALID_ARGUMENT says what was expected.
absl::StatusOr<ToldLinks> ParseToldLinks(absl::string_view text);

// Returns the overlay as a job is told it.
OverlayConfig AsTold(OverlayConfig overlay, const ToldLinks& told);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_TOLD_LINKS_H_
