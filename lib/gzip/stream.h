#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace apimesh::gzip {

/// Compresses a body in pieces, optimised for speed rather than for size. Holds 170 KB while it exists.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;

  /// Adds `data` and appends available output to `out`. `flush`: everything that was added so far is output.
  void Add(std::string_view data, bool flush, std::string& out);
  void Finish(std::string& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::gzip
