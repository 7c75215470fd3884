#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spdy/limits.h"

namespace apimesh::spdy {

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case

/// Compresses the headers of all frames that one side sends. The blocks share one zlib stream, so they must be sent in
/// the order in which they were made.
class HeaderCompressor {
 public:
  HeaderCompressor();
  ~HeaderCompressor();
  HeaderCompressor(const HeaderCompressor&) = delete;

  std::string Compress(const Headers& headers);

 private:
  struct Zlib;
  std::unique_ptr<Zlib> zlib_;
};

/// Decompresses the headers of all frames that one side receives, in the order in which they were received.
class HeaderDecompressor {
 public:
  explicit HeaderDecompressor(const Limits& limits);
  ~HeaderDecompressor();
  HeaderDecompressor(const HeaderDecompressor&) = delete;

  /// Returns false if the block is not valid or exceeds the limits. No other block can be decompressed afterwards.
  bool Decompress(std::string_view block, Headers& headers);

 private:
  bool Inflate(std::string_view block, std::string& plain);

  struct Zlib;
  const Limits limits_;
  std::unique_ptr<Zlib> zlib_;
};

}  // namespace apimesh::spdy
