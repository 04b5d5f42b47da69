#include "tools/daemon/daemon_log.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "core/printable.h"
#include "spdlog/spdlog.h"
#include "tools/daemon/log_sink.h"

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

}  // namespace

const std::vector<std::string>& LogLevelNames() {
  static const auto& names = *new std::vector<std::string>{"debug", "info", "warning", "error"};
  return names;
}

LogFunction MakeDaemonLog(const DaemonLogOptions& options) {
  // Shared because a std::function must be copyable.
  auto logger =
      std::make_shared<spdlog::logger>(options.process, std::make_shared<LogSink>(STDERR_FILENO, options.json));
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
