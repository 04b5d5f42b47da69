#include "topology/overlay/told_links.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/random.h"

namespace banyan {
namespace {

double WrongFactor(Random& random) {
  return kLeastWrongFactor * std::pow(kMostWrongFactor / kLeastWrongFactor, random.Unit());
}

void ForgetRates(LinkConfig& link) {
  const LinkConfig unknown;
  link.a_to_b_bps = unknown.a_to_b_bps;
  link.b_to_a_bps = unknown.b_to_a_bps;
  link.delay = unknown.delay;
  link.loss_fraction = unknown.loss_fraction;
  link.has_rates = false;
}

}  // namespace

absl::StatusOr<ToldLinks> ParseToldLinks(absl::string_view text) {
  ToldLinks told;
  absl::string_view rest = text;
  if (text == "rates") return told;
  if (text == "none" || text == "nodes") {
    told.kind = text == "none" ? ToldLinks::Kind::kNone : ToldLinks::Kind::kNodes;
    return told;
  }
  told.kind = ToldLinks::Kind::kWrong;
  if (text == "wrong" || (absl::ConsumePrefix(&rest, "wrong:") && absl::SimpleAtoi(rest, &told.seed))) return told;
  return absl::InvalidArgumentError(absl::StrCat("expected rates, none, wrong, wrong:SEED or nodes, got '", text, "'"));
}

OverlayConfig AsTold(OverlayConfig overlay, const ToldLinks& told) {
  if (told.kind == ToldLinks::Kind::kNodes) overlay.links.reset();
  if (told.kind == ToldLinks::Kind::kRates || !overlay.links.has_value()) return overlay;
  Random random(told.seed);
  for (LinkConfig& link : *overlay.links) {
    if (told.kind == ToldLinks::Kind::kNone) {
      ForgetRates(link);
      continue;
    }
    link.a_to_b_bps *= WrongFactor(random);
    link.b_to_a_bps *= WrongFactor(random);
  }
  return overlay;
}

}  // namespace banyan
