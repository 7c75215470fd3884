#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace apimesh::store::bolt {

/// Reads a bbolt file; every offset is checked, as the file may come from anywhere. Throws std::runtime_error.
class BoltReader {
 public:
  explicit BoltReader(const std::filesystem::path& path);
  ~BoltReader();
  BoltReader(const BoltReader&) = delete;
  BoltReader& operator=(const BoltReader&) = delete;

  using Visit = std::function<void(std::string_view key, std::string_view value)>;
  /// Keys of a top-level bucket in order; none if there is no such bucket.
  void ForEach(std::string_view bucket, const Visit& visit) const;
  /// All top-level buckets.
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
  mutable std::size_t walked_ = 0;  // pages, since the walk began: more than there are means a loop
};

}  // namespace apimesh::store::bolt
