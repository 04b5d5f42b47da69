// Lets gnuplot draw. Free functions.
#ifndef BANYAN_TOOLS_REPORTS_GNUPLOT_RUN_H_
#define BANYAN_TOOLS_REPORTS_GNUPLOT_RUN_H_

#include <string>

#include "absl/status/status.h"

namespace banyan {

// Runs the commands of `script`. NOT_FOUND names the Debian package where gnuplot is missing.
absl::Status RunGnuplot(const std::string& script);

// Returns `text` as a string of such a script.
std::string GnuplotQuoted(const std::string& text);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_GNUPLOT_RUN_H_
