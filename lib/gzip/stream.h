#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace apimesh::gzip {

/// Compresses a body piece by piece, for speed more than for the last percent. Holds 170 KB while it lives.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;

  /// Adds `data` and appends what is ready to `out`. `flush`: everything given so far comes out.
  void Add(std::string_view data, bool flush, std::string& out);
  void Finish(std::string& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::gzip
