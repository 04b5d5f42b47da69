#include "tools/daemon/daemon_log.h"

#include <unistd.h>

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
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
    const std::string line = json ? JsonString(text) : PrintableLine(text);
    logger->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
  };
}

std::string PrintableLine(absl::string_view text) {
  std::string line;
  for (const char c : text) {
    if (absl::ascii_iscntrl(c)) {
      absl::StrAppendFormat(&line, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      line.push_back(c);
    }
  }
  return line;
}

std::string JsonString(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted.push_back('\\');
      quoted.push_back(c);
    } else if (absl::ascii_iscntrl(c)) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

}  // namespace banyan
