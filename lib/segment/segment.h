#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"

/// Memory of one process that a neighbour on the same machine may read: see README.md.
namespace apimesh::segment {

/// Where bytes lie in a segment.
struct Place {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// The owner's end. It must outlive all bytes in it. Thread-safe.
class Segment : public std::enable_shared_from_this<Segment> {
 public:
  /// Room for `bytes`, of which only what is used takes memory. nullptr if the kernel refuses.
  static std::shared_ptr<Segment> New(std::size_t bytes);
  ~Segment();
  Segment(const Segment&) = delete;

  /// The segment of this process, which Share() uses. Set once, before there are threads; never freed.
  static void SetOwn(std::shared_ptr<Segment> segment);
  static const std::shared_ptr<Segment>& Own();

  /// What a neighbour needs to find it; see view.h. Different for every segment that ever was.
  std::string Name() const;
  const std::string& Id() const { return id_; }

  /// `parts` joined, with their reference count in the same block. nullopt: no room.
  std::optional<SharedBytes> Join(std::initializer_list<std::string_view> parts);
  /// Where these bytes lie, if it is in here.
  std::optional<Place> Find(std::string_view bytes) const;
  std::size_t Used() const;

  /// The right of a reader to what was kept in it. It ends with the lease, and what was kept is let go after that.
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
  /// nullptr: too many are out.
  std::unique_ptr<Lease> NewLease();

  // For allocators: raw blocks. Allocate() gives nullptr where there is no room.
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

/// `parts` joined in the segment of this process, or on the heap where there is none or it is full.
SharedBytes Share(std::initializer_list<std::string_view> parts);

}  // namespace apimesh::segment
