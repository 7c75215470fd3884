#pragma once

#include <functional>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::mesh {

/// Splits a streamed response into lines. If the status code is not 200, the body is not read.
class LineReader final : public ResponseStream {
 public:
  /// If `line` returns false, the stream stops. `on_cancel` receives the function that cancels the stream.
  LineReader(std::function<bool(std::string_view line)> line, std::function<void(std::function<void()>)> on_cancel)
      : line_(std::move(line)), on_cancel_(std::move(on_cancel)) {}

  Task<bool> WriteHead(int code, Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  void OnCancel(std::function<void()> callback) override { on_cancel_(std::move(callback)); }

  void Abort() override { aborted_ = true; }

  /// Whether the response ended early, so that it is incomplete.
  bool Aborted() const { return aborted_; }
  int Code() const { return code_; }

 private:
  std::function<bool(std::string_view)> line_;
  std::function<void(std::function<void()>)> on_cancel_;
  int code_ = 0;
  bool aborted_ = false;
  std::string rest_;  // the bytes after the last complete line
};

}  // namespace apimesh::mesh
