#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::mesh {

/// Keeps a streamed response in memory, without copying its pieces.
class CollectedResponse final : public ResponseStream {
 public:
  /// `on_cancel`, if set, receives the function that cancels the stream.
  explicit CollectedResponse(std::function<void(std::function<void()>)> on_cancel = nullptr)
      : on_cancel_(std::move(on_cancel)) {}

  Task<bool> WriteHead(int code, Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  Task<bool> WriteComplete(Response response) override;
  void OnCancel(std::function<void()> callback) override {
    if (on_cancel_) on_cancel_(std::move(callback));
  }
  void Abort() override { aborted_ = true; }

  /// Whether the response has a head and did not end early.
  bool Complete() const { return started_ && !aborted_; }
  /// The response; code 0 if there is none.
  const Response& Get() const { return response_; }
  Response Take() { return std::move(response_); }

 private:
  const std::function<void(std::function<void()>)> on_cancel_;
  Response response_ = {.code = 0, .headers = {}, .body = {}};
  bool started_ = false;
  bool aborted_ = false;
};

}  // namespace apimesh::mesh
