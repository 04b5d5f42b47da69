// The command `man`: writes the manual pages of all commands, and that of overlay.yaml. Function.
#ifndef BANYAN_TOOLS_MANUAL_H_
#define BANYAN_TOOLS_MANUAL_H_

#include <string>
#include <vector>

#include "tools/command_table.h"

namespace banyan {

// Adds the command to those of `banyan`, which `description` describes.
std::vector<Command> WithManual(const std::string& description, std::vector<Command> commands);

}  // namespace banyan

#endif  // BANYAN_TOOLS_MANUAL_H_
