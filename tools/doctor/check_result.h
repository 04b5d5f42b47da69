// What a check of `banyan doctor` has found. A value; thread-compatible.
#ifndef BANYAN_TOOLS_DOCTOR_CHECK_RESULT_H_
#define BANYAN_TOOLS_DOCTOR_CHECK_RESULT_H_

#include <string>
#include <vector>

namespace banyan {

struct CheckResult {
  std::string name;  // without spaces: the subject, and where there are several of it a colon and which one
  bool ok = false;
  std::string text;        // what was found; what to do when it is not ok
  std::string value = {};  // the same in a word or a number, for a table; empty where there is none
};

using CheckResults = std::vector<CheckResult>;

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_CHECK_RESULT_H_
