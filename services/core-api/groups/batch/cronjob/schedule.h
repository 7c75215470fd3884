#pragma once

#include <string>
#include <string_view>

/// Schedules and time zones of CronJobs. The functions return kube-apiserver's error text, or "" if the text is valid.
namespace apimesh::core_api {

/// Checks a schedule: five fields of cron, "@hourly" and the like, or "@every DURATION", each optionally after
/// "TZ=ZONE" or "CRON_TZ=ZONE".
std::string CheckSchedule(std::string_view schedule);

/// Checks that a name is in the IANA time zone database.
std::string CheckTimeZone(std::string_view name);

}  // namespace apimesh::core_api
