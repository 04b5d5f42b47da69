#include "tools/daemon/log_sink.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// A pipe that can be written takes so much without waiting.
constexpr size_t kPiece = PIPE_BUF;

bool HasRoom(int fd) {
  pollfd item = {fd, POLLOUT, 0};
  return poll(&item, 1, 0) == 1 && (item.revents & POLLOUT) != 0;
}

}  // namespace

bool LogSink::Write(absl::string_view text) const {
  while (!text.empty()) {
    if (!HasRoom(fd_)) return false;
    const ssize_t written = write(fd_, text.data(), std::min(text.size(), kPiece));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(written);
  }
  return true;
}

std::string LogSink::Format(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  return std::string(line.data(), line.size());
}

bool LogSink::TellDropped(const spdlog::details::log_msg& message) {
  if (dropped_ == 0) return true;
  const std::string text = absl::StrCat(dropped_, " lines before this one could not be written");
  const std::string payload = json_ ? absl::StrCat("\"", text, "\"") : text;
  const spdlog::details::log_msg told(message.time, {}, message.logger_name, spdlog::level::warn, payload);
  if (!Write(Format(told))) return false;
  dropped_ = 0;
  return true;
}

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  if (!TellDropped(message) || !Write(Format(message))) ++dropped_;
}

}  // namespace banyan
