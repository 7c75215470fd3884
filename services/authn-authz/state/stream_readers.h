#pragma once

#include <functional>

#include "lib/rpc/delegate.h"

namespace apimesh::authn_authz {

/// Takes a streamed answer line by line. Until the code is known to be 200, everything is one text (the error).
class LineReader final : public rpc::ResponseStream {
 public:
  /// False from `line` stops the stream. `on_cancel` gets the function that cancels it.
  LineReader(std::function<bool(std::string_view line)> line, std::function<void(std::function<void()>)> on_cancel)
      : line_(std::move(line)), on_cancel_(std::move(on_cancel)) {}

  Task<bool> WriteHead(int code, rpc::Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  void OnCancel(std::function<void()> callback) override { on_cancel_(std::move(callback)); }

  void Abort() override { aborted_ = true; }

  /// The answer broke off: what came is not all there was.
  bool Aborted() const { return aborted_; }
  int Code() const { return code_; }
  /// What came after the last whole line.
  const std::string& Rest() const { return rest_; }

 private:
  std::function<bool(std::string_view)> line_;
  std::function<void(std::function<void()>)> on_cancel_;
  int code_ = 0;
  bool aborted_ = false;
  std::string rest_;
};

}  // namespace apimesh::authn_authz
