#include "lib/shared_memory/segment.h"

#include <algorithm>
#include <mutex>
#include <new>

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/hash/hex.h"
#include "lib/shared_memory/blocks.h"
#include "lib/shared_memory/layout.h"

namespace apimesh::shared_memory {
namespace {

std::string NewId() {
  unsigned char random[16];
  if (RAND_bytes(random, sizeof(random)) != 1) return {};
  return Hex(random);
}

std::shared_ptr<Segment>& OwnSegment() {
  static auto* const own = new std::shared_ptr<Segment>();  // never destroyed: static objects may hold bytes in it
  return *own;
}

/// Lets std::allocate_shared place a reference count and its bytes into one block of a segment.
template <class T>
struct BlockAllocator {
  using value_type = T;
  explicit BlockAllocator(Segment* given) : segment(given) {}
  template <class U>
  BlockAllocator(const BlockAllocator<U>& other) : segment(other.segment) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    void* const block = segment->Allocate(count * sizeof(T));
    if (block == nullptr) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t) { segment->Free(block); }
  template <class U>
  bool operator==(const BlockAllocator<U>& other) const {
    return segment == other.segment;
  }

  Segment* segment;
};

SharedBytes Filled(const std::shared_ptr<char[]>& block, std::initializer_list<std::string_view> parts) {
  char* end = block.get();
  for (const std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
  return SharedBytes(std::shared_ptr<const void>(block, block.get()),
                     {block.get(), static_cast<std::size_t>(end - block.get())});
}

std::size_t TotalSize(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  return size;
}

}  // namespace

struct Segment::State {
  State(char* base, std::size_t bytes)
      : blocks(bytes, [base](std::size_t offset, std::size_t size) { madvise(base + offset, size, MADV_REMOVE); }) {
    for (std::size_t slot = kSlots; slot > 0; --slot) free_slots.push_back(slot - 1);
  }

  mutable std::mutex mutex;
  Blocks blocks;  // guarded by mutex, as all below
  std::vector<std::size_t> free_slots;
  std::uint64_t last_lease = 0;
};

std::shared_ptr<Segment> Segment::New(std::size_t bytes) {
  bytes = std::max(bytes / kChunkBytes, std::size_t{2}) * kChunkBytes;
  std::string id = NewId();
  const int fd = memfd_create("apimesh", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || id.empty()) return nullptr;
  void* base = MAP_FAILED;
  // The seals guarantee that a reader's mapping never becomes shorter.
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  if (base == MAP_FAILED) {
    close(fd);
    return nullptr;
  }
  return std::shared_ptr<Segment>(new Segment(fd, static_cast<char*>(base), bytes, std::move(id)));
}

Segment::Segment(int fd, char* base, std::size_t bytes, std::string id)
    : fd_(fd), base_(base), bytes_(bytes), id_(std::move(id)), state_(std::make_unique<State>(base, bytes)) {
  state_->blocks.Allocate(kChunkBytes);  // the first chunk holds the header
  auto* const header = new (base_) Header();
  header->magic = kMagic;
  std::copy(id_.begin(), id_.end(), header->id.begin());
}

Segment::~Segment() {
  munmap(base_, bytes_);
  close(fd_);
}

void Segment::SetOwn(std::shared_ptr<Segment> segment) { OwnSegment() = std::move(segment); }
const std::shared_ptr<Segment>& Segment::Own() { return OwnSegment(); }

std::string Segment::Name() const { return std::to_string(getpid()) + "/" + std::to_string(fd_) + "/" + id_; }

void* Segment::Allocate(std::size_t size) {
  const std::lock_guard lock(state_->mutex);
  const std::optional<std::size_t> offset = state_->blocks.Allocate(size);
  return offset ? base_ + *offset : nullptr;
}

void Segment::Free(void* block) {
  const std::lock_guard lock(state_->mutex);
  state_->blocks.Free(static_cast<std::size_t>(static_cast<char*>(block) - base_));
}

std::size_t Segment::Used() const {
  const std::lock_guard lock(state_->mutex);
  return state_->blocks.Used();
}

std::optional<SharedBytes> Segment::Join(std::initializer_list<std::string_view> parts) {
  try {
    return Filled(std::allocate_shared_for_overwrite<char[]>(BlockAllocator<char>(this), TotalSize(parts)), parts);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::optional<Position> Segment::Find(std::string_view bytes) const {
  if (bytes.data() < base_ || bytes.data() >= base_ + bytes_) return std::nullopt;
  return Position{static_cast<std::size_t>(bytes.data() - base_), bytes.size()};
}

std::unique_ptr<Segment::Lease> Segment::NewLease() {
  std::unique_lock lock(state_->mutex);
  if (state_->free_slots.empty()) return nullptr;
  const std::size_t slot = state_->free_slots.back();
  state_->free_slots.pop_back();
  const std::uint64_t number = ++state_->last_lease;
  lock.unlock();
  reinterpret_cast<Header*>(base_)->slots[slot].store(number, std::memory_order_release);
  return std::unique_ptr<Lease>(new Lease(shared_from_this(), slot, number));
}

Segment::Lease::~Lease() {
  // The order matters: a reader checks this word after it has copied bytes. It is cleared before the bytes are freed,
  // so a reader never accepts other bytes that were written to the same block.
  reinterpret_cast<Header*>(segment_->base_)->slots[slot_].store(0, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  kept_.clear();
  const std::lock_guard lock(segment_->state_->mutex);
  segment_->state_->free_slots.push_back(slot_);
}

SharedBytes Share(std::initializer_list<std::string_view> parts) {
  if (const auto& own = Segment::Own()) {
    if (std::optional<SharedBytes> shared = own->Join(parts)) return std::move(*shared);
  }
  return Filled(std::make_shared_for_overwrite<char[]>(TotalSize(parts)), parts);
}

}  // namespace apimesh::shared_memory
