#include "tools/doctor/doctor_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"

namespace banyan {
namespace {

constexpr size_t kBlockBytes = 65536;

absl::Status Closed() { return absl::UnavailableError("the other side has closed the connection"); }

absl::Status Broken() { return absl::UnavailableError(absl::StrCat("the connection broke: ", std::strerror(errno))); }

}  // namespace

absl::Status DoctorStream::Await(int16_t events, absl::Time deadline) const {
  const absl::Duration left = deadline - absl::Now();
  pollfd wanted = {socket_.get(), events, 0};
  const auto wait_ms = static_cast<int>(std::max<int64_t>(0, absl::ToInt64Milliseconds(left)));
  if (poll(&wanted, 1, wait_ms) > 0) return absl::OkStatus();
  return absl::DeadlineExceededError("nothing moved in time");
}

absl::Status DoctorStream::Send(absl::string_view bytes, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return Broken();
    } else if (const absl::Status status = Await(POLLOUT, deadline); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status DoctorStream::SendBlock(int64_t size_bytes, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  const std::string block(kBlockBytes, 'b');
  while (size_bytes > 0) {
    const auto part = static_cast<size_t>(std::min<int64_t>(size_bytes, kBlockBytes));
    if (const absl::Status status = Send(block.substr(0, part), deadline - absl::Now()); !status.ok()) return status;
    size_bytes -= static_cast<int64_t>(part);
  }
  return absl::OkStatus();
}

absl::Status DoctorStream::Fill(absl::Time deadline) {
  if (const absl::Status status = Await(POLLIN, deadline); !status.ok()) return status;
  std::string block(kBlockBytes, '\0');
  const ssize_t received = recv(socket_.get(), block.data(), block.size(), 0);
  if (received == 0) return Closed();
  if (received < 0) return errno == EAGAIN || errno == EINTR ? absl::OkStatus() : Broken();
  buffer_.append(block, 0, static_cast<size_t>(received));
  return absl::OkStatus();
}

absl::StatusOr<char> DoctorStream::Peek(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (buffer_.empty()) {
    if (const absl::Status status = Fill(deadline); !status.ok()) return status;
  }
  return buffer_[0];
}

absl::StatusOr<std::string> DoctorStream::ReceiveLine(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  size_t end = buffer_.find('\n');
  while (end == std::string::npos && buffer_.size() <= kMostLineBytes) {
    if (const absl::Status status = Fill(deadline); !status.ok()) return status;
    end = buffer_.find('\n');
  }
  if (end == std::string::npos || end > kMostLineBytes) return absl::InvalidArgumentError("a line that never ends");
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

absl::StatusOr<std::string> DoctorStream::ReceiveText(int64_t size_bytes, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  const auto size = static_cast<size_t>(size_bytes);
  while (buffer_.size() < size) {
    if (const absl::Status status = Fill(deadline); !status.ok()) return status;
  }
  std::string text = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return text;
}

absl::Status DoctorStream::ReceiveBlock(int64_t size_bytes, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (size_bytes > 0) {
    const int64_t here = std::min<int64_t>(size_bytes, static_cast<int64_t>(buffer_.size()));
    buffer_.erase(0, static_cast<size_t>(here));
    size_bytes -= here;
    if (size_bytes == 0) break;
    if (const absl::Status status = Fill(deadline); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DoctorStream::Ask(absl::string_view line, absl::string_view word, absl::Duration timeout) {
  if (const absl::Status status = Send(absl::StrCat(line, "\n"), timeout); !status.ok()) return status;
  const absl::StatusOr<std::string> answer = ReceiveLine(timeout);
  if (!answer.ok()) return answer.status();
  absl::string_view rest = *answer;
  if (!absl::ConsumePrefix(&rest, word)) {
    return absl::InternalError(absl::StrCat("expected an answer with '", word, "'"));
  }
  return std::string(absl::StripPrefix(rest, " "));
}

}  // namespace banyan
