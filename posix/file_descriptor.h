// Owns a file descriptor and closes it. Movable; thread-compatible.
#ifndef BANYAN_POSIX_FILE_DESCRIPTOR_H_
#define BANYAN_POSIX_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace banyan {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace banyan

#endif  // BANYAN_POSIX_FILE_DESCRIPTOR_H_
