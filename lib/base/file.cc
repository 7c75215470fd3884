#include "lib/base/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/secrets/secret_file.h"

namespace apimesh {
namespace {

// After the size that the file system reports; pipes and files in /proc report none. The text is also longer than the
// internal buffer of std::string, so that a move of it does not copy a secret.
constexpr std::size_t kMore = 512;

/// Reads into the text itself, so that there is no other copy. `discard` is called for memory that is not returned.
std::optional<std::string> Read(const std::filesystem::path& path, void (*discard)(std::string& text)) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat info{};
  const bool sized = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
  std::string text((sized ? static_cast<std::size_t>(info.st_size) : 0) + kMore, '\0');
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) {
      std::string larger(text.size() * 2, '\0');
      std::copy(text.begin(), text.end(), larger.begin());
      discard(text);
      text = std::move(larger);
    }
    const ssize_t size = ::read(file, text.data() + used, text.size() - used);
    if (size < 0 && errno == EINTR) continue;
    if (size > 0) {
      used += static_cast<std::size_t>(size);
      continue;
    }
    const int error = errno;
    ::close(file);
    errno = error;
    if (size < 0) {
      discard(text);
      return std::nullopt;
    }
    text.resize(used);
    return text;
  }
}

}  // namespace

std::optional<std::string> ReadFile(const std::filesystem::path& path) {
  return Read(path, [](std::string&) {});
}

std::optional<SecretBytes> ReadSecretFile(const std::filesystem::path& path) {
  std::optional<std::string> text = Read(path, &Wipe);
  if (!text) return std::nullopt;
  return std::optional<SecretBytes>(std::in_place, std::move(*text));
}

}  // namespace apimesh
