#include "services/store/bolt/bolt_writer.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "services/store/bolt/format.h"

namespace apimesh::store::bolt {
namespace {

constexpr std::size_t kBufferBytes = 1024 * 1024;

template <class T>
void AppendStruct(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

BoltWriter::BoltWriter(const std::filesystem::path& path)
    : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), path.string());
}

BoltWriter::~BoltWriter() { close(fd_); }

void BoltWriter::WriteAt(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written <= 0) throw std::system_error(errno, std::generic_category(), "writing a snapshot");
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::uint64_t BoltWriter::WritePage(std::uint16_t flags, std::size_t count, const std::string& body) {
  const std::size_t bytes = sizeof(PageHeader) + body.size();
  const std::size_t pages = (bytes + kPageBytes - 1) / kPageBytes;
  const std::uint64_t id = next_page_;
  next_page_ += pages;
  AppendStruct(buffer_,
               PageHeader{id, flags, static_cast<std::uint16_t>(count), static_cast<std::uint32_t>(pages - 1)});
  buffer_ += body;
  buffer_.append(pages * kPageBytes - bytes, '\0');
  if (buffer_.size() >= kBufferBytes) {
    WriteAt(buffer_page_ * kPageBytes, buffer_);
    buffer_page_ = next_page_;
    buffer_.clear();
  }
  return id;
}

void BoltWriter::FlushLeaf() {
  std::string elements, data;
  for (std::size_t i = 0; i < leaf_.size(); ++i) {
    const Element& element = leaf_[i];
    const std::size_t position = (leaf_.size() - i) * sizeof(LeafElement) + data.size();
    AppendStruct(elements, LeafElement{element.flags, static_cast<std::uint32_t>(position),
                                       static_cast<std::uint32_t>(element.key.size()),
                                       static_cast<std::uint32_t>(element.value.size())});
    data += element.key;
    data += element.value;
  }
  const std::string first_key = leaf_.empty() ? "" : leaf_.front().key;
  leaves_.push_back({first_key, WritePage(kLeaf, leaf_.size(), elements + data)});
  leaf_.clear();
  leaf_bytes_ = 0;
}

void BoltWriter::StartBucket(std::string name) {
  EndBucket();
  bucket_ = std::move(name);
}

void BoltWriter::Add(std::string_view key, std::string_view value) {
  const std::size_t bytes = sizeof(LeafElement) + key.size() + value.size();
  if (!leaf_.empty() && sizeof(PageHeader) + leaf_bytes_ + bytes > kPageBytes) FlushLeaf();
  leaf_.push_back({std::string(key), std::string(value)});
  leaf_bytes_ += bytes;
}

std::uint64_t BoltWriter::WriteBranches(std::vector<Child> children) {
  while (children.size() > 1) {
    std::vector<Child> parents;
    for (std::size_t start = 0; start < children.size();) {
      std::size_t end = start, bytes = sizeof(PageHeader);
      while (end < children.size() && bytes + sizeof(BranchElement) + children[end].first_key.size() <= kPageBytes) {
        bytes += sizeof(BranchElement) + children[end].first_key.size();
        ++end;
      }
      std::string elements, data;
      for (std::size_t i = start; i < end; ++i) {
        const std::size_t position = (end - i) * sizeof(BranchElement) + data.size();
        AppendStruct(elements,
                     BranchElement{static_cast<std::uint32_t>(position),
                                   static_cast<std::uint32_t>(children[i].first_key.size()), children[i].page});
        data += children[i].first_key;
      }
      parents.push_back({children[start].first_key, WritePage(kBranch, end - start, elements + data)});
      start = end;
    }
    children = std::move(parents);
  }
  return children.front().page;
}

void BoltWriter::EndBucket() {
  if (bucket_.empty()) return;
  if (!leaf_.empty() || leaves_.empty()) FlushLeaf();
  roots_[bucket_] = WriteBranches(std::move(leaves_));
  leaves_.clear();
  bucket_.clear();
}

void BoltWriter::WriteMeta(std::uint64_t index, std::uint64_t root, std::uint64_t freelist) {
  Meta meta{.magic = kMagic,
            .version = kVersion,
            .page_size = kPageBytes,
            .flags = 0,
            .root = {root, 0},
            .freelist = freelist,
            .high_water = next_page_,
            .transaction = index,
            .checksum = 0};
  meta.checksum = Checksum(meta);
  std::string page;
  AppendStruct(page, PageHeader{index, kMeta, 0, 0});
  AppendStruct(page, meta);
  page.resize(kPageBytes, '\0');
  WriteAt(index * kPageBytes, page);
}

void BoltWriter::Finish() {
  EndBucket();
  for (const auto& [name, root] : roots_) {
    std::string header;
    AppendStruct(header, BucketHeader{root, 0});
    leaf_.push_back({name, header, kBucketElement});
  }
  FlushLeaf();
  const std::uint64_t root = WriteBranches(std::move(leaves_));
  const std::uint64_t freelist = WritePage(kFreelist, 0, {});
  WriteAt(buffer_page_ * kPageBytes, buffer_);
  WriteMeta(0, root, freelist);
  WriteMeta(1, root, freelist);
  if (fsync(fd_) != 0) throw std::system_error(errno, std::generic_category(), "fsync of a snapshot");
}

}  // namespace apimesh::store::bolt
