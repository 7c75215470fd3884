#include "lib/http/gzip.h"

#include <zlib.h>

#include <stdexcept>

namespace apimesh::http {
namespace {
constexpr int kLevel = 1;
constexpr int kGzipWindow = 15 + 16;  // 16 asks zlib for the gzip wrapping
constexpr int kMemoryLevel = 8;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}
}  // namespace

struct GzipStream::Impl {
  z_stream stream{};

  void Run(std::string_view data, int mode, std::string& out) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    char buffer[16384];
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof(buffer);
      deflate(&stream, mode);
      out.append(buffer, sizeof(buffer) - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

GzipStream::GzipStream() : impl_(std::make_unique<Impl>()) {
  if (deflateInit2(&impl_->stream, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("gzip: out of memory");
  }
}
GzipStream::~GzipStream() { deflateEnd(&impl_->stream); }

void GzipStream::Add(std::string_view data, bool flush, std::string& out) {
  impl_->Run(data, flush ? Z_SYNC_FLUSH : Z_NO_FLUSH, out);
}
void GzipStream::Finish(std::string& out) { impl_->Run({}, Z_FINISH, out); }

bool AcceptsGzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const std::size_t comma = accept_encoding.find(',');
    std::string_view item = accept_encoding.substr(0, comma);
    accept_encoding = comma == std::string_view::npos ? std::string_view() : accept_encoding.substr(comma + 1);
    const std::size_t semicolon = item.find(';');
    const std::string_view parameters = semicolon == std::string_view::npos ? std::string_view() : Trim(item.substr(semicolon + 1));
    item = Trim(item.substr(0, semicolon));
    if (item != "gzip" && item != "*") continue;
    const bool refused = parameters.starts_with("q=0") && parameters.find_first_not_of("0.", 2) == std::string_view::npos;
    return !refused;
  }
  return false;
}

}  // namespace apimesh::http
