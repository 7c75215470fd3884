#include "services/core-api/groups/batch/cronjob/cronjob.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/batch/cronjob/schedule.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

struct Case {
  const char* schedule;
  const char* want;
};
// The texts are those of kube-apiserver v1.36.
const Case kSchedules[] = {
    {"*/5 0-6,8 ? JAN-mar sun", ""},
    {"@hourly", ""},
    {"@every 1h30m", ""},
    {"TZ=Europe/Berlin 0 0 * * *", ""},
    {"60 * * * *", "end of range (60) above maximum (59): 60"},
    {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
    {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
    {"*/0 * * * *", "step of range should be a positive number: */0"},
    {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
    {"1/2/3 * * * *", "too many slashes: 1/2/3"},
    {"x * * * *", R"(failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax)"},
    {"1/-5 * * * *", "negative number (-5) not allowed: -5"},
    {"nonsense", "expected exactly 5 fields, found 1: [nonsense]"},
    {"@never", "unrecognized descriptor: @never"},
    {"@every 5", R"(failed to parse duration @every 5: time: missing unit in duration "5")"},
    {"TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere"},
    {"TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
};

TEST(Schedule, Errors) {
  for (const Case& c : kSchedules) EXPECT_EQ(CheckSchedule(c.schedule), c.want) << c.schedule;
}

TEST(TimeZone, Errors) {
  const Case cases[] = {{"Europe/Berlin", ""},
                        {"UTC", ""},
                        {"Etc/GMT+5", ""},
                        {"Europe/Nowhere", "unknown time zone Europe/Nowhere"},
                        {"../x", "unknown time zone ../x"},
                        {"a..b", "time: invalid location name"}};
  for (const Case& c : cases) EXPECT_EQ(CheckTimeZone(c.schedule), c.want) << c.schedule;
}

std::string CronJob(std::string_view spec, std::string_view job = "") {
  return R"({"metadata":{"name":"c"},"spec":{)" + std::string(spec) + R"(,"jobTemplate":{"spec":{)" + std::string(job) +
         R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}})";
}

TEST(CronJob, Complains) {
  EXPECT_EQ(CreateErrors(CronJobResource({}), CronJob(R"("schedule":"@daily","timeZone":"","concurrencyPolicy":"Nope")",
                                                      R"("manualSelector":true,)")),
            (std::vector<std::string>{
                R"(spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string)",
                R"(spec.concurrencyPolicy: Unsupported value: "Nope": supported values: "Allow", "Forbid", "Replace")",
                R"(spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false")"}));
}

TEST(CronJob, KeepsATimeZoneInAnOldSchedule) {
  const std::string old = CronJob(R"("schedule":"TZ=UTC * * * * *")");
  EXPECT_EQ(CreateErrors(CronJobResource({}), old),
            std::vector<std::string>{"spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use TZ or CRON_TZ in "
                                     "schedule, use timeZone field instead"});
  EXPECT_TRUE(UpdateErrors(CronJobResource({}), old, old).empty());
}

TEST(CronJob, Row) {
  EXPECT_EQ(Row(CronJobResource({}), CronJob(R"("schedule":"@daily","suspend":false)")),
            R"(["c","@daily","<none>","False",0,"<none>","<unknown>","c","i","<none>"])");
}

}  // namespace
}  // namespace apimesh::core_api
