#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace apimesh::log {

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kText, kJson };

/// Called once by main(), before any thread starts. `service` is in every line. Lines go to standard error.
void Init(std::string_view service, Format format, Level level);

bool Enabled(Level level);
/// Writes one line. `audit_id` ties together what the processes of the mesh say about one request.
/// Never pass a credential or the contents of a Secret.
void Write(Level level, std::string_view message, std::string_view audit_id = {});

template <class... Args>
void Debug(fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kDebug)) Write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void Info(fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kInfo)) Write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void Warning(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void Error(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace apimesh::log
