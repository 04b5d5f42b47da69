#include <sys/socket.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "runtime/transport/outbound_connection.h"

namespace banyan {
namespace {

TEST(SocketIdentityTest, NamesItsSocketWhileThatIsOpen) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_TRUE(socket.valid());
  const SocketIdentity identity(socket.get());
  EXPECT_EQ(identity.Descriptor(), socket.get());
  socket.Close();
  EXPECT_EQ(identity.Descriptor(), -1);
}

TEST(SocketIdentityTest, AnotherSocketOfTheSameNumberIsNotIt) {
  const FileDescriptor first(::socket(AF_INET, SOCK_STREAM, 0));
  const FileDescriptor second(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_TRUE(first.valid() && second.valid());
  const SocketIdentity identity(first.get());
  // The number of the first names the second from now on, as after a close and an accept.
  ASSERT_EQ(dup2(second.get(), first.get()), first.get());
  EXPECT_EQ(identity.Descriptor(), -1);
  EXPECT_EQ(SocketIdentity(first.get()).Descriptor(), first.get());
}

TEST(SocketIdentityTest, NamesNothingThatIsNoSocket) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor reads(ends[0]);
  const FileDescriptor writes(ends[1]);
  EXPECT_EQ(SocketIdentity(reads.get()).Descriptor(), -1);
  EXPECT_EQ(SocketIdentity(-1).Descriptor(), -1);
  EXPECT_EQ(SocketIdentity().Descriptor(), -1);
}

}  // namespace
}  // namespace banyan
