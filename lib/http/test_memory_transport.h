#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lib/net/transport.h"

namespace apimesh::http {

/// A connection in memory. Reads return the given input, and written bytes are discarded.
class MemoryTransport final : public net::Transport {
 public:
  struct State {
    std::string_view input;   // must stay valid
    std::size_t piece = 1;    // the maximum number of bytes that one TryRead() returns
    bool buffered = false;    // several pieces may be read in one turn of the event loop
    unsigned fail_every = 0;  // one of this many writes finds the socket full; 0: never
    unsigned writes = 0;
    bool closed = false;
    std::function<void()> readable, writable;  // callbacks that wait for the socket

    /// Calls the callbacks that wait for the socket.
    void Wake() {
      if (readable && (!input.empty() || closed)) std::exchange(readable, nullptr)();
      if (writable) std::exchange(writable, nullptr)();
    }
  };
  explicit MemoryTransport(std::shared_ptr<State> state) : state_(std::move(state)) {}

  long TryRead(char* buffer, std::size_t size) override {
    if (state_->closed) return kFailed;
    if (state_->input.empty()) return kWouldBlock;
    const std::size_t count = state_->input.copy(buffer, std::min(size, state_->piece));
    state_->input.remove_prefix(count);
    return static_cast<long>(count);
  }
  bool Buffered() const override { return state_->buffered && !state_->input.empty(); }
  long TryWrite(std::span<const std::string_view> pieces, std::span<const SharedBytes>) override {
    if (state_->closed) return kFailed;
    if (state_->fail_every > 0 && ++state_->writes % state_->fail_every == 0) return kWouldBlock;
    long size = 0;
    for (const std::string_view piece : pieces) {
      size += static_cast<long>(piece.size());
      if (!piece.empty())
        sum_ = sum_ + piece.front() + piece.back();  // reads the memory, so that a sanitizer reports
                                                     // freed memory
    }
    return size;
  }
  void WaitReadable(std::function<void()> done) override { state_->readable = std::move(done); }
  void WaitWritable(std::function<void()> done) override { state_->writable = std::move(done); }
  Handshake TryHandshake() override { return Handshake::kDone; }
  void DescribePeer(net::Peer&) const override {}
  std::string Error() const override { return ""; }
  void ShutdownWrite() override {}
  void Close() override { state_->closed = true; }
  Detached Detach() override { return {}; }

 private:
  const std::shared_ptr<State> state_;
  volatile int sum_ = 0;
};

}  // namespace apimesh::http
