#include "lib/base/file.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace apimesh {

std::optional<std::string> ReadFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  char buffer[16 << 10];
  for (;;) {
    const ssize_t size = ::read(file, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      const int error = errno;
      ::close(file);
      errno = error;
      return size < 0 ? std::nullopt : std::optional(std::move(text));
    }
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

}  // namespace apimesh
