#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <zlib.h>

namespace apimesh::gzip {

/// Decompresses a gzip body with zlib. Returns nullopt if it is invalid, incomplete or followed by other bytes.
/// `finished` false: it may be incomplete.
inline std::optional<std::string> Gunzip(std::string_view data, bool finished = true) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  std::string out;
  char buffer[65536];
  int code = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    code = inflate(&stream, Z_SYNC_FLUSH);
    out.append(buffer, sizeof(buffer) - stream.avail_out);
  } while (code == Z_OK && stream.avail_out == 0);
  inflateEnd(&stream);
  const bool good = finished ? code == Z_STREAM_END : code == Z_OK || code == Z_BUF_ERROR;
  return good && stream.avail_in == 0 ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace apimesh::gzip
