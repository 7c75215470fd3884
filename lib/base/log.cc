#include "lib/base/log.h"

#include <boost/json/serialize.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace apimesh::log {
namespace {

// Set once by Init(), before threads start.
Format format_ = Format::kText;
std::string service_ = "apimesh";
const Clock* clock_ = &Clock::System();

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

void Init(std::string_view service, Format format, Level level, const Clock& clock) {
  format_ = format;
  service_ = service;
  clock_ = &clock;
  auto logger =
      std::make_shared<spdlog::logger>(std::string(service), std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(ToSpdlog(level));
  logger->flush_on(spdlog::level::debug);
  logger->set_pattern(format == Format::kText ? "%Y-%m-%dT%H:%M:%S.%fZ %^%L%$ %n %v"
                                              : R"({"ts":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","service":"%n",%v})",
                      spdlog::pattern_time_type::utc);
  spdlog::set_default_logger(std::move(logger));
}

bool Enabled(Level level) { return spdlog::default_logger_raw()->should_log(ToSpdlog(level)); }

void Write(Level level, std::string_view message, std::string_view audit_id) {
  if (!Enabled(level)) return;
  std::string text;
  if (format_ == Format::kJson) {
    const std::string audit = audit_id.empty() ? "" : fmt::format(R"(,"auditID":{})", JsonString(audit_id));
    text = fmt::format(R"("msg":{}{})", JsonString(message), audit);
  } else if (!audit_id.empty()) {
    text = fmt::format("{} auditID={}", message, audit_id);
  }
  const std::string_view line = text.empty() ? message : std::string_view(text);
  spdlog::default_logger_raw()->log(clock_->Now(), spdlog::source_loc(), ToSpdlog(level), line);
}

}  // namespace apimesh::log
