#include <sys/stat.h>

#include "lib/mesh/delegate/test_delegate.h"

namespace apimesh::mesh {
namespace {

class DelegateUnixTest : public DelegateFixture, public ::testing::Test {
 protected:
  DelegateUnixTest() : DelegateFixture(Transport::kUnix, Threads::kOne) {}
};

class DelegateTlsTest : public DelegateFixture, public ::testing::Test {
 protected:
  DelegateTlsTest() : DelegateFixture(Transport::kTls, Threads::kOne) {}
};

TEST_F(DelegateUnixTest, OnlyTheUserIsLetIn) {
  struct stat info;
  ASSERT_EQ(::stat((folder_ / "sockets").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((folder_ / "sockets" / "delegate.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DelegateTlsTest, OnlyTheMeshIsLetIn) {
  const TestAuthority stranger;
  stranger.WritePair(folder_ / "client.crt", folder_ / "client.key", "aggregator");
  client_ = NewDelegateClient(ClientEndpoint(), io_.get_executor(), testing::SystemClock());
  EXPECT_EQ(Call("/x").code, 503);
}

TEST_F(DelegateTlsTest, ACertificateOfTheMeshIsNotEnough) {
  for (const std::string name : {"envoy", "console", "core-api"}) {
    ConnectAs(name);
    EXPECT_EQ(Call("/x").code, 503) << name;
  }
  ConnectAs("aggregator");
  EXPECT_EQ(Call("/x").code, 201);
}

TEST_F(DelegateTlsTest, SomeCallersOnlyRead) {
  Request write = For("/x");
  write.method = "POST";
  EXPECT_EQ(Spawn(client_->Call(Request(write))).get().code, 201);
  for (const std::string name : {"authn-authz", "extensions-api"}) {
    ConnectAs(name);
    EXPECT_EQ(Call("/x").code, 201) << name;
    EXPECT_EQ(Spawn(client_->Call(Request(write))).get().code, 500) << name;
  }
}

TEST_F(DelegateTlsTest, TheServerHasToBeTheExpectedProcess) {
  Endpoint endpoint = ClientEndpoint();
  endpoint.identity = IdentityOf(kAuthnAuthz);
  client_ = NewDelegateClient(endpoint, io_.get_executor(), testing::SystemClock());
  EXPECT_EQ(Call("/x").code, 503);
  endpoint.identity.clear();
  EXPECT_THROW(NewDelegateClient(endpoint, io_.get_executor(), testing::SystemClock()), std::runtime_error);
}

TEST_F(DelegateTlsTest, RenewedCertificatesAreUsed) {
  EXPECT_EQ(Call("/x").code, 201);
  const TestAuthority renewed;
  renewed.WriteCa(folder_ / "ca.crt");
  renewed.WritePair(folder_ / "server.crt", folder_ / "server.key", "core-api");
  renewed.WritePair(folder_ / "client.crt", folder_ / "client.key", "aggregator");
  clock_.Advance(1s);  // the server checks its files once per second
  // A new connection, which trusts only the new CA.
  client_ = NewDelegateClient(ClientEndpoint(), io_.get_executor(), testing::SystemClock());
  EXPECT_EQ(Call("/x").code, 201);
}

TEST(NewDelegateClientTest, MissingCertificatesAreAnError) {
  try {
    boost::asio::io_context io{1};
    NewDelegateClient(
        {.target = "dns:///localhost:1", .ca_file = "/no/ca", .cert_file = "/no/cert", .key_file = "/no/key"},
        io.get_executor(), testing::SystemClock());
    FAIL() << "a channel without certificates";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "connecting to dns:///localhost:1 needs mesh certificates, and the file \"/no/ca\" is not there");
  }
}

}  // namespace
}  // namespace apimesh::mesh
