#include "lib/gzip/blocks.h"

#include <memory>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <zlib.h>

namespace apimesh::gzip {
namespace {

constexpr std::size_t kLargestStored = 65535;
constexpr std::size_t kStoredHead = 5;

/// 170 KB. A thread needs one of them at a time.
struct Compressor {
  isal_zstream stream;
  std::uint8_t level_buffer[ISAL_DEF_LVL1_SMALL];
};

Compressor& ThreadCompressor() {
  thread_local const std::unique_ptr<Compressor> compressor(new Compressor);
  return *compressor;
}

void AppendNumber(std::string& out, std::uint32_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> 8 * i);
}

std::size_t StoredSize(std::size_t plain) {
  return plain + kStoredHead * ((plain + kLargestStored - 1) / kLargestStored);
}

}  // namespace

Sum SumOf(std::string_view plain) {
  // The function of ISA-L is ten times as fast as that of zlib.
  const std::uint32_t crc = crc32_gzip_refl(0, reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size());
  return {crc, static_cast<std::uint32_t>(crc32_combine_gen64(static_cast<z_off64_t>(plain.size()))), plain.size()};
}

std::string Deflate(std::string_view plain) {
  if (plain.empty()) return {};
  Compressor& compressor = ThreadCompressor();
  isal_zstream& stream = compressor.stream;
  isal_deflate_stateless_init(&stream);
  stream.level = 1;
  stream.level_buf = compressor.level_buffer;
  stream.level_buf_size = sizeof(compressor.level_buffer);
  stream.flush = FULL_FLUSH;  // ends on a byte boundary and not with a final block
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<std::uint32_t>(plain.size());
  std::string out(StoredSize(plain.size()), '\0');
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  // If the text does not become smaller, the compressed form does not fit into the buffer either.
  if (isal_deflate_stateless(&stream) != COMP_OK || stream.avail_in != 0) return Stored(plain);
  out.resize(out.size() - stream.avail_out);
  return out;
}

std::string Stored(std::string_view plain) {
  std::string out;
  out.reserve(StoredSize(plain.size()));
  while (!plain.empty()) {
    const std::string_view part = plain.substr(0, kLargestStored);
    plain.remove_prefix(part.size());
    out += '\0';  // a stored block that is not the last one
    AppendNumber(out, static_cast<std::uint32_t>(part.size()), 2);
    AppendNumber(out, ~static_cast<std::uint32_t>(part.size()), 2);
    out += part;
  }
  return out;
}

std::string_view Body::Head() {
  using namespace std::string_view_literals;
  return "\x1f\x8b\x08\0\0\0\0\0\0\xff"sv;  // deflate; no name, no time, unknown system
}

void Body::Add(const Sum& part) {
  crc_ = static_cast<std::uint32_t>(crc32_combine_op(crc_, part.crc, part.shift));
  size_ += part.size;
}

std::string Body::Tail() const {
  std::string out("\x03\0", 2);  // the last block, which is empty
  AppendNumber(out, crc_, 4);
  AppendNumber(out, static_cast<std::uint32_t>(size_), 4);
  return out;
}

}  // namespace apimesh::gzip
