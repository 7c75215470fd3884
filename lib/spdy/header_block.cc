#include "lib/spdy/header_block.h"

#include <new>
#include <optional>

#include <zlib.h>

#include "lib/spdy/byte_order.h"
#include "lib/spdy/dictionary.h"

namespace apimesh::spdy {
namespace {

// A connection has a handful of headers, so small windows compress as well as large ones. This compressor takes 9 KB.
constexpr int kWindowBits = 11, kMemoryLevel = 1;

Bytef* Bytes(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

/// Removes a text with its length from the front of `block`.
std::optional<std::string> TakeText(std::string_view& block) {
  if (block.size() < 4) return std::nullopt;
  const std::uint32_t size = ReadUint32(block);
  block.remove_prefix(4);
  if (size > block.size()) return std::nullopt;
  std::string text(block.substr(0, size));
  block.remove_prefix(size);
  return text;
}

bool ParseHeaders(std::string_view block, const Limits& limits, Headers& headers) {
  if (block.size() < 4) return false;
  const std::uint32_t count = ReadUint32(block);
  block.remove_prefix(4);
  if (count > limits.header_fields) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::optional<std::string> name = TakeText(block), value = name ? TakeText(block) : std::nullopt;
    if (!value || name->empty()) return false;
    headers.emplace_back(std::move(*name), std::move(*value));
  }
  return block.empty();
}

}  // namespace

struct HeaderCompressor::Zlib : z_stream {};

HeaderCompressor::HeaderCompressor() : zlib_(std::make_unique<Zlib>()) {
  if (deflateInit2(zlib_.get(), Z_BEST_COMPRESSION, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  deflateSetDictionary(zlib_.get(), Bytes(Dictionary()), static_cast<uInt>(Dictionary().size()));
}
HeaderCompressor::~HeaderCompressor() { deflateEnd(zlib_.get()); }

std::string HeaderCompressor::Compress(const Headers& headers) {
  std::string plain;
  AppendUint32(plain, static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers) {
    for (const std::string_view text : {std::string_view(name), std::string_view(value)}) {
      AppendUint32(plain, static_cast<std::uint32_t>(text.size()));
      plain += text;
    }
  }
  zlib_->next_in = Bytes(plain);
  zlib_->avail_in = static_cast<uInt>(plain.size());
  std::string block;
  char buffer[1024];
  do {
    zlib_->next_out = reinterpret_cast<Bytef*>(buffer);
    zlib_->avail_out = sizeof(buffer);
    deflate(zlib_.get(), Z_SYNC_FLUSH);
    block.append(buffer, sizeof(buffer) - zlib_->avail_out);
  } while (zlib_->avail_out == 0);
  return block;
}

struct HeaderDecompressor::Zlib : z_stream {};

HeaderDecompressor::HeaderDecompressor(const Limits& limits) : limits_(limits), zlib_(std::make_unique<Zlib>()) {
  if (inflateInit(zlib_.get()) != Z_OK) throw std::bad_alloc();
}
HeaderDecompressor::~HeaderDecompressor() { inflateEnd(zlib_.get()); }

bool HeaderDecompressor::Inflate(std::string_view block, std::string& plain) {
  zlib_->next_in = Bytes(block);
  zlib_->avail_in = static_cast<uInt>(block.size());
  char buffer[4096];
  for (;;) {
    zlib_->next_out = reinterpret_cast<Bytef*>(buffer);
    zlib_->avail_out = sizeof(buffer);
    int code = inflate(zlib_.get(), Z_SYNC_FLUSH);
    if (code == Z_NEED_DICT) {
      code = inflateSetDictionary(zlib_.get(), Bytes(Dictionary()), static_cast<uInt>(Dictionary().size()));
      if (code != Z_OK) return false;
      continue;
    }
    plain.append(buffer, sizeof(buffer) - zlib_->avail_out);
    if (plain.size() > limits_.header_bytes) return false;
    if (code == Z_BUF_ERROR) return zlib_->avail_in == 0;  // there was nothing left to do
    if (code != Z_OK) return false;
    if (zlib_->avail_in == 0 && zlib_->avail_out != 0) return true;
  }
}

bool HeaderDecompressor::Decompress(std::string_view block, Headers& headers) {
  std::string plain;
  return Inflate(block, plain) && ParseHeaders(plain, limits_, headers);
}

}  // namespace apimesh::spdy
