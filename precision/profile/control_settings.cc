#include "precision/profile/control_settings.h"

#include <utility>

namespace banyan {
namespace {

// Each makes its setting of what it builds on.
using Change = void (*)(ControlSettings&);

struct Rung {
  const char* name;
  const char* base;  // empty: the defaults
  Change change;
};

constexpr Rung kRungs[] = {
    {"fp32", "", [](ControlSettings& s) { s.low_bit = false; }},
    {"static", "",
     [](ControlSettings& s) {
       s.warmup = false;
       s.veto = false;
       s.budget = false;
     }},
    {"calibrated", "", [](ControlSettings&) {}},
    // Table 6.
    {"warm-up-only", "",
     [](ControlSettings& s) {
       s.detector = DetectorSource::kWarmup;
       s.budget = false;
     }},
    {"trust-region", "warm-up-only", [](ControlSettings& s) { s.detector = DetectorSource::kTrustRegion; }},
    {"auto-budget", "trust-region",
     [](ControlSettings& s) {
       s.budget = true;
       s.auto_target = true;
     }},
    {"smoothed-budget", "auto-budget",
     [](ControlSettings& s) {
       s.adaptive_windows = true;
       s.target_smoothing = 0.5;
     }},
    {"late-phase-guard", "smoothed-budget", [](ControlSettings& s) { s.late_guard = true; }},
    {"healthy-references", "late-phase-guard", [](ControlSettings& s) { s.learned_reference = true; }},
    // Table 11.
    {"fixed-profile", "", [](ControlSettings& s) { s.budget = false; }},
    {"run-aware-cooldown", "fixed-profile", [](ControlSettings& s) { s.is_run_aware = true; }},
    {"no-veto", "fixed-profile", [](ControlSettings& s) { s.veto = false; }},
    {"probe-guided", "run-aware-cooldown",
     [](ControlSettings& s) {
       s.detector = DetectorSource::kTrustRegion;
       s.budget = true;
       s.probe = true;
     }},
    // Table 12.
    {"noise-aware", "probe-guided", [](ControlSettings& s) { s.noise_aware = true; }},
    {"growth-only", "probe-guided",
     [](ControlSettings& s) {
       s.adaptive_windows = true;
       s.may_shrink = false;
     }},
    {"grow-shrink", "growth-only", [](ControlSettings& s) { s.may_shrink = true; }},
};

}  // namespace

std::optional<ControlSettings> NamedControls(absl::string_view name) {
  for (const Rung& rung : kRungs) {
    if (name != rung.name) continue;
    ControlSettings settings;
    if (*rung.base != '\0') settings = *NamedControls(rung.base);
    settings.name = rung.name;
    rung.change(settings);
    return settings;
  }
  return std::nullopt;
}

std::vector<std::string> ControlSettingNames() {
  std::vector<std::string> names;
  for (const Rung& rung : kRungs) names.emplace_back(rung.name);
  return names;
}

}  // namespace banyan
