#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apimesh::store::bolt {

/// Writes a bbolt file in one pass: one bucket after another, each with its keys in ascending order. Needs a few bytes
/// of memory per page. Throws std::system_error.
class BoltWriter {
 public:
  explicit BoltWriter(const std::filesystem::path& path);
  ~BoltWriter();
  BoltWriter(const BoltWriter&) = delete;
  BoltWriter& operator=(const BoltWriter&) = delete;

  void StartBucket(std::string name);
  void Add(std::string_view key, std::string_view value);
  /// Closes the last bucket and makes the file valid.
  void Finish();

 private:
  struct Element {
    std::string key, value;
    std::uint32_t flags = 0;
  };
  struct Child {
    std::string first_key;
    std::uint64_t page;
  };

  void EndBucket();
  /// Writes the collected elements as one leaf, with overflow pages if necessary.
  void FlushLeaf();
  std::uint64_t WriteBranches(std::vector<Child> children);
  std::uint64_t WritePage(std::uint16_t flags, std::size_t count, const std::string& body);
  void WriteAt(std::uint64_t offset, std::string_view bytes);
  void WriteMeta(std::uint64_t index, std::uint64_t root, std::uint64_t freelist);

  int fd_;
  std::uint64_t next_page_ = 2;  // after the two meta pages
  std::string buffer_;           // pages that are not written yet, from buffer_page_ on
  std::uint64_t buffer_page_ = 2;
  std::vector<Element> leaf_;
  std::size_t leaf_bytes_ = 0;
  std::vector<Child> leaves_;
  std::string bucket_;
  std::map<std::string, std::uint64_t> roots_;
};

}  // namespace apimesh::store::bolt
