#include "topology/overlay/overlay_yaml.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "topology/overlay/overlay_checks.h"
#include "topology/overlay/overlay_keys.h"

namespace banyan {
namespace {

constexpr char kStandardInput[] = "-";

absl::Status TooLarge(absl::string_view file_name) {
  return absl::InvalidArgumentError(
      absl::StrCat(file_name, ": the file is too large; at most ", kMaxOverlayBytes, " bytes are read"));
}

// Returns what is left of `stream`, as ReadOverlayText does.
absl::StatusOr<std::string> ReadStream(std::istream& stream, const std::string& name) {
  std::string text(static_cast<size_t>(kMaxOverlayBytes) + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (stream.fail() && !stream.eof())) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": cannot be read; check its permissions"));
  }
  text.resize(static_cast<size_t>(stream.gcount()));
  if (static_cast<int64_t>(text.size()) > kMaxOverlayBytes) return TooLarge(name);
  return PlainYamlText(text, name);
}

}  // namespace

absl::StatusOr<std::string> ReadOverlayText(const std::string& name) {
  if (name == kStandardInput) return ReadStream(std::cin, name);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(name, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(
        absl::StrCat(name, ": there is no such file; give the path of one, or - for standard input"));
  }
  if (std::filesystem::is_directory(status)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": is a directory; give the path of a file in it"));
  }
  std::ifstream file(name, std::ios::binary);
  return ReadStream(file, name);
}

absl::StatusOr<OverlayConfig> LoadOverlay(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadOverlayText(path);
  if (!text.ok()) return text.status();
  return ParseOverlay(*text, path);
}

absl::StatusOr<OverlayConfig> ParseOverlay(absl::string_view text, absl::string_view file_name) {
  if (static_cast<int64_t>(text.size()) > kMaxOverlayBytes) return TooLarge(file_name);
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  OverlayConfig overlay;
  overlay.file_name = std::string(file_name);
  YamlProblems problems(file_name);
  YamlMapReader map(document->root(), "", problems);
  ReadKeys(map, NetworkKeys(overlay), problems);
  CheckNetwork(map, overlay, problems);
  ReadKeys(map, JobKeys(overlay), problems);
  CheckSections(overlay, problems);
  map.Finish();
  if (!problems.status().ok()) return problems.status();
  return overlay;
}

absl::Status ReadYaml(absl::string_view text, absl::string_view file_name, const YamlSlot& slot) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  YamlProblems problems(file_name);
  slot.read({document->root(), "", problems});
  return problems.status();
}

}  // namespace banyan
