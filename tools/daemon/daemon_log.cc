#include "tools/daemon/daemon_log.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/printable.h"

namespace banyan {
namespace {

// A pipe that can be written takes so much without waiting.
constexpr size_t kPiece = PIPE_BUF;

// Whether systemd's journal reads `fd`: `stream` has the numbers of its device and file.
bool IsJournal(int fd, const std::string& stream) {
  struct stat file = {};
  return !stream.empty() && fstat(fd, &file) == 0 && stream == absl::StrCat(file.st_dev, ":", file.st_ino);
}

// As syslog has them.
constexpr const char* kPriorities[] = {"<7>", "<6>", "<4>", "<3>"};

bool HasRoom(int fd) {
  pollfd item = {fd, POLLOUT, 0};
  return poll(&item, 1, 0) == 1 && (item.revents & POLLOUT) != 0;
}

// Writes log lines to a descriptor and never waits for whoever reads them: a reader that has stopped, a broken pipe or
// a full disk costs lines, and no process its life or its time. Thread-safe; owned by the daemon's log function.
//
// Invariants:
// - A line that cannot be written at once is dropped. The next one that can says how many were.
class LogSink {
 public:
  explicit LogSink(const DaemonLogOptions& options)
      : options_(options), is_journal_(IsJournal(options.fd, options.journal)) {
    const std::vector<std::string>& names = LogLevelNames();
    least_ = std::find(names.begin(), names.end(), options.level) - names.begin();
  }

  void Log(LogLevel level, absl::string_view text) {
    if (static_cast<ptrdiff_t>(level) < least_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (dropped_ > 0 &&
        Write(Line(LogLevel::kWarning, absl::StrCat(dropped_, " lines before this one could not be written")))) {
      dropped_ = 0;
    }
    if (dropped_ > 0 || !Write(Line(level, text))) ++dropped_;
  }

 private:
  std::string Line(LogLevel level, absl::string_view text) const {
    const std::string time = absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%Ez", absl::Now(), absl::LocalTimeZone());
    const std::string& name = LogLevelNames()[static_cast<size_t>(level)];
    const char* const priority = is_journal_ ? kPriorities[static_cast<size_t>(level)] : "";
    if (options_.json) {
      return absl::StrCat(priority, "{\"time\":\"", time, "\",\"level\":\"", name, "\",\"process\":\"",
                          options_.process, "\",\"text\":", JsonString(text), "}\n");
    }
    return absl::StrCat(priority, time, " ", name, " ", options_.process, ": ", EscapeUnprintable(text), "\n");
  }

  // Returns whether all of it was written.
  bool Write(absl::string_view text) const {
    while (!text.empty()) {
      if (!HasRoom(options_.fd)) return false;
      const ssize_t written = write(options_.fd, text.data(), std::min(text.size(), kPiece));
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) text.remove_prefix(written);
    }
    return true;
  }

  const DaemonLogOptions options_;
  const bool is_journal_;
  ptrdiff_t least_ = 0;
  std::mutex mutex_;
  uint64_t dropped_ = 0;
};

}  // namespace

const std::vector<std::string>& LogLevelNames() {
  static const auto& names = *new std::vector<std::string>{"debug", "info", "warning", "error"};
  return names;
}

LogFunction MakeDaemonLog(const DaemonLogOptions& options) {
  // Shared because a std::function must be copyable.
  return
      [sink = std::make_shared<LogSink>(options)](LogLevel level, absl::string_view text) { sink->Log(level, text); };
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
