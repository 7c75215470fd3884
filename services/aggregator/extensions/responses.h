#pragma once

#include "lib/mesh/delegate/delegate.h"

/// What an extension server may answer. It is trusted less than a process of the mesh.
namespace apimesh::aggregator {

/// The largest message from an extension server. A list may consist of any number of them.
inline constexpr std::size_t kMaxExtensionMessage = 16 << 20;

/// Checks the status code, where 0 stands for 200, and keeps only the headers that describe the body. Returns nullopt,
/// or the response that the client gets instead: a redirect, an upgrade or a malformed header is a 502.
std::optional<mesh::Response> CheckHead(int& code, mesh::Headers& headers);

/// Passes a response on to the client after CheckHead().
class CheckedStream final : public mesh::ResponseStream {
 public:
  explicit CheckedStream(mesh::ResponseStream& stream) : stream_(stream) {}
  Task<bool> WriteHead(int code, mesh::Headers headers) override;
  Task<bool> WriteComplete(mesh::Response response) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return stream_.Write(std::move(pieces)); }
  void OnCancel(std::function<void()> callback) override { stream_.OnCancel(std::move(callback)); }
  void Abort() override { stream_.Abort(); }

 private:
  mesh::ResponseStream& stream_;
};

}  // namespace apimesh::aggregator
