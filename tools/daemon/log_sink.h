// Writes log lines to a descriptor and never waits for whoever reads them: a reader that has stopped, a broken pipe or
// a full disk costs lines, and no process its life or its time. Thread-safe; owned by the daemon's logger.
//
// Invariants:
// - A line that cannot be written at once is dropped. The next one that can says how many were.
#ifndef BANYAN_TOOLS_DAEMON_LOG_SINK_H_
#define BANYAN_TOOLS_DAEMON_LOG_SINK_H_

#include <cstdint>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "spdlog/sinks/base_sink.h"

namespace banyan {

class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // `fd` outlives this. With `json` texts are JSON strings.
  LogSink(int fd, bool json) : fd_(fd), json_(json) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

 private:
  std::string Format(const spdlog::details::log_msg& message);
  // Returns whether all of it was written.
  bool Write(absl::string_view text) const;
  bool TellDropped(const spdlog::details::log_msg& message);

  const int fd_;
  const bool json_;
  uint64_t dropped_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_LOG_SINK_H_
