#include "lib/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <boost/json/serialize.hpp>

namespace apimesh::log {
namespace {

// Set once by Init(), before threads start.
Format format_ = Format::kText;
std::string service_ = "apimesh";

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string JsonString(std::string_view text) {
  return boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

}  // namespace

void Init(std::string_view service, Format format, Level level) {
  format_ = format;
  service_ = service;
  auto logger = std::make_shared<spdlog::logger>(
      std::string(service), std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(ToSpdlog(level));
  logger->flush_on(spdlog::level::debug);
  logger->set_pattern(format == Format::kText
                          ? "%Y-%m-%dT%H:%M:%S.%fZ %^%L%$ %n %v"
                          : R"({"ts":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","service":"%n",%v})",
                      spdlog::pattern_time_type::utc);
  spdlog::set_default_logger(std::move(logger));
}

bool Enabled(Level level) { return spdlog::default_logger_raw()->should_log(ToSpdlog(level)); }

void Write(Level level, std::string_view message, std::string_view audit_id) {
  if (!Enabled(level)) return;
  if (format_ == Format::kJson) {
    const std::string audit =
        audit_id.empty() ? "" : fmt::format(R"(,"auditID":{})", JsonString(audit_id));
    spdlog::default_logger_raw()->log(ToSpdlog(level), R"("msg":{}{})", JsonString(message), audit);
  } else if (audit_id.empty()) {
    spdlog::default_logger_raw()->log(ToSpdlog(level), "{}", message);
  } else {
    spdlog::default_logger_raw()->log(ToSpdlog(level), "{} auditID={}", message, audit_id);
  }
}

}  // namespace apimesh::log
