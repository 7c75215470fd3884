#include "lib/shared_memory/blocks.h"

#include <algorithm>
#include <bit>

#include "lib/shared_memory/layout.h"

namespace apimesh::shared_memory {
namespace {

constexpr std::size_t kLargest = 32 << 10;  // the largest block that shares its chunks with others
constexpr std::size_t kBlocksOfRun = 8;     // the minimum number of blocks in a run

constexpr std::size_t RoundUp(std::size_t size, std::size_t step) { return (size + step - 1) / step * step; }

}  // namespace

struct Blocks::Run {
  Chunk first = 0;
  std::size_t chunks = 0;
  std::size_t block_size = 0;
  std::size_t blocks = 0;  // 1: one large block
  std::size_t taken = 0;
  std::vector<std::uint64_t> bits;  // a set bit marks a free block

  std::size_t Take() {
    for (std::size_t word = 0;; ++word) {
      if (bits[word] == 0) continue;
      const int bit = std::countr_zero(bits[word]);
      bits[word] &= bits[word] - 1;
      ++taken;
      return word * 64 + static_cast<std::size_t>(bit);
    }
  }
  void Give(std::size_t block) {
    bits[block / 64] |= std::uint64_t{1} << block % 64;
    --taken;
  }
};

Blocks::Blocks(std::size_t bytes, std::function<void(std::size_t, std::size_t)> unused)
    : chunks_(bytes / kChunkBytes), unused_(std::move(unused)) {
  if (chunks_ > 0) free_[0] = chunks_;
}
Blocks::~Blocks() = default;

std::size_t Blocks::BlockSize(std::size_t size) {
  size = std::max<std::size_t>(size, 1);
  if (size > kLargest) return RoundUp(size, kChunkBytes);
  return RoundUp(size, std::max<std::size_t>(64, std::bit_floor(size) / 16));
}

std::optional<std::size_t> Blocks::Allocate(std::size_t size) {
  if (size > chunks_ * kChunkBytes) return std::nullopt;
  const std::size_t block_size = BlockSize(size);
  std::map<Chunk, Run*>& with_room = with_room_[block_size];
  Run* run = with_room.empty() ? AddRun(block_size) : with_room.begin()->second;
  if (run == nullptr) return std::nullopt;
  const std::size_t block = run->Take();
  if (run->taken == run->blocks) with_room.erase(run->first);
  used_ += block_size;
  return run->first * kChunkBytes + block * block_size;
}

void Blocks::Free(std::size_t offset) {
  Run& run = *runs_[offset / kChunkBytes];
  std::map<Chunk, Run*>& with_room = with_room_[run.block_size];
  run.Give((offset - run.first * kChunkBytes) / run.block_size);
  used_ -= run.block_size;
  // One empty run of each shared size is kept for the next block of that size.
  if (run.taken > 0 || (run.blocks > 1 && with_room.empty())) {
    with_room.emplace(run.first, &run);
    return;
  }
  with_room.erase(run.first);
  const Chunk first = run.first;
  const std::size_t count = run.chunks;
  for (std::size_t i = 0; i < count; ++i) runs_[first + i].reset();
  GiveChunks(first, count);
}

Blocks::Run* Blocks::AddRun(std::size_t block_size) {
  const bool large = block_size > kLargest;
  const std::size_t bytes = large ? block_size : std::max(kChunkBytes, std::bit_ceil(block_size * kBlocksOfRun));
  const std::optional<Chunk> first = TakeChunks(bytes / kChunkBytes);
  if (!first) return nullptr;
  const auto run = std::make_shared<Run>();
  run->first = *first;
  run->chunks = bytes / kChunkBytes;
  run->block_size = block_size;
  run->blocks = bytes / block_size;
  run->bits.assign((run->blocks + 63) / 64, ~std::uint64_t{0});
  if (run->blocks % 64 != 0) run->bits.back() = (std::uint64_t{1} << run->blocks % 64) - 1;
  if (runs_.size() < run->first + run->chunks) runs_.resize(run->first + run->chunks);
  for (std::size_t i = 0; i < run->chunks; ++i) runs_[run->first + i] = run;
  with_room_[block_size].emplace(run->first, run.get());
  return run.get();
}

std::optional<Blocks::Chunk> Blocks::TakeChunks(std::size_t count) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second < count) continue;
    const auto [first, length] = *range;
    free_.erase(range);
    if (length > count) free_[first + count] = length - count;
    return first;
  }
  return std::nullopt;
}

void Blocks::GiveChunks(Chunk first, std::size_t count) {
  unused_(first * kChunkBytes, count * kChunkBytes);
  auto range = free_.emplace(first, count).first;
  if (const auto next = std::next(range); next != free_.end() && first + count == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return;
  const auto previous = std::prev(range);
  if (previous->first + previous->second != first) return;
  previous->second += range->second;
  free_.erase(range);
}

}  // namespace apimesh::shared_memory
