#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "posix/unix_socket.h"

namespace banyan {
namespace {

class PeerProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    path_ = directory + "/peer";
    listener_ = *ListenOnUnix(path_);
    peer_ = fork();
    ASSERT_GE(peer_, 0);
    if (peer_ == 0) Connect();
    pollfd item = {listener_.get(), POLLIN, 0};
    ASSERT_EQ(poll(&item, 1, -1), 1);
    socket_ = FileDescriptor(accept(listener_.get(), nullptr, nullptr));
    ASSERT_TRUE(socket_.valid());
    char byte = 0;
    ASSERT_EQ(recv(socket_.get(), &byte, 1, 0), 1) << "the child is there";
  }
  void TearDown() override { kill(-peer_, SIGKILL); }

  // Leaves a child behind that holds the socket.
  [[noreturn]] void Connect() const {
    setpgid(0, 0);
    const auto socket = ConnectToUnix(path_);
    if (fork() == 0) (void)!send(socket->get(), "c", 1, 0);
    while (socket.ok()) pause();
    _exit(1);
  }

  std::string path_;
  FileDescriptor listener_;
  pid_t peer_ = -1;
  FileDescriptor socket_;
};

TEST_F(PeerProcessTest, ItsEndIsSeenAlthoughItsChildHoldsTheSocket) {
  const FileDescriptor watch = WatchPeerProcess(socket_.get());
  ASSERT_TRUE(watch.valid());
  EXPECT_FALSE(HasEnded(watch));
  kill(peer_, SIGKILL);
  pollfd item = {watch.get(), POLLIN, 0};
  EXPECT_EQ(poll(&item, 1, -1), 1);
  EXPECT_TRUE(HasEnded(watch));
  char byte = 0;
  EXPECT_EQ(recv(socket_.get(), &byte, 1, MSG_DONTWAIT), -1) << "the connection has not ended";
  EXPECT_EQ(waitpid(peer_, nullptr, 0), peer_);
}

TEST_F(PeerProcessTest, ThereIsNoneBehindWhatIsNoConnection) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor read_end(ends[0]);
  const FileDescriptor write_end(ends[1]);
  const FileDescriptor watch = WatchPeerProcess(read_end.get());
  EXPECT_FALSE(watch.valid());
  EXPECT_FALSE(HasEnded(watch));
}

}  // namespace
}  // namespace banyan
