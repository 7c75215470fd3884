#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace apimesh::shared_memory {

/// Tracks which blocks of a range of bytes are in use. It never accesses the range itself, so it also works on memory
/// that other processes read, and without any memory. Small blocks of one size class share a run of chunks; large
/// blocks take complete chunks. The lowest free block that fits is used, so that free space accumulates at the end. Not
/// thread-safe.
class Blocks {
 public:
  /// Calls `unused(offset, size)` for complete chunks that are no longer in use: their pages can be returned to the
  /// kernel.
  Blocks(std::size_t bytes, std::function<void(std::size_t offset, std::size_t size)> unused);
  ~Blocks();

  /// Returns the offset of a block of at least `size` bytes, aligned to 64, or nullopt if there is no room.
  std::optional<std::size_t> Allocate(std::size_t size);
  void Free(std::size_t offset);
  /// Returns the number of bytes in use, counted in complete blocks.
  std::size_t Used() const { return used_; }

  /// Returns the size of the block that `size` bytes need.
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
  std::map<Chunk, std::size_t> free_;       // first chunk -> number of chunks; adjacent ranges are merged
  std::vector<std::shared_ptr<Run>> runs_;  // the run of each chunk
  std::map<std::size_t, std::map<Chunk, Run*>> with_room_;  // by block size, then by position
};

}  // namespace apimesh::shared_memory
