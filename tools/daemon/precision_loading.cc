#include "tools/daemon/precision_loading.h"

#include <filesystem>
#include <string>
#include <utility>

#include "topology/overlay/overlay_yaml.h"

namespace banyan {

absl::StatusOr<std::optional<PrecisionFiles>> LoadPrecision(const OverlayConfig& overlay) {
  if (overlay.precision.profile.empty()) return std::nullopt;
  const std::filesystem::path folder = std::filesystem::path(overlay.file_name).parent_path();
  const std::string profile_name = (folder / overlay.precision.profile).string();
  const std::string binding_name = (folder / overlay.precision.binding).string();
  const absl::StatusOr<std::string> profile_text = ReadOverlayText(profile_name);
  if (!profile_text.ok()) return profile_text.status();
  absl::StatusOr<OperatingProfile> profile = ReadProfile(*profile_text, profile_name);
  if (!profile.ok()) return profile.status();
  const absl::StatusOr<std::string> binding_text = ReadOverlayText(binding_name);
  if (!binding_text.ok()) return binding_text.status();
  absl::StatusOr<PrecisionBinding> binding = ReadBinding(*binding_text, binding_name);
  if (!binding.ok()) return binding.status();
  return PrecisionFiles{*std::move(profile), *std::move(binding)};
}

}  // namespace banyan
