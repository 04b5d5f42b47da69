// A process of the demo that has failed at least once. Value.
#ifndef BANYAN_TOOLS_DEMO_DEMO_PROCESS_H_
#define BANYAN_TOOLS_DEMO_DEMO_PROCESS_H_

#include <string>

namespace banyan {

struct DemoProcess {
  std::string name;  // "node n3"
  int failures = 0;
  bool is_up = false;   // runs again
  std::string failure;  // the last one: "signal 9 (Killed)"

  friend bool operator==(const DemoProcess&, const DemoProcess&) = default;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_PROCESS_H_
