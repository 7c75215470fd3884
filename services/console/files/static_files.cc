#include "services/console/files/static_files.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/file.h"

namespace apimesh::console {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::size_t kMostFiles = 500;

std::string ContentType(const fs::path& file) {
  static const std::unordered_map<std::string, std::string> types = {{".html", "text/html; charset=utf-8"},
                                                                     {".js", "text/javascript; charset=utf-8"},
                                                                     {".css", "text/css; charset=utf-8"},
                                                                     {".svg", "image/svg+xml"},
                                                                     {".json", "application/json"},
                                                                     {".woff2", "font/woff2"},
                                                                     {".txt", "text/plain; charset=utf-8"},
                                                                     {".png", "image/png"},
                                                                     {".webmanifest", "application/manifest+json"}};
  const auto found = types.find(file.extension().string());
  return found == types.end() ? "application/octet-stream" : found->second;
}

}  // namespace

StaticFiles::StaticFiles(const std::string& folder) {
  const fs::path root(folder);
  if (!fs::is_regular_file(root / "index.html")) {
    throw std::runtime_error(fmt::format(
        "--console-files: {} has no index.html; `./apimesh console` in the repository builds the pages", folder));
  }
  std::size_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    std::optional<std::string> contents = ReadFile(entry.path());
    if (!contents) throw std::runtime_error(fmt::format("can't read {}", entry.path().string()));
    bytes += contents->size();
    if (bytes > kMostBytes || files_.size() >= kMostFiles)
      throw std::runtime_error(fmt::format("--console-files: {} is too large for the pages of the console", folder));
    const std::string path = "/" + fs::relative(entry.path(), root).generic_string();
    files_[path] = {ContentType(entry.path()), path.starts_with("/assets/"), SharedBytes(std::move(*contents))};
  }
}

const StaticFiles::File* StaticFiles::Find(std::string_view path) const {
  const auto found = files_.find(path == "/" ? "/index.html" : path);
  return found == files_.end() ? nullptr : &found->second;
}

}  // namespace apimesh::console
