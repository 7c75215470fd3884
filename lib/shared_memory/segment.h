#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"

/// Memory of one process that a peer process on the same machine may read; see README.md.
namespace apimesh::shared_memory {

/// The position of bytes in a segment.
struct Position {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// The owner's side. It must outlive all bytes in it. Thread-safe.
class Segment : public std::enable_shared_from_this<Segment> {
 public:
  /// Creates a segment with room for `bytes`; only used pages take memory. Returns nullptr if the kernel refuses.
  static std::shared_ptr<Segment> New(std::size_t bytes);
  ~Segment();
  Segment(const Segment&) = delete;

  /// The segment of this process, which Share() uses. It is set once, before threads are started, and never freed.
  static void SetOwn(std::shared_ptr<Segment> segment);
  static const std::shared_ptr<Segment>& Own();

  /// Returns the name by which a peer process opens it (see view.h). Names are never reused.
  std::string Name() const;
  const std::string& Id() const { return id_; }

  /// Copies `parts` into one block, together with the reference count. Returns nullopt if there is no room.
  std::optional<SharedBytes> Join(std::initializer_list<std::string_view> parts);
  /// Returns the position of these bytes if they are in this segment.
  std::optional<Position> Find(std::string_view bytes) const;
  std::size_t Used() const;

  /// A reader's permission to read the bytes that were added with Keep(). They are released after the lease has ended.
  class Lease {
   public:
    ~Lease();
    Lease(const Lease&) = delete;
    std::size_t Slot() const { return slot_; }
    std::uint64_t Number() const { return number_; }
    void Keep(std::shared_ptr<const void> owner) { kept_.push_back(std::move(owner)); }
    std::size_t Kept() const { return kept_.size(); }

   private:
    friend class Segment;
    Lease(std::shared_ptr<Segment> segment, std::size_t slot, std::uint64_t number)
        : segment_(std::move(segment)), slot_(slot), number_(number) {}

    const std::shared_ptr<Segment> segment_;
    const std::size_t slot_;
    const std::uint64_t number_;
    std::vector<std::shared_ptr<const void>> kept_;
  };
  /// Returns nullptr if too many leases exist.
  std::unique_ptr<Lease> NewLease();

  // Raw blocks for allocators. Allocate() returns nullptr if there is no room.
  void* Allocate(std::size_t size);
  void Free(void* block);

 private:
  struct State;
  Segment(int fd, char* base, std::size_t bytes, std::string id);

  const int fd_;
  char* const base_;
  const std::size_t bytes_;
  const std::string id_;
  const std::unique_ptr<State> state_;
};

/// Joins `parts` in the segment of this process, or on the heap if there is no segment or no room in it.
SharedBytes Share(std::initializer_list<std::string_view> parts);

}  // namespace apimesh::shared_memory
