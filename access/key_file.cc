#include "access/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "access/secret_file.h"
#include "posix/file_descriptor.h"
#include "zmq.h"

namespace banyan {
namespace {

constexpr char kSecret[] = "secret_key";
constexpr char kPublic[] = "public_key";
constexpr char kScheduler[] = "scheduler_public_key";

absl::Status SystemError(const std::string& path, const char* what, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot ", what));
}

std::string Unquoted(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') value = value.substr(1, value.size() - 2);
  return std::string(value);
}

constexpr size_t kKeyBytes = 32;
constexpr size_t kKeyCharacters = 40;
using KeyBuffer = std::array<char, kKeyCharacters + 1>;

}  // namespace

CurveKeys MakeCurveKeys() {
  KeyBuffer public_key = {};
  KeyBuffer secret_key = {};
  // It fails only where ZeroMQ was built without CURVE, and then no key is of use.
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) return {};
  return {public_key.data(), secret_key.data()};
}

absl::StatusOr<std::string> PublicKeyOf(const std::string& secret_key) {
  KeyBuffer public_key = {};
  // ZeroMQ reads 40 characters whatever is there. Where a zero ends them before, the rest of its key is whatever was in
  // memory.
  const bool is_long_enough = secret_key.size() == kKeyCharacters && secret_key.find('\0') == std::string::npos;
  if (is_long_enough && zmq_curve_public(public_key.data(), secret_key.c_str()) == 0) {
    return std::string(public_key.data());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected a secret key of ", kKeyCharacters, " characters of Z85, got ", secret_key.size()));
}

std::string KeyText(absl::string_view bytes) {
  if (bytes.size() != kKeyBytes) return "";
  KeyBuffer text = {};
  zmq_z85_encode(text.data(), reinterpret_cast<const uint8_t*>(bytes.data()), kKeyBytes);
  return text.data();
}

absl::StatusOr<KeyFile> ParseKeyFile(absl::string_view text, const std::string& name) {
  KeyFile file;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    const std::string value = Unquoted(parts.second);
    if (parts.first == kSecret) {
      file.keys.secret_key = value;
    } else if (parts.first == kPublic) {
      file.keys.public_key = value;
    } else if (parts.first == kScheduler) {
      file.scheduler_keys.push_back(value);
    } else {
      return absl::InvalidArgumentError(absl::StrCat(name, ":", number, ": expected ", kSecret, ", ", kPublic, " or ",
                                                     kScheduler, " with a key behind it"));
    }
  }
  const absl::StatusOr<std::string> its_public = PublicKeyOf(file.keys.secret_key);
  if (!its_public.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", kSecret, ": ", its_public.status().message()));
  }
  if (!file.keys.public_key.empty() && file.keys.public_key != *its_public) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", kPublic, " is not that of ", kSecret, "; make new keys with `banyan keygen`"));
  }
  file.keys.public_key = *its_public;
  return file;
}

std::string KeyFileText(const KeyFile& file, const std::string& owner) {
  std::string text = absl::StrCat("# The secret key of ", owner, ". Whoever can read it is ", owner, ".\n", kSecret,
                                  ": '", file.keys.secret_key, "'\n", kPublic, ": '", file.keys.public_key, "'\n");
  for (const std::string& key : file.scheduler_keys) absl::StrAppend(&text, kScheduler, ": '", key, "'\n");
  return text;
}

absl::StatusOr<KeyFile> ReadKeyFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSecretFile(path, "a secret key");
  if (!text.ok()) return text.status();
  return ParseKeyFile(*text, path);
}

absl::Status WriteKeyFile(const std::string& path, const KeyFile& file, const std::string& owner) {
  const FileDescriptor to(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!to.valid()) {
    const int error = errno;
    return SystemError(path, error == EEXIST ? "be made; move the key that is there away first" : "be made", error);
  }
  const std::string text = KeyFileText(file, owner);
  if (write(to.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(to.get()) == 0) {
    return absl::OkStatus();
  }
  const int error = errno;
  unlink(path.c_str());
  return SystemError(path, "be written", error);
}

std::string FindKeyFile(const std::vector<std::string>& folders, const std::string& owner) {
  for (const std::string& folder : folders) {
    std::string path = absl::StrCat(folder, "/", owner, ".key");
    if (!folder.empty() && access(path.c_str(), F_OK) == 0) return path;
  }
  return "";
}

}  // namespace banyan
