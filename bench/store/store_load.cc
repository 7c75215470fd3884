// Closed-loop load on an etcd v3 endpoint over plain HTTP/2: N clients, one connection and one call at a time each.
// One thread and no gRPC library, so that the client costs the machine as little as possible.
// store_load HOST:PORT put|get|list CLIENTS SECONDS [KEYS] [VALUE_BYTES]
// Prints one line: operations per second and latencies in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/etcd/v3/rpc.pb.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Load {
  std::string operation, authority;
  int keys = 10000;
  std::string value;
  std::mt19937 random{42};
  std::vector<double> latencies;
  std::size_t errors = 0;
  std::size_t bytes = 0;
  bool measuring = true;
  long sequence = -1;  // >= 0: fill keys in order instead of at random

  std::string Key(long number) const {
    char key[64];
    std::snprintf(key, sizeof key, "/registry/load/namespace-%02ld/object-%010ld", number % 50, number);
    return key;
  }
  std::string Path() const { return operation == "put" ? "/etcdserverpb.KV/Put" : "/etcdserverpb.KV/Range"; }
  std::string Message() {
    std::string body;
    const long number = sequence >= 0 ? sequence++ : static_cast<long>(random() % static_cast<unsigned>(keys));
    if (operation == "put") {
      etcdserverpb::PutRequest request;
      request.set_key(Key(number));
      request.set_value(value);
      body = request.SerializeAsString();
    } else {
      etcdserverpb::RangeRequest request;
      request.set_key(operation == "get" ? Key(number) : "/registry/load/");
      if (operation == "list") {
        request.set_range_end("/registry/load0");
        request.set_limit(500);
      }
      body = request.SerializeAsString();
    }
    std::string framed(5, '\0');
    for (int i = 0; i < 4; ++i) framed[1 + i] = static_cast<char>(body.size() >> (24 - 8 * i));
    return framed + body;
  }
};

class Client {
 public:
  Client(Load& load, const sockaddr_in& address) : load_(load) {
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      std::perror("connect");
      std::exit(1);
    }
    const int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t, std::uint32_t, void* self) {
          static_cast<Client*>(self)->Done();
          return 0;
        });
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t, std::uint8_t, void* self) {
          if (name_size == 11 && std::memcmp(name, "grpc-status", 11) == 0)
            static_cast<Client*>(self)->ok_ = *value == '0';
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t*, std::size_t size, void* self) {
          static_cast<Client*>(self)->load_.bytes += size;
          return 0;
        });
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 8 << 20}};
    nghttp2_submit_settings(session_, 0, settings, 1);
    nghttp2_session_set_local_window_size(session_, 0, 0, 64 << 20);
    Submit();
  }
  ~Client() {
    nghttp2_session_del(session_);
    close(fd_);
  }

  int fd() const { return fd_; }
  void Readable() {
    static std::vector<std::uint8_t> buffer(1 << 18);
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    if (got <= 0 || nghttp2_session_mem_recv(session_, buffer.data(), static_cast<std::size_t>(got)) < 0) {
      std::fprintf(stderr, "the server closed a connection\n");
      std::exit(1);
    }
    Flush();
  }

 private:
  static nghttp2_nv Header(const char* name, std::string_view value) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name)),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), std::strlen(name), value.size(), 0};
  }
  void Submit() {
    message_ = load_.Message();
    offset_ = 0;
    start_ = Clock::now();
    const std::string path = load_.Path();
    const nghttp2_nv headers[] = {Header(":method", "POST"),
                                  Header(":scheme", "http"),
                                  Header(":path", path),
                                  Header(":authority", load_.authority),
                                  Header("content-type", "application/grpc"),
                                  Header("te", "trailers")};
    nghttp2_data_provider provider{
        .source = {.ptr = this},
        .read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t size, std::uint32_t* flags,
                            nghttp2_data_source* source, void*) -> ssize_t {
          auto* self = static_cast<Client*>(source->ptr);
          const std::size_t part = std::min(size, self->message_.size() - self->offset_);
          std::memcpy(out, self->message_.data() + self->offset_, part);
          self->offset_ += part;
          if (self->offset_ == self->message_.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
          return static_cast<ssize_t>(part);
        }};
    nghttp2_submit_request(session_, nullptr, headers, std::size(headers), &provider, nullptr);
    Flush();
  }
  void Flush() {
    if (flushing_) return;
    flushing_ = true;
    std::string out;
    const std::uint8_t* data = nullptr;
    for (ssize_t size; (size = nghttp2_session_mem_send(session_, &data)) > 0;) {
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
    for (std::size_t sent = 0; sent < out.size();) {
      const ssize_t part = send(fd_, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
      if (part <= 0) std::exit(1);
      sent += static_cast<std::size_t>(part);
    }
    flushing_ = false;
  }
  void Done() {
    if (!ok_) ++load_.errors;
    load_.latencies.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start_).count());
    if (load_.measuring) Submit();
  }

  Load& load_;
  int fd_ = -1;
  nghttp2_session* session_ = nullptr;
  std::string message_;
  std::size_t offset_ = 0;
  bool ok_ = false, flushing_ = false;
  Clock::time_point start_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: store_load HOST:PORT put|get|list|fill CLIENTS SECONDS [KEYS] [VALUE_BYTES]\n");
    return 2;
  }
  Load load;
  load.authority = argv[1];
  load.operation = argv[2];
  const int clients = std::atoi(argv[3]);
  const double seconds = std::atof(argv[4]);
  if (argc > 5) load.keys = std::atoi(argv[5]);
  load.value.assign(argc > 6 ? static_cast<std::size_t>(std::atoi(argv[6])) : 1024, 'v');
  const bool fill = load.operation == "fill";
  if (fill) {
    load.operation = "put";
    load.sequence = 0;
  }
  sockaddr_in address{.sin_family = AF_INET};
  const std::size_t colon = load.authority.find(':');
  inet_pton(AF_INET, load.authority.substr(0, colon).c_str(), &address.sin_addr);
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(load.authority.c_str() + colon + 1)));

  const int epoll = epoll_create1(0);
  std::vector<std::unique_ptr<Client>> all;
  const auto start = Clock::now();
  for (int i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<Client>(load, address));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = all.back().get()}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, all.back()->fd(), &event);
  }
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  while (fill ? load.sequence < load.keys : elapsed() < seconds) {
    epoll_event events[256];
    const int ready = epoll_wait(epoll, events, 256, 100);
    for (int i = 0; i < ready; ++i) static_cast<Client*>(events[i].data.ptr)->Readable();
  }
  load.measuring = false;
  const double took = elapsed();
  std::ranges::sort(load.latencies);
  const auto percentile = [&](double p) {
    return load.latencies.empty()
               ? 0
               : load.latencies[static_cast<std::size_t>(p * static_cast<double>(load.latencies.size() - 1))];
  };
  std::printf("%.0f ops/s p50 %.0f us p99 %.0f us errors %zu bytes %zu\n",
              static_cast<double>(load.latencies.size()) / took, percentile(0.5), percentile(0.99), load.errors,
              load.bytes);
  return load.errors == 0 ? 0 : 1;
}
