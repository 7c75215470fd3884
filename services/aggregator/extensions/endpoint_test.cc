#include "services/aggregator/extensions/endpoint.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;

TEST(Endpoint, OfTwoForms) {
  for (const char* good : {"unix:/run/notes/notes.sock", "notes.example.com:7000", "10.1.2.3:443", "[2001:db8::1]:443"})
    EXPECT_EQ(CheckEndpoint(good), "") << good;
  for (const char* bad :
       {"unix:", "unix:relative", "unix:/a,unix:/b", "", "host", "host:", "host:0", "host:65536", "host:1x", ":80",
        "a,b:80", "2001:db8::1:443", "[host]:80", "dns:///host:80", "https://host:80", "HOST_:80"})
    EXPECT_NE(CheckEndpoint(bad), "") << bad;
  EXPECT_NE(CheckEndpoint("unix:/" + std::string(200, 'x')), "");
}

TEST(Endpoint, AddressesOfThisMachineAreRefused) {
  for (const char* good : {"10.1.2.3:443", "192.0.2.7:1", "[2001:db8::1]:443"})
    EXPECT_EQ(RefuseAddress(good, {}), "") << good;
  for (const char* bad : {"127.0.0.1:443", "127.9.9.9:443", "[::1]:443", "169.254.169.254:80", "0.0.0.0:80",
                          "224.0.0.1:80", "[::ffff:127.0.0.1]:443", "[fe80::1]:443", "name:80"})
    EXPECT_THAT(RefuseAddress(bad, {}), HasSubstr("is not allowed")) << bad;
}

class Socket : public ::testing::Test {
 protected:
  Socket() {
    std::string name = (std::filesystem::temp_directory_path() / "endpoint-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/s";
    fd_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Socket() override {
    ::close(fd_);
    std::filesystem::remove_all(folder_);
  }
  std::string folder_, path_;
  int fd_ = -1;
};

TEST_F(Socket, NeedsAPrivateFolder) {
  EXPECT_EQ(RefuseAddress("unix:" + path_, {}), "");
  ASSERT_EQ(::chmod(folder_.c_str(), 0710), 0);
  EXPECT_THAT(RefuseAddress("unix:" + path_, {}), HasSubstr("must have mode 0700"));
}

TEST_F(Socket, OfTheMeshIsRefused) {
  EXPECT_THAT(RefuseAddress("unix:" + path_, {"/nowhere", folder_}), HasSubstr("is in a folder of the mesh"));
  const std::string link = folder_ + "-link";
  std::filesystem::create_directory_symlink(folder_, link);
  EXPECT_THAT(RefuseAddress("unix:" + link + "/s", {folder_}), HasSubstr("is in a folder of the mesh"));
  std::filesystem::remove(link);
}

TEST_F(Socket, MustExist) {
  EXPECT_THAT(RefuseAddress("unix:" + folder_ + "/other", {}), HasSubstr("No such file"));
  EXPECT_THAT(RefuseAddress("unix:" + folder_, {}), HasSubstr("is not a socket"));
}

}  // namespace
}  // namespace apimesh::aggregator
