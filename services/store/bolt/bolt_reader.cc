#include "services/store/bolt/bolt_reader.h"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/store/bolt/format.h"

namespace apimesh::store::bolt {
namespace {

constexpr int kMaxDepth = 64;

[[noreturn]] void Corrupt(const char* what) {
  throw std::runtime_error(std::string("not a usable etcd snapshot: ") + what);
}

template <class T>
T ReadStruct(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) Corrupt("a page is cut short");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view Slice(std::string_view bytes, std::size_t offset, std::size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) Corrupt("an element reaches beyond its page");
  return bytes.substr(offset, size);
}

bool Valid(const Meta& meta) {
  return meta.magic == kMagic && meta.version == kVersion && meta.checksum == Checksum(meta) && meta.page_size >= 512;
}

}  // namespace

BoltReader::BoltReader(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("cannot open " + path.string() + ": " + std::strerror(errno));
  struct stat status{};
  fstat(fd, &status);
  size_ = static_cast<std::size_t>(status.st_size);
  void* mapped = size_ == 0 ? MAP_FAILED : mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) Corrupt("the file is empty");
  data_ = static_cast<const char*>(mapped);
  try {
    ReadMeta();
  } catch (const std::runtime_error&) {
    munmap(mapped, size_);
    throw;
  }
}

void BoltReader::ReadMeta() {
  // The second meta page follows the first one. The page size comes from the first meta page, or is guessed if that one
  // is damaged.
  const std::string_view all(data_, size_);
  const Meta first = ReadStruct<Meta>(all, sizeof(PageHeader));
  page_bytes_ = Valid(first) ? first.page_size : kPageBytes;
  const Meta second = ReadStruct<Meta>(all, page_bytes_ + sizeof(PageHeader));
  if (!Valid(first) && !Valid(second)) Corrupt("no valid meta page");
  const Meta& newest = !Valid(second) || (Valid(first) && first.transaction > second.transaction) ? first : second;
  page_bytes_ = newest.page_size;
  root_ = newest.root.root;
}

BoltReader::~BoltReader() { munmap(const_cast<char*>(data_), size_); }

std::string_view BoltReader::Page(std::uint64_t id) const {
  const std::string_view all(data_, size_);
  if (id > size_ / page_bytes_) Corrupt("a page number is beyond the file");
  const auto header = ReadStruct<PageHeader>(all, id * page_bytes_);
  return Slice(all, id * page_bytes_, (std::size_t{header.overflow} + 1) * page_bytes_);
}

void BoltReader::WalkPage(std::string_view page, int depth, const ElementVisit& visit) const {
  if (depth > kMaxDepth || ++walked_ > 2 * (size_ / page_bytes_) + 1000) Corrupt("pages form a loop");
  const auto header = ReadStruct<PageHeader>(page, 0);
  for (std::size_t i = 0; i < header.count; ++i) {
    const std::size_t at = sizeof(PageHeader) + i * 16;
    if ((header.flags & kBranch) != 0) {
      WalkPage(Page(ReadStruct<BranchElement>(page, at).page), depth + 1, visit);
    } else if ((header.flags & kLeaf) != 0) {
      const auto element = ReadStruct<LeafElement>(page, at);
      const std::string_view key = Slice(page, at + element.position, element.key_size);
      visit(element.flags, key, Slice(page, at + element.position + element.key_size, element.value_size));
    } else {
      Corrupt("a page of an unknown kind");
    }
  }
}

void BoltReader::ForEachBucket(const std::function<void(std::string_view)>& visit) const {
  walked_ = 0;
  std::vector<std::string_view> names;
  WalkPage(Page(root_), 0, [&](std::uint32_t flags, std::string_view key, std::string_view) {
    if ((flags & kBucketElement) != 0) names.push_back(key);
  });
  for (const std::string_view name : names) visit(name);
}

void BoltReader::ForEach(std::string_view bucket, const Visit& visit) const {
  walked_ = 0;
  std::optional<std::string_view> page;
  WalkPage(Page(root_), 0, [&](std::uint32_t flags, std::string_view key, std::string_view value) {
    if ((flags & kBucketElement) == 0 || key != bucket) return;
    const auto header = ReadStruct<BucketHeader>(value, 0);
    page = header.root == 0 ? value.substr(sizeof(BucketHeader)) : Page(header.root);
  });
  if (page) WalkPage(*page, 0, [&](std::uint32_t, std::string_view k, std::string_view v) { visit(k, v); });
}

}  // namespace apimesh::store::bolt
