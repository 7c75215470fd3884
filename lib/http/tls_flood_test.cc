#include <filesystem>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/hash/hex.h"
#include "lib/http/server.h"
#include "lib/http/test_certificates.h"
#include "lib/http/test_raw_client.h"
#include "lib/net/tls/control_records.h"
#include "lib/net/tls/record_buffer.h"
#include "lib/net/tls/record_cipher.h"
#include "lib/net/tls/traffic_secret.h"

namespace apimesh::http {
namespace {

constexpr unsigned char kAlert = 21;

/// A client that performs the handshake with OpenSSL and can then send TLS 1.3 records of any type and content.
class RecordClient {
 public:
  explicit RecordClient(int port, int version = TLS1_3_VERSION, const char* suites = "TLS_AES_128_GCM_SHA256",
                        std::uint64_t options = 0)
      : context_(SSL_CTX_new(TLS_client_method())), fd_(ConnectTo(port)) {
    SSL_CTX_set_max_proto_version(context_, version);
    SSL_CTX_set_ciphersuites(context_, suites);
    SSL_CTX_set_options(context_, options);
    SSL_CTX_set_keylog_callback(context_, &KeepSecret);
    ssl_ = SSL_new(context_);
    SSL_set_app_data(ssl_, this);
    SSL_set_fd(ssl_, fd_);
    connected_ = SSL_connect(ssl_) == 1;
    if (!secret_.empty()) cipher_ = net::RecordCipher::New(net::TrafficKey(secret_), net::TrafficIv(secret_), 0);
  }
  ~RecordClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }

  bool Connected() const { return connected_; }
  SSL* Ssl() const { return ssl_; }
  int Fd() const { return fd_; }

  /// Returns false if the server has closed the connection.
  bool Send(unsigned char type, std::string_view plain) {
    std::string record(plain.size() + net::RecordCipher::kOverhead, '\0');
    cipher_->Seal(type, std::span(&plain, 1), record.data());
    return ::send(fd_, record.data(), record.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(record.size());
  }
  bool SendKeyUpdate(bool requested) {
    if (!Send(net::RecordCipher::kHandshake, {requested ? "\x18\0\0\1\1" : "\x18\0\0\1\0", 5})) return false;
    secret_ = net::NextTrafficSecret(secret_);
    cipher_ = net::RecordCipher::New(net::TrafficKey(secret_), net::TrafficIv(secret_), 0);
    return true;
  }
  /// Waits up to ten seconds for the server to close the connection.
  bool Ended() const {
    char buffer[16384];
    for (;;) {
      const ssize_t count = ::recv(fd_, buffer, sizeof(buffer), 0);
      if (count == 0 || (count < 0 && errno != EAGAIN)) return true;
      if (count < 0) return false;
    }
  }
  std::string Get(std::string_view target) {
    const std::string request = "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    SSL_write(ssl_, request.data(), static_cast<int>(request.size()));
    std::string all;
    char buffer[16384];
    while (!all.ends_with("done")) {
      const int count = SSL_read(ssl_, buffer, sizeof(buffer));
      if (count <= 0) return "ended";
      all.append(buffer, count);
    }
    return all.substr(all.find("\r\n\r\n") + 4);
  }

 private:
  static void KeepSecret(const SSL* ssl, const char* line) {
    const std::string_view text = line;
    auto* self = static_cast<RecordClient*>(SSL_get_app_data(ssl));
    if (text.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) self->secret_ = FromHex(text.substr(text.rfind(' ') + 1));
  }

  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  int fd_;
  bool connected_ = false;
  std::string secret_;
  std::unique_ptr<net::RecordCipher> cipher_;
};

/// The parameter selects the records of lib/net or those of OpenSSL.
class TlsFlood : public ::testing::TestWithParam<bool> {
 protected:
  TlsFlood() : folder_(std::filesystem::temp_directory_path() / ("tls-flood-" + std::to_string(::getpid()))) {
    net::UseOwnRecords(GetParam());
  }
  ~TlsFlood() override {
    server_.reset();
    net::UseOwnRecords(true);
    std::filesystem::remove_all(folder_);
  }
  void SetUp() override {
    if (!net::RecordCipher::Supported()) GTEST_SKIP() << "the client of this test needs AES instructions";
  }
  int Start() {
    server_ = Listen(options_, Answer);
    return server_->Port();
  }
  static Task<> Answer(Request request, ResponseWriter& writer) {
    std::vector<SharedBytes> body;
    body.emplace_back(std::string(std::stoul(request.target.substr(1)), 'x') + "done");
    Headers headers;
    co_await writer.Send(200, std::move(headers), std::move(body));
  }

  std::filesystem::path folder_;
  ServerOptions options_ = TlsServerIn(folder_);
  std::unique_ptr<Server> server_;
};
INSTANTIATE_TEST_SUITE_P(Records, TlsFlood, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Own" : "OpenSsl"; });

constexpr int kFlood = 200'000;

TEST_P(TlsFlood, KeyUpdatesEndTheConnection) {
  const int port = Start();
  for (const bool requested : {true, false}) {
    RecordClient client(port);
    int sent = 0;
    while (sent < kFlood && client.SendKeyUpdate(requested)) ++sent;
    EXPECT_LT(sent, kFlood);
    EXPECT_TRUE(client.Ended());
  }
  RecordClient other(port);
  EXPECT_EQ(other.Get("/5"), "xxxxxdone");
}

TEST_P(TlsFlood, KeyUpdatesBetweenRequestsCountToo) {
  RecordClient client(Start());
  int sent = 0;
  while (sent < kFlood && client.SendKeyUpdate(true) && client.Send(net::RecordCipher::kApplicationData, "G")) ++sent;
  EXPECT_LT(sent, kFlood);
  EXPECT_TRUE(client.Ended());
}

/// The first KeyUpdate must be answered before anything else is read, and there is no room for the answer. The
/// connection waits for the client until the timeout of a stalled response.
TEST_P(TlsFlood, KeyUpdatesAreNotReadWhileTheAnswerCannotBeSent) {
  options_.limits.idle_timeout = std::chrono::milliseconds(1500);
  const int port = Start();
  RecordClient client(port);
  ASSERT_TRUE(client.Send(net::RecordCipher::kApplicationData, "GET /50000000 HTTP/1.1\r\nHost: a\r\n\r\n"));
  pollfd readable{client.Fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, 10'000), 1);  // the response has begun; it is never read
  const timeval limit{0, 200'000};
  setsockopt(client.Fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  int sent = 0;
  while (sent < kFlood && client.SendKeyUpdate(true)) ++sent;
  EXPECT_LT(sent, kFlood) << "what the kernel holds, and no more";
  RecordClient other(port);
  EXPECT_EQ(other.Get("/5"), "xxxxxdone");
  pollfd ended{client.Fd(), 0, 0};  // POLLHUP and POLLERR are always reported
  EXPECT_EQ(::poll(&ended, 1, 10'000), 1) << "the server has closed the connection";
}

struct Junk {
  const char* name;
  unsigned char type;
  std::string_view content;
};
const Junk kJunk[] = {
    {"AlertsThatAreIgnored", kAlert, std::string_view("\x01\x5a", 2)},  // user_canceled
    {"HandshakeMessagesInParts", net::RecordCipher::kHandshake, std::string_view("\x18", 1)},
    {"EmptyApplicationData", net::RecordCipher::kApplicationData, ""},
    {"EmptyHandshakeMessages", net::RecordCipher::kHandshake, ""},
    {"SessionTicketsToAServer", net::RecordCipher::kHandshake, std::string_view("\x04\0\0\1\0", 5)},
    {"ClientHellosAfterTheHandshake", net::RecordCipher::kHandshake, std::string_view("\x01\0\0\1\0", 5)},
    {"ChangeCipherSpec", 20, std::string_view("\x01", 1)},
};

TEST_P(TlsFlood, OtherRecordsWithoutContentEndTheConnection) {
  const int port = Start();
  for (const Junk& junk : kJunk) {
    RecordClient client(port);
    int sent = 0;
    while (sent < kFlood && client.Send(junk.type, junk.content)) ++sent;
    EXPECT_LT(sent, kFlood) << junk.name;
    EXPECT_TRUE(client.Ended()) << junk.name;
  }
}

TEST_P(TlsFlood, RenegotiationIsRefused) {
  RecordClient client(Start(), TLS1_2_VERSION);
  ASSERT_EQ(client.Get("/1"), "xdone");
  SSL_renegotiate(client.Ssl());
  EXPECT_NE(SSL_do_handshake(client.Ssl()), 1);
}

TEST_P(TlsFlood, TheServerKeepsNoSessions) {
  RecordClient client(Start(), TLS1_2_VERSION, "TLS_AES_128_GCM_SHA256", SSL_OP_NO_TICKET);
  ASSERT_EQ(client.Get("/1"), "xdone");
  unsigned size = 1;
  SSL_SESSION_get_id(SSL_get0_session(client.Ssl()), &size);
  EXPECT_EQ(size, 0u) << "a number would mean that the server can find the session again";
}

TEST_P(TlsFlood, AHandshakeInTinyRecordsIsRefused) {
  const int fd = ConnectTo(Start());
  int sent = 0;  // a ClientHello that announces 4,096 bytes, one per record
  for (; sent < 4096; ++sent) {
    const char first[] = {1, 0, 0x10, 0};
    const char record[] = {22, 3, 1, 0, 1, sent < 4 ? first[sent] : '\3'};
    if (::send(fd, record, sizeof(record), MSG_NOSIGNAL) < 0) break;
    ::usleep(10);
  }
  EXPECT_LT(sent, 4096);
  ::close(fd);
}

TEST_P(TlsFlood, AnUnfinishedHandshakeHasATimeLimit) {
  options_.limits.handshake_timeout = std::chrono::milliseconds(60);
  const int fd = ConnectTo(Start());
  char byte = 0;
  EXPECT_EQ(::recv(fd, &byte, 1, 0), 0);
  ::close(fd);
}

TEST_P(TlsFlood, ManyUnfinishedHandshakesEndTheOldest) {
  options_.limits.handshakes = 20;
  const int port = Start();
  std::vector<int> sockets;
  for (int i = 0; i < 100; ++i) sockets.push_back(ConnectTo(port));
  char byte = 0;
  EXPECT_EQ(::recv(sockets.front(), &byte, 1, 0), 0);
  RecordClient client(port);
  EXPECT_EQ(client.Get("/5"), "xxxxxdone");
  int open = 0;
  for (const int fd : sockets) {
    pollfd ended{fd, POLLIN, 0};
    if (::poll(&ended, 1, 0) == 0) ++open;
    ::close(fd);
  }
  EXPECT_LE(open, 20);
}

TEST_P(TlsFlood, AKeyIsChangedAfterItsRecords) {
  options_.tls_options.records_per_key = 50;
  const int port = Start();
  for (const char* suite : {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}) {
    RecordClient client(port, TLS1_3_VERSION, suite);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Get("/1600000").size(), 1'600'004u) << suite;
  }
  RecordClient old(port, TLS1_2_VERSION);
  EXPECT_EQ(old.Get("/1600000"), "ended") << "TLS 1.2 has no KeyUpdate";
}

}  // namespace
}  // namespace apimesh::http
