#include "lib/net/tls/record_cipher.h"

#include <filesystem>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/hash/hex.h"
#include "lib/http/server.h"
#include "lib/http/test_certificates.h"
#include "lib/http/test_raw_client.h"
#include "lib/net/tls/traffic_secret.h"

namespace apimesh::http {
namespace {

/// Decrypts with OpenSSL; returns "" if the tag is wrong.
std::string Open(std::string_view key, std::string_view iv, std::uint64_t sequence, std::string record) {
  std::string nonce(iv);
  for (int i = 0; i < 8; ++i) nonce[11 - i] = static_cast<char>(nonce[11 - i] ^ static_cast<char>(sequence >> (8 * i)));
  const std::size_t size = record.size() - 5 - 16;
  std::string plain(size, '\0');
  const auto bytes = [](auto& text) { return reinterpret_cast<unsigned char*>(text.data()); };
  const auto const_bytes = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  int length = 0;
  EVP_DecryptInit_ex(context, key.size() == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm(), nullptr, const_bytes(key),
                     const_bytes(nonce));
  EVP_DecryptUpdate(context, nullptr, &length, const_bytes(record), 5);
  EVP_DecryptUpdate(context, bytes(plain), &length, const_bytes(record) + 5, static_cast<int>(size));
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, bytes(record) + 5 + size);
  const bool intact = EVP_DecryptFinal_ex(context, bytes(plain) + length, &length) == 1;
  EVP_CIPHER_CTX_free(context);
  return intact ? plain : "";
}

class RecordCipherOf : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!net::RecordCipher::Supported())
      GTEST_SKIP() << "this processor has no AES instructions: OpenSSL makes the records";
  }
};

TEST_P(RecordCipherOf, MakesRecordsThatOpenSslReads) {
  const std::string key(GetParam(), 'k'), iv = "initvector12";
  const auto cipher = net::RecordCipher::New(key, iv, 254);
  ASSERT_TRUE(cipher);
  std::uint64_t sequence = 254;  // so that the range includes a carry of the lowest byte
  for (const std::size_t size : {0, 1, 15, 16, 17, 511, 512, 513, 600, 2047, 2048, 4096, 6000, 16383, 16384}) {
    for (const std::size_t piece : {1, 7, 500, 512, 1000, 5000, 16384}) {
      std::string plain;
      for (std::size_t i = 0; i < size; ++i) plain += static_cast<char>('a' + (i * 7 + size) % 26);
      std::vector<std::string_view> pieces;
      for (std::size_t at = 0; at < size; at += piece) pieces.push_back(std::string_view(plain).substr(at, piece));
      std::string record(size + net::RecordCipher::kOverhead, '\0');
      ASSERT_EQ(cipher->Seal(net::RecordCipher::kApplicationData, pieces, record.data()), record.size());
      EXPECT_EQ(record.substr(0, 3), "\x17\x03\x03");
      ASSERT_EQ(Open(key, iv, sequence, record), plain + '\x17') << size << " bytes in pieces of " << piece;
      EXPECT_EQ(Open(key, iv, sequence + 1, record), "") << "a number is used once";
      ++sequence;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Keys, RecordCipherOf, ::testing::Values(16u, 32u));

TEST(RecordCipher, RefusesKeysOfOtherSizes) {
  EXPECT_FALSE(net::RecordCipher::New("short", "initvector12", 0));
  EXPECT_FALSE(net::RecordCipher::New(std::string(16, 'k'), "short", 0));
}

// The example of RFC 8448, section 3.
TEST(TrafficSecret, MakesKeyAndIv) {
  const std::string secret = FromHex("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643");
  ASSERT_EQ(secret.size(), 32u);
  const auto hex = [](const std::string& text) {
    return Hex(std::span(reinterpret_cast<const unsigned char*>(text.data()), text.size()));
  };
  EXPECT_EQ(hex(net::TrafficKey(secret)), "9f02283b6c9c07efc26bb9f2ac92e356");
  EXPECT_EQ(hex(net::TrafficIv(secret)), "cf782b88dd83549aadf1e984");
  EXPECT_NE(net::NextTrafficSecret(secret), secret);
}

/// Runs OpenSSL's own client against this server, so that any difference between the two ends the connection.
class SealedServer : public ::testing::Test {
 protected:
  SealedServer() {
    folder_ = std::filesystem::temp_directory_path() / ("sealed-" + std::to_string(::getpid()));
    server_ = Listen(TlsServerIn(folder_), Answer);
  }
  ~SealedServer() override { std::filesystem::remove_all(folder_); }

  /// Chunks of all sizes, each written as far as possible without waiting.
  static Task<> AnswerEagerly(ResponseWriter& writer) {
    Headers headers;
    co_await writer.Start(200, std::move(headers), false);
    for (std::size_t i = 1; i <= kChunks; ++i) {
      std::vector<SharedBytes> pieces;
      pieces.emplace_back(ChunkBody(i));
      if (writer.TryWrite(Chunk(pieces))) continue;
      if (!co_await writer.Write(std::move(pieces))) co_return;
    }
    co_await writer.Finish();
  }
  static constexpr std::size_t kChunks = 150;
  static std::string ChunkBody(std::size_t i) {
    return std::string(i * 997 % 300'000 + 1, static_cast<char>('a' + i % 26));
  }

  /// As many bytes as the path specifies, in pieces of all sizes.
  static Task<> Answer(Request request, ResponseWriter& writer) {
    if (request.target == "/eager") co_return co_await AnswerEagerly(writer);
    std::vector<SharedBytes> body;
    const std::string text = Body(std::stoul(request.target.substr(1)));
    for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = size * 3 % 20'011)
      body.emplace_back(text.substr(at, size));
    Headers headers;
    co_await writer.Send(200, std::move(headers), std::move(body));
  }
  static std::string Body(std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 23);
    return text;
  }

  struct Client {
    Client(int port, const char* suites, int version, SSL_SESSION* session = nullptr)
        : context(SSL_CTX_new(TLS_client_method())) {
      SSL_CTX_set_max_proto_version(context, version);
      if (version == TLS1_3_VERSION) SSL_CTX_set_ciphersuites(context, suites);
      fd = ConnectTo(port);
      ssl = SSL_new(context);
      if (session != nullptr) SSL_set_session(ssl, session);
      SSL_set_fd(ssl, fd);
      EXPECT_EQ(SSL_connect(ssl), 1);
    }
    ~Client() {
      SSL_free(ssl);
      SSL_CTX_free(context);
      ::close(fd);
    }
    std::string Get(std::size_t size, std::string_view headers = "") {
      const std::string request =
          "GET /" + std::to_string(size) + " HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n";
      EXPECT_EQ(SSL_write(ssl, request.data(), static_cast<int>(request.size())), static_cast<int>(request.size()));
      std::string all;
      char buffer[16384];
      while (all.find("\r\n\r\n") == std::string::npos || all.size() < all.find("\r\n\r\n") + 4 + size) {
        const int count = SSL_read(ssl, buffer, sizeof(buffer));
        if (count <= 0) return "ended: " + std::to_string(SSL_get_error(ssl, count));
        all.append(buffer, count);
      }
      return all.substr(all.find("\r\n\r\n") + 4);
    }
    SSL_CTX* context;
    SSL* ssl;
    int fd;
  };

  std::filesystem::path folder_;
  std::unique_ptr<Server> server_;
};

TEST_F(SealedServer, SpeaksEverySuite) {
  struct Case {
    const char* suites;
    int version;
  };
  for (const Case& one :
       {Case{"TLS_AES_128_GCM_SHA256", TLS1_3_VERSION}, Case{"TLS_AES_256_GCM_SHA384", TLS1_3_VERSION},
        Case{"TLS_CHACHA20_POLY1305_SHA256", TLS1_3_VERSION}, Case{"", TLS1_2_VERSION}}) {
    Client client(server_->Port(), one.suites, one.version);
    for (const std::size_t size : {0, 1, 600, 16'384, 300'000, 3'000'000}) {
      EXPECT_EQ(client.Get(size), Body(size)) << SSL_get_cipher_name(client.ssl) << " " << size;
    }
  }
}

TEST_F(SealedServer, ChangesKeysWhenTheClientAsks) {
  for (const char* suite : {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}) {
    Client client(server_->Port(), suite, TLS1_3_VERSION);
    for (int round = 0; round < 4; ++round) {
      EXPECT_EQ(client.Get(40'000), Body(40'000)) << suite << " " << round;
      ASSERT_EQ(SSL_key_update(client.ssl, round % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED),
                1);
    }
    EXPECT_EQ(client.Get(5), Body(5));
  }
}

TEST_F(SealedServer, SessionsAreResumed) {
  SSL_SESSION* session = nullptr;
  {
    Client client(server_->Port(), "TLS_AES_128_GCM_SHA256", TLS1_3_VERSION);
    EXPECT_EQ(client.Get(10), Body(10));
    session = SSL_get1_session(client.ssl);
    SSL_shutdown(client.ssl);  // OpenSSL does not resume sessions of connections that were not shut down
  }
  Client again(server_->Port(), "TLS_AES_128_GCM_SHA256", TLS1_3_VERSION, session);
  EXPECT_EQ(SSL_session_reused(again.ssl), 1) << "the ticket came in a record of ours";
  EXPECT_EQ(again.Get(10), Body(10));
  SSL_SESSION_free(session);
}

TEST_F(SealedServer, WritesTheSameWhetherItWaitsOrNot) {
  std::string want = "HTTP/1.1";
  for (std::size_t i = 1; i <= kChunks; ++i) {
    char head[32];
    std::snprintf(head, sizeof(head), "%zx\r\n", ChunkBody(i).size());
    want += head + ChunkBody(i) + "\r\n";
  }
  want += "0\r\n\r\n";
  Client client(server_->Port(), "TLS_AES_128_GCM_SHA256", TLS1_3_VERSION);
  const std::string_view request = "GET /eager HTTP/1.1\r\nHost: a\r\n\r\n";
  SSL_write(client.ssl, request.data(), static_cast<int>(request.size()));
  std::string all;
  char buffer[16384];
  for (int reads = 0; !all.ends_with("\r\n0\r\n\r\n"); ++reads) {
    if (reads % 100 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the socket becomes full repeatedly
    const int count = SSL_read(client.ssl, buffer, sizeof(buffer));
    ASSERT_GT(count, 0) << SSL_get_error(client.ssl, count);
    all.append(buffer, count);
  }
  EXPECT_TRUE("HTTP/1.1" + all.substr(all.find("\r\n\r\n") + 4) == want);
}

TEST_F(SealedServer, EndsCleanly) {
  Client client(server_->Port(), "TLS_AES_256_GCM_SHA384", TLS1_3_VERSION);
  EXPECT_EQ(client.Get(10, "Connection: close\r\n"), Body(10));
  char byte = 0;
  const int count = SSL_read(client.ssl, &byte, 1);
  EXPECT_EQ(SSL_get_error(client.ssl, count), SSL_ERROR_ZERO_RETURN) << "a close_notify that can be read";
}

}  // namespace
}  // namespace apimesh::http
