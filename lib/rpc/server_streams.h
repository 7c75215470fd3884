#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/h2/server_call.h"
#include "lib/rpc/delegate.h"

namespace apimesh::rpc {

/// The server's end of Stream.
class StreamWriter final : public ResponseStream {
 public:
  explicit StreamWriter(h2::ServerCallPtr call);

  Task<bool> WriteHead(int code, Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  Task<bool> WriteWhole(Response response) override;
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, WatchPlace place) override;
  void OnCancel(std::function<void()> callback) override;
  void Abort() override;

  /// The handler is done: ends the call.
  void End();
  /// Lets the handler believe that its reader is gone. From any thread.
  void Interrupt();

 private:
  bool Cancelled();

  const h2::ServerCallPtr call_;
  std::mutex mutex_;
  std::vector<std::function<void()>> cancel_;  // guarded by mutex_, as all below
  bool cancelled_ = false;
  bool aborted_ = false;
};

/// The server's end of Connect. The call ends with it.
class ConnectEnd final : public ConnectStream {
 public:
  explicit ConnectEnd(h2::ServerCallPtr call) : call_(std::move(call)) {}
  ~ConnectEnd() override { Close(); }

  Task<bool> Answer(Response head) override;
  Task<meta::Result<std::string>> Read() override;
  Task<bool> Write(std::string data) override;
  void Close() override;

 private:
  const h2::ServerCallPtr call_;
  bool remote_closed_ = false;
};

}  // namespace apimesh::rpc
