#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "lib/base/clock.h"

namespace apimesh::log {

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kText, kJson };

/// Must be called once by main(), before any thread starts. `service` is part of every line, and `clock` is the source
/// of its time. Lines are written to standard error.
void Init(std::string_view service, Format format, Level level, const Clock& clock);

bool Enabled(Level level);
/// Writes one line. `audit_id` correlates the lines that the processes of the mesh write about one request. The caller
/// must not pass credentials or the contents of a Secret.
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
