// One connection between two doctors: lines and blocks of bytes, each with a deadline. Thread-compatible; movable.
#ifndef BANYAN_TOOLS_DOCTOR_DOCTOR_STREAM_H_
#define BANYAN_TOOLS_DOCTOR_DOCTOR_STREAM_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "posix/file_descriptor.h"

namespace banyan {

class DoctorStream {
 public:
  static constexpr size_t kMostLineBytes = 512;

  // `socket` does not block.
  explicit DoctorStream(FileDescriptor socket) : socket_(std::move(socket)) {}

  // Each call below takes at most `timeout`, then DEADLINE_EXCEEDED. UNAVAILABLE when the other side has closed.
  absl::Status Send(absl::string_view bytes, absl::Duration timeout);
  // Sends `size_bytes` bytes that mean nothing.
  absl::Status SendBlock(int64_t size_bytes, absl::Duration timeout);
  // Returns the next byte, which stays to be received.
  absl::StatusOr<char> Peek(absl::Duration timeout);
  // Returns the next line without its end. INVALID_ARGUMENT for one of more than kMostLineBytes.
  absl::StatusOr<std::string> ReceiveLine(absl::Duration timeout);
  // Returns the next `size_bytes` bytes.
  absl::StatusOr<std::string> ReceiveText(int64_t size_bytes, absl::Duration timeout);
  // Reads and forgets `size_bytes` bytes.
  absl::Status ReceiveBlock(int64_t size_bytes, absl::Duration timeout);
  // Sends `line`, and returns the rest of an answer that begins with `word`. INTERNAL for another one.
  absl::StatusOr<std::string> Ask(absl::string_view line, absl::string_view word, absl::Duration timeout);

  int fd() const { return socket_.get(); }

 private:
  // Waits until the socket can be read from or, by `events`, written to.
  absl::Status Await(int16_t events, absl::Time deadline) const;
  // Reads what is there into buffer_.
  absl::Status Fill(absl::Time deadline);

  FileDescriptor socket_;
  std::string buffer_;  // received, and not yet asked for
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_DOCTOR_STREAM_H_
