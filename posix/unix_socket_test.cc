#include "posix/unix_socket.h"

#include <grp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

class UnixSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    path_ = std::string(mkdtemp(name.data())) + "/s";
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair_), 0);
  }
  void TearDown() override {
    close(pair_[0]);
    close(pair_[1]);
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.size() - 2).c_str());
  }

  std::string path_;
  int pair_[2];
};

TEST_F(UnixSocketTest, AddressesAreChecked) {
  EXPECT_EQ(UnixPathOf("unix:/run/banyan/n1").value(), "/run/banyan/n1");
  EXPECT_FALSE(UnixPathOf("tcp://1.2.3.4:5").ok());
  EXPECT_FALSE(UnixPathOf("unix:").ok());
  EXPECT_FALSE(UnixPathOf("unix:/" + std::string(200, 'x')).ok());
  EXPECT_FALSE(ListenOnUnix("/" + std::string(200, 'x')).ok());
  EXPECT_FALSE(ConnectToUnix("/" + std::string(200, 'x')).ok());
}

TEST_F(UnixSocketTest, ListensForThisUserOnly) {
  auto listener = ListenOnUnix(path_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_TRUE(ConnectToUnix(path_).ok());
}

TEST_F(UnixSocketTest, TheGroupMayConnectWhereItIsToldTo) {
  struct stat info;
  {
    auto listener = ListenOnUnix(path_, {.has_group = true});
    ASSERT_TRUE(listener.ok()) << listener.status();
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0660u);
  }
  // A group of this process is one to which it may give the file.
  auto named = ListenOnUnix(path_, {.group = std::to_string(getegid())});
  ASSERT_TRUE(named.ok()) << named.status();
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0660u);
  EXPECT_EQ(info.st_gid, getegid());
}

TEST_F(UnixSocketTest, AnUnknownGroupIsNamed) {
  const absl::Status status = ListenOnUnix(path_, {.group = "no-such-group"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("'no-such-group'"), absl::string_view::npos) << status;
  EXPECT_EQ(access(path_.c_str(), F_OK), -1);
}

TEST_F(UnixSocketTest, WhoMayNotConnectIsToldWhoMay) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to become another user";
  ASSERT_EQ(chmod(path_.substr(0, path_.size() - 2).c_str(), 0755), 0);
  auto listener = ListenOnUnix(path_, {.group = "2001"});
  if (absl::IsInvalidArgument(listener.status())) GTEST_SKIP() << "no other users exist here: " << listener.status();
  ASSERT_TRUE(listener.ok()) << listener.status();
  const pid_t child = fork();
  if (child == 0) {
    // Another user and group, then one of the group.
    if (setgroups(0, nullptr) != 0 || setresgid(2002, 2002, 0) != 0 || setresuid(1002, 1002, 0) != 0) _exit(2);
    const absl::Status refused = ConnectToUnix(path_).status();
    if (!absl::IsPermissionDenied(refused)) _exit(3);
    if (refused.message().find("members of group 2001") == absl::string_view::npos) _exit(4);
    if (setresuid(0, 0, 0) != 0 || setresgid(2001, 2001, 2001) != 0 || setresuid(1002, 1002, 1002) != 0) _exit(5);
    _exit(ConnectToUnix(path_).ok() ? 0 : 6);
  }
  int ended = -1;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(WEXITSTATUS(ended), 0);
}

TEST_F(UnixSocketTest, ReplacesAStaleSocketButNothingElse) {
  EXPECT_EQ(ConnectToUnix(path_).status().code(), absl::StatusCode::kUnavailable);
  {
    auto first = ListenOnUnix(path_);
    ASSERT_TRUE(first.ok());
    auto second = ListenOnUnix(path_);
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition) << second.status();
  }
  EXPECT_EQ(ConnectToUnix(path_).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(ListenOnUnix(path_).ok());
  unlink(path_.c_str());
  std::ofstream(path_) << "precious";
  EXPECT_EQ(ListenOnUnix(path_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(UnixSocketTest, WhoeverListensIsNamed) {
  const auto first = ListenOnUnix(path_);
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = ListenOnUnix(path_).status();
  EXPECT_NE(second.message().find("process " + std::to_string(getpid()) + " does"), absl::string_view::npos) << second;
}

TEST_F(UnixSocketTest, ASocketThatDoesNotListenYetIsLeftAlone) {
  const FileDescriptor other(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(fchmod(other.get(), 0), 0);
  ASSERT_EQ(bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(ListenOnUnix(path_).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(listen(other.get(), 1), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_TRUE(ConnectToUnix(path_).ok());
}

TEST_F(UnixSocketTest, ALiveSocketOfAnotherUserIsLeftAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to become another user";
  ASSERT_EQ(chmod(path_.substr(0, path_.size() - 2).c_str(), 0777), 0);
  const auto listener = ListenOnUnix(path_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(1002, 1002, 1002) != 0) _exit(2);
    const absl::Status refused = ListenOnUnix(path_).status();
    if (refused.code() != absl::StatusCode::kFailedPrecondition) _exit(3);
    _exit(refused.message().find("user 0 has made a socket there") == absl::string_view::npos ? 4 : 0);
  }
  int ended = -1;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  if (WEXITSTATUS(ended) == 2) GTEST_SKIP() << "no other users exist here";
  EXPECT_EQ(WEXITSTATUS(ended), 0);
  EXPECT_TRUE(ConnectToUnix(path_).ok()) << "it has been removed";
}

TEST_F(UnixSocketTest, WithoutASocketToAskWithNothingIsRemoved) {
  { ASSERT_TRUE(ListenOnUnix(path_).ok()); }
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none_left = {0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const absl::Status status = ListenOnUnix(path_).status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(FindSocketFile(path_).has_value());
}

TEST_F(UnixSocketTest, OnlyTheOwnFileIsRemoved) {
  const auto listener = ListenOnUnix(path_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::optional<SocketFile> own = FindSocketFile(path_);
  unlink(path_.c_str());
  const auto other = ListenOnUnix(path_);
  ASSERT_TRUE(other.ok()) << other.status();
  RemoveSocketFile(path_, own);
  EXPECT_TRUE(ConnectToUnix(path_).ok());
  RemoveSocketFile(path_, FindSocketFile(path_));
  EXPECT_FALSE(FindSocketFile(path_).has_value());
}

TEST_F(UnixSocketTest, PacketsKeepTheirBoundariesAndFiles) {
  FileDescriptor file(memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(SendPacket(pair_[0], "one", -1, false), PacketResult::kDone);
  EXPECT_EQ(SendPacket(pair_[0], "with file", file.get(), false), PacketResult::kDone);
  Packet packet;
  ASSERT_EQ(ReceivePacket(pair_[1], 100, false, packet), PacketResult::kDone);
  EXPECT_EQ(packet.bytes, "one");
  EXPECT_FALSE(packet.file.valid());
  ASSERT_EQ(ReceivePacket(pair_[1], 100, false, packet), PacketResult::kDone);
  EXPECT_EQ(packet.bytes, "with file");
  EXPECT_TRUE(packet.file.valid());
  EXPECT_EQ(ReceivePacket(pair_[1], 100, false, packet), PacketResult::kWouldBlock);
}

TEST_F(UnixSocketTest, LongPacketsAreCutAndSaySo) {
  ASSERT_EQ(SendPacket(pair_[0], std::string(1000, 'x'), -1, false), PacketResult::kDone);
  Packet packet;
  ASSERT_EQ(ReceivePacket(pair_[1], 10, false, packet), PacketResult::kDone);
  EXPECT_TRUE(packet.truncated);
  EXPECT_EQ(packet.bytes, std::string(10, 'x'));
}

TEST_F(UnixSocketTest, AFullSocketAndAClosedOneAreTold) {
  PacketResult result = PacketResult::kDone;
  while (result == PacketResult::kDone) result = SendPacket(pair_[0], std::string(1000, 'x'), -1, false);
  EXPECT_EQ(result, PacketResult::kWouldBlock);
  shutdown(pair_[1], SHUT_RDWR);
  EXPECT_EQ(SendPacket(pair_[0], "x", -1, true), PacketResult::kClosed);
}

}  // namespace
}  // namespace banyan
