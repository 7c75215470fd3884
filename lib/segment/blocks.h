#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace apimesh::segment {

/// Which blocks of a range of bytes are in use. It never touches the range itself, so it works on memory that others
/// read, and on none at all. Small blocks of a size class share a run of chunks; large ones take whole chunks. Always
/// the lowest place that fits, so that what is free gathers at the end. Not thread-safe.
class Blocks {
 public:
  /// `unused(offset, size)` is told of whole chunks that are no longer in use: their pages can be given back.
  Blocks(std::size_t bytes, std::function<void(std::size_t offset, std::size_t size)> unused);
  ~Blocks();

  /// The offset of a block of at least `size` bytes, aligned to 64; nullopt: there is no room.
  std::optional<std::size_t> Allocate(std::size_t size);
  void Free(std::size_t offset);
  /// In use, counted in whole blocks.
  std::size_t Used() const { return used_; }

  /// How large a block for `size` bytes is.
  static std::size_t BlockSize(std::size_t size);

 private:
  struct Run;
  using Chunk = std::size_t;

  std::optional<Chunk> TakeChunks(std::size_t count);
  void GiveChunks(Chunk first, std::size_t count);
  Run* AddRun(std::size_t block_size);

  const std::size_t chunks_;
  const std::function<void(std::size_t, std::size_t)> unused_;
  std::size_t used_ = 0;
  std::map<Chunk, std::size_t> free_;                     // first chunk to count; neighbours are joined
  std::vector<std::shared_ptr<Run>> runs_;                // of each chunk
  std::map<std::size_t, std::map<Chunk, Run*>> with_room_;  // by block size, then by place
};

}  // namespace apimesh::segment
