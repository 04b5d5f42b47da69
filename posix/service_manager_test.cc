#include "posix/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

TEST(ServiceManagerTest, GetsTheStateAtAPathOrAnAbstractName) {
  for (const std::string& socket : {absl::StrCat("/tmp/banyan-notify", getpid()), absl::StrCat("@banyan", getpid())}) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, socket.data(), socket.size());
    if (socket[0] == '@') address.sun_path[0] = '\0';
    const FileDescriptor receiver(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(receiver.get(), reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size())),
              0);
    EXPECT_TRUE(NotifyServiceManager(socket, "READY=1"));
    char told[32] = {};
    EXPECT_EQ(recv(receiver.get(), told, sizeof(told), 0), 7);
    EXPECT_STREQ(told, "READY=1");
    unlink(socket.c_str());
  }
}

TEST(ServiceManagerTest, WithoutOneNothingHappens) {
  EXPECT_FALSE(NotifyServiceManager("", "READY=1"));
  EXPECT_FALSE(NotifyServiceManager("/no/such/socket", "READY=1"));
  EXPECT_FALSE(NotifyServiceManager(std::string(200, 'n'), "READY=1"));
}

}  // namespace
}  // namespace banyan
