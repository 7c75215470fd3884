#include "lib/base/log_level.h"

#include <spdlog/spdlog.h>

namespace apimesh::log {

void SetLevel(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::default_logger_raw()->set_level(spdlog::level::debug);
    case Level::kInfo: return spdlog::default_logger_raw()->set_level(spdlog::level::info);
    case Level::kWarning: return spdlog::default_logger_raw()->set_level(spdlog::level::warn);
    case Level::kError: return spdlog::default_logger_raw()->set_level(spdlog::level::err);
  }
}

}  // namespace apimesh::log
