// Which Banyan this is. Pure function.
#ifndef BANYAN_TOOLS_TERMINAL_VERSION_TEXT_H_
#define BANYAN_TOOLS_TERMINAL_VERSION_TEXT_H_

#include <string>

namespace banyan {

// "banyan 0.1.0 (protocol 7)" and a line's end: the release, and what its processes speak with each other.
std::string VersionText();

}  // namespace banyan

#endif  // BANYAN_TOOLS_TERMINAL_VERSION_TEXT_H_
