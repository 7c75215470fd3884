#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace apimesh::store::bolt {

/// Reads a bbolt file. Every offset is checked, because the file may come from an untrusted source. Throws
/// std::runtime_error.
class BoltReader {
 public:
  explicit BoltReader(const std::filesystem::path& path);
  ~BoltReader();
  BoltReader(const BoltReader&) = delete;
  BoltReader& operator=(const BoltReader&) = delete;

  using Visit = std::function<void(std::string_view key, std::string_view value)>;
  /// Visits the keys of a top-level bucket in order. Does nothing if the bucket does not exist.
  void ForEach(std::string_view bucket, const Visit& visit) const;
  /// Visits all top-level buckets.
  void ForEachBucket(const std::function<void(std::string_view name)>& visit) const;

 private:
  using ElementVisit = std::function<void(std::uint32_t flags, std::string_view key, std::string_view value)>;
  void ReadMeta();
  void WalkPage(std::string_view page, int depth, const ElementVisit& visit) const;
  std::string_view Page(std::uint64_t id) const;

  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t page_bytes_ = 4096;
  std::uint64_t root_ = 0;
  mutable std::size_t walked_ = 0;  // pages since the walk began; more than the file has means a cycle
};

}  // namespace apimesh::store::bolt
