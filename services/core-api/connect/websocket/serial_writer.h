#pragma once

#include <deque>
#include <memory>
#include <string>

#include "lib/base/async/wakeup.h"

namespace apimesh::core_api {

/// Lets several coroutines of one executor write to a stream, which has `Task<bool> Write(std::string)`. A stream
/// accepts one Write() at a time; the others wait here, in the order in which they were called.
template <class Stream>
class SerialWriter {
 public:
  explicit SerialWriter(Stream& stream) : stream_(stream) {}
  SerialWriter(const SerialWriter&) = delete;

  /// Returns false if the other side is gone.
  Task<bool> Write(std::string data) {
    if (busy_) {
      const auto turn = Wakeup::New();
      waiting_.push_back(turn);
      const bool woken = co_await Wakeup::Wait(turn);
      if (!woken) {  // cancelled; its turn may have come at the same time
        if (std::erase(waiting_, turn) == 0) Release();
        co_return false;
      }
    }
    busy_ = true;
    const Turn turn{*this};
    const bool open = co_await stream_.Write(std::move(data));
    co_return open;
  }

 private:
  /// Passes the stream to the next writer when a writer is done, also by an exception.
  struct Turn {
    SerialWriter& writer;
    ~Turn() { writer.Release(); }
  };

  void Release() {
    if (waiting_.empty()) {
      busy_ = false;
      return;
    }
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    next->Wake();
  }

  Stream& stream_;
  bool busy_ = false;  // remains true when the stream is passed on
  std::deque<std::shared_ptr<Wakeup>> waiting_;
};

}  // namespace apimesh::core_api
