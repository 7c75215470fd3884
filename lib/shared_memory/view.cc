#include "lib/shared_memory/view.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/shared_memory/layout.h"

namespace apimesh::shared_memory {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Opens the file read-only, so that a reader cannot modify memory of the owner.
int OpenFile(std::string_view process, std::string_view fd) {
  if (!IsNumber(process) || !IsNumber(fd)) return -1;
  return open(fmt::format("/proc/{}/fd/{}", process, fd).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

}  // namespace

std::shared_ptr<const View> View::Open(std::string_view name) {
  const std::size_t first = name.find('/'), second = name.find('/', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return nullptr;
  const int fd = OpenFile(name.substr(0, first), name.substr(first + 1, second - first - 1));
  if (fd < 0) return nullptr;
  struct stat about{};
  void* base = MAP_FAILED;
  // Only a file that cannot shrink is mapped: the process id may now belong to another process, and its file descriptor
  // may be any file.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &about) == 0 &&
      about.st_size >= static_cast<off_t>(sizeof(Header))) {
    base = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  close(fd);
  if (base == MAP_FAILED) return nullptr;
  const std::shared_ptr<const View> view(new View(
      static_cast<const char*>(base), static_cast<std::size_t>(about.st_size), std::string(name.substr(second + 1))));
  const auto* const header = static_cast<const Header*>(base);
  const bool right = header->magic == kMagic && view->id_ == std::string_view(header->id.data(), header->id.size());
  return right ? view : nullptr;
}

View::~View() { munmap(const_cast<char*>(base_), bytes_); }

std::string_view View::At(std::uint64_t offset, std::uint64_t size) const {
  if (offset < sizeof(Header) || offset > bytes_ || size > bytes_ - offset) return {};
  read_.store(true, std::memory_order_relaxed);
  return {base_ + offset, size};
}

void View::ReleaseUnusedPages() const {
  if (read_.exchange(false)) {
    mapped_ = true;
  } else if (mapped_.exchange(false)) {
    madvise(const_cast<char*>(base_), bytes_, MADV_DONTNEED);
  }
}

bool View::LeaseIsValid(std::size_t slot, std::uint64_t lease) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return slot < kSlots && lease != 0 &&
         reinterpret_cast<const Header*>(base_)->slots[slot].load(std::memory_order_seq_cst) == lease;
}

}  // namespace apimesh::shared_memory
