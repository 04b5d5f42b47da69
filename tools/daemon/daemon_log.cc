#include "tools/daemon/daemon_log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/printable.h"
#include "spdlog/sinks/base_sink.h"
#include "spdlog/spdlog.h"

namespace banyan {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%e%z %l %n: %v";
constexpr char kJsonPattern[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","process":"%n","text":%v})";

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// A pipe that can be written takes so much without waiting.
constexpr size_t kPiece = PIPE_BUF;

bool HasRoom(int fd) {
  pollfd item = {fd, POLLOUT, 0};
  return poll(&item, 1, 0) == 1 && (item.revents & POLLOUT) != 0;
}

// Writes log lines to a descriptor and never waits for whoever reads them: a reader that has stopped, a broken pipe or
// a full disk costs lines, and no process its life or its time. Thread-safe; owned by the daemon's logger.
//
// Invariants:
// - A line that cannot be written at once is dropped. The next one that can says how many were.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // `fd` outlives this. With `json` texts are JSON strings.
  LogSink(int fd, bool json) : fd_(fd), json_(json) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!TellDropped(message) || !Write(Format(message))) ++dropped_;
  }
  void flush_() override {}

 private:
  std::string Format(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    return std::string(line.data(), line.size());
  }

  // Returns whether all of it was written.
  bool Write(absl::string_view text) const {
    while (!text.empty()) {
      if (!HasRoom(fd_)) return false;
      const ssize_t written = write(fd_, text.data(), std::min(text.size(), kPiece));
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) text.remove_prefix(written);
    }
    return true;
  }

  bool TellDropped(const spdlog::details::log_msg& message) {
    if (dropped_ == 0) return true;
    const std::string text = absl::StrCat(dropped_, " lines before this one could not be written");
    const std::string payload = json_ ? absl::StrCat("\"", text, "\"") : text;
    const spdlog::details::log_msg told(message.time, {}, message.logger_name, spdlog::level::warn, payload);
    if (!Write(Format(told))) return false;
    dropped_ = 0;
    return true;
  }

  const int fd_;
  const bool json_;
  uint64_t dropped_ = 0;
};

}  // namespace

const std::vector<std::string>& LogLevelNames() {
  static const auto& names = *new std::vector<std::string>{"debug", "info", "warning", "error"};
  return names;
}

LogFunction MakeDaemonLog(const DaemonLogOptions& options) {
  // Shared because a std::function must be copyable.
  auto logger = std::make_shared<spdlog::logger>(options.process, std::make_shared<LogSink>(options.fd, options.json));
  logger->set_pattern(options.json ? kJsonPattern : kTextPattern);
  logger->set_level(spdlog::level::from_str(options.level));
  return [logger, json = options.json](LogLevel level, absl::string_view text) {
    // Without a format: braces in a peer's text are just braces.
    const std::string line = json ? JsonString(text) : EscapeUnprintable(text);
    logger->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
  };
}

std::string JsonString(absl::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    const size_t bytes = PrintableBytes(text);
    if (c == '"' || c == '\\') {
      quoted.append({'\\', text[0]});
    } else if (bytes > 0) {
      quoted.append(text.data(), bytes);
    } else {
      absl::StrAppendFormat(&quoted, absl::ascii_iscntrl(c) ? "\\u%04x" : "\\\\x%02x", c);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return quoted + "\"";
}

}  // namespace banyan
