#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace apimesh::http {

/// Compresses a body piece by piece (zlib level 1: what the reference uses; speed matters more than the last percent).
class GzipStream {
 public:
  GzipStream();
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;

  /// Adds `data` and appends what is ready to `out`. `flush`: everything given so far comes out.
  void Add(std::string_view data, bool flush, std::string& out);
  void Finish(std::string& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether an Accept-Encoding header allows gzip.
bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace apimesh::http
