#include "tools/terminal/version_text.h"

#include "absl/strings/str_cat.h"
#include "core/version.h"
#include "proto/peer_messages.h"

namespace banyan {

std::string VersionText() { return absl::StrCat("banyan ", kVersion, " (protocol ", kProtocolVersion, ")\n"); }

}  // namespace banyan
