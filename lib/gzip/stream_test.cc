#include "lib/gzip/stream.h"

#include <random>

#include <gtest/gtest.h>

#include "lib/gzip/accepts.h"
#include "lib/gzip/test_gunzip.h"

namespace apimesh::gzip {
namespace {

std::string Noise(std::size_t size) {
  std::minstd_rand random(7);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random() >> 8);
  return out;
}

std::string Lines(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += "{\"name\":\"item-" + std::to_string(i * 7919 % 1000) + "\",\"kind\":\"Thing\"}\n";
  return out;
}

TEST(GzipStream, DecompressesToTheInput) {
  for (const std::string& text : {std::string(), std::string("x"), Lines(3), Lines(20000), Noise(300'000)}) {
    for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1000}}) {
      for (const bool flush : {false, true}) {
        Stream stream;
        std::string out;
        for (std::size_t i = 0; i < text.size(); i += piece)
          stream.Add(std::string_view(text).substr(i, piece), flush, out);
        stream.Finish(out);
        EXPECT_EQ(Gunzip(out), text) << text.size() << " in " << piece;
      }
    }
  }
}

TEST(GzipStream, FlushedBytesCanBeDecompressedImmediately) {
  Stream stream;
  std::string out, plain;
  for (int i = 0; i < 50; ++i) {
    const std::string line = Lines(i * i % 40);  // also an empty piece
    plain += line;
    stream.Add(line, true, out);
    EXPECT_EQ(Gunzip(out, false), plain) << i;
  }
  stream.Finish(out);
  EXPECT_EQ(Gunzip(out), plain);
}

TEST(GzipStream, Compresses) {
  Stream stream;
  std::string out;
  stream.Add(Lines(20000), false, out);
  stream.Finish(out);
  EXPECT_LT(out.size() * 5, Lines(20000).size());
}

TEST(AcceptsGzip, ReadsTheHeader) {
  for (const char* yes : {"gzip", "deflate, gzip;q=1.0", "*", "br,gzip ; q=0.5", "gzip;q=0.001"})
    EXPECT_TRUE(Accepts(yes)) << yes;
  for (const char* no : {"", "identity", "gzip;q=0", "gzip; q=0.000", "xgzip", "br, deflate"})
    EXPECT_FALSE(Accepts(no)) << no;
}

}  // namespace
}  // namespace apimesh::gzip
