#include "lib/net/send_group.h"

#include <filesystem>
#include <set>
#include <thread>

#include <arpa/inet.h>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/http/server.h"
#include "lib/http/test_certificates.h"
#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

constexpr int kClients = 140;  // more than one system call sends
std::string ChunkBody(std::size_t i) {
  return std::string(i % 7 == 0 ? i : 30'000 + i * 13, static_cast<char>('a' + i % 26));
}
/// The first chunks in their wire encoding.
std::string FirstChunks(std::size_t count) {
  std::string all;
  for (std::size_t i = 1; i <= count; ++i) all += Chunk({SharedBytes(ChunkBody(i))}).Wire();
  return all;
}

Task<> Pause(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

/// Clients join, each for a number of chunks; one request sends the chunks to all of them, in groups.
class Broadcaster {
 public:
  Task<> Handle(Request request, ResponseWriter& writer) {
    if (request.target == "/broadcast") return Broadcast(writer);
    return Join(std::stoul(request.target.substr(1)), writer);
  }

  std::atomic<bool> over{false};
  std::atomic<int> joined{0};

 private:
  struct Member {
    ResponseWriter* writer;
    std::size_t chunks;
    std::size_t sent = 0;
    bool busy = false;  // its socket is full; Join() continues writing
  };

  Task<> Join(std::size_t chunks, ResponseWriter& writer) {
    Headers headers;
    co_await writer.Start(200, std::move(headers), false);
    Member member{&writer, chunks};
    members_.insert(&member);
    bool gone = false;
    writer.OnDisconnect([&] { gone = true; });
    ++joined;
    while (!over && !gone) {
      if (!member.busy) co_await Pause(std::chrono::milliseconds(5));
      while (member.busy && member.sent < member.chunks) {
        std::vector<SharedBytes> pieces;
        pieces.emplace_back(ChunkBody(++member.sent));
        if (!co_await writer.Write(std::move(pieces))) break;
      }
      member.busy = false;
    }
    members_.erase(&member);
    writer.OnDisconnect(nullptr);
    if (!gone) co_await writer.Finish();
  }

  Task<> Broadcast(ResponseWriter& answer) {
    for (std::size_t i = 1; i <= kClients; ++i) {
      {
        const net::SendGroup group;
        for (Member* member : members_) {
          if (member->busy || member->sent >= member->chunks) continue;
          member->busy = !member->writer->TryWrite(Chunk({SharedBytes(ChunkBody(member->sent + 1))}));
          if (!member->busy) ++member->sent;
        }
      }
      co_await Pause(std::chrono::milliseconds(1));
    }
    Headers headers;
    std::vector<SharedBytes> body;
    body.emplace_back("done");
    co_await answer.Send(200, std::move(headers), std::move(body));
  }

  std::set<Member*> members_;
};

class TlsReader {
 public:
  TlsReader(int port, int version, const std::string& path) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_, version);
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const int small = 4096;
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    const timeval limit{10, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(port));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, fd_);
    EXPECT_EQ(SSL_connect(ssl_), 1);
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
    SSL_write(ssl_, request.data(), static_cast<int>(request.size()));
  }
  ~TlsReader() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }
  TlsReader(const TlsReader&) = delete;

  /// The body up to this many bytes.
  std::string Read(std::size_t size, bool slowly) {
    char buffer[16384];
    for (int reads = 0; body_.size() < size; ++reads) {
      if (slowly && reads % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const int count = SSL_read(ssl_, buffer, sizeof(buffer));
      if (count <= 0)
        return "ended: " + std::to_string(SSL_get_error(ssl_, count)) + " after " + std::to_string(body_.size());
      (in_body_ ? body_ : head_).append(buffer, count);
      if (const std::size_t end = head_.find("\r\n\r\n"); !in_body_ && end != std::string::npos) {
        in_body_ = true;
        body_ = head_.substr(end + 4);
      }
    }
    return body_;
  }

 private:
  SSL_CTX* context_;
  SSL* ssl_;
  int fd_;
  bool in_body_ = false;
  std::string head_, body_;
};

TEST(SendGroup, EveryClientGetsAllInOrderHoweverSlowlyItReads) {
  const auto folder = std::filesystem::temp_directory_path() / ("group-" + std::to_string(::getpid()));
  Broadcaster broadcaster;
  const auto server = Listen(TlsServerIn(folder), [&broadcaster](Request request, ResponseWriter& writer) {
    return broadcaster.Handle(std::move(request), writer);
  });

  // The numbers of chunks differ, so that for one client the socket is just full.
  const auto chunks_of = [](int client) { return static_cast<std::size_t>(client + 1); };
  std::vector<std::unique_ptr<TlsReader>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<TlsReader>(server->Port(), i % 5 == 0 ? TLS1_2_VERSION : TLS1_3_VERSION,
                                                  "/" + std::to_string(chunks_of(i))));
  }
  ASSERT_TRUE(testing::Eventually([&] { return broadcaster.joined == kClients; }));
  for (int i = 10; i < kClients; i += 10) clients[i].reset();  // some have disconnected before it begins

  std::vector<std::thread> readers;
  const auto read = [&](int i, bool slowly) {
    const std::string want = FirstChunks(chunks_of(i)), got = clients[i]->Read(want.size(), slowly);
    EXPECT_TRUE(got == want) << i << ": " << got.substr(0, 60);
  };
  TlsReader trigger(server->Port(), TLS1_3_VERSION, "/broadcast");
  for (int i = 0; i < kClients; i += 4) {
    if (clients[i]) readers.emplace_back(read, i, true);
  }
  EXPECT_EQ(trigger.Read(4, false), "done");
  // Broadcast() has ended: bytes for which a full socket had no room must be sent without it.
  for (int i = 0; i < kClients; ++i) {
    if (clients[i] && i % 4 != 0) read(i, false);
  }
  for (std::thread& reader : readers) reader.join();
  broadcaster.over = true;
  for (int i = 0; i < kClients; ++i) {
    if (!clients[i]) continue;
    const std::string want = FirstChunks(chunks_of(i)) + "0\r\n\r\n";
    EXPECT_TRUE(clients[i]->Read(want.size(), false) == want) << i;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace apimesh::http
