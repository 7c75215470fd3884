#include "services/core-api/groups/batch/job/job.h"

#include <map>

#include <gtest/gtest.h>

#include "services/core-api/groups/batch/job/validation.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

#define TEMPLATE R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})"

std::string Job(std::string_view spec) {
  return R"({"metadata":{"name":"j","uid":"u"},"spec":{)" + std::string(spec) + (spec.empty() ? "" : ",") +
         TEMPLATE "}}";
}

struct Case {
  const char* name;
  const char* spec;
  std::vector<std::string> want;
};
// The messages are those of kube-apiserver v1.36 for the same objects.
const Case kCases[] = {
    {"Plain", "", {}},
    {"Negative",
     R"("parallelism":-1,"backoffLimit":-2)",
     {"spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
      "spec.backoffLimit: Invalid value: -2: must be greater than or equal to 0"}},
    {"IndexedNeedsCompletions",
     R"("completionMode":"Indexed","parallelism":1)",
     {"spec.completions: Required value: when completion mode is Indexed"}},
    {"EmptyMode",
     R"("completionMode":"")",
     {R"(spec.completionMode: Unsupported value: "": supported values: "NonIndexed", "Indexed")"}},
    {"ManagedBy",
     R"("managedBy":"nope")",
     {R"(spec.managedBy: Invalid value: "nope": must be a domain-prefixed path (such as "acme.io/foo"))"}},
    {"FailurePolicy",
     R"("podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[0,3,1]}}]})",
     {"spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
      "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [0,3,1]: must be ordered"}},
    {"SuccessPolicy",
     R"("completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-1","succeededCount":3},{"succeededIndexes":"2,1"}]})",
     {"spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of "
      "indexes in the specified succeededIndexes field)",
      "spec.successPolicy.rules[1].succeededIndexes: Invalid value: \"2,1\": error parsing succeededIndexes: "
      "non-increasing order, previous: 2, current: 1"}},
    {"OwnSelector",
     R"("selector":{"matchLabels":{"a":"b"}})",
     {R"(spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u"}}: `selector` not auto-generated)",
      R"(spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j","controller-uid":"u","job-name":"j"}: `selector` does not match template `labels`)"}},
};
class JobCreate : public ::testing::TestWithParam<Case> {};

TEST_P(JobCreate, Complains) { EXPECT_EQ(CreateErrors(JobResource({}), Job(GetParam().spec)), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, JobCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

meta::Object Created(std::string_view text) {
  const registry::Resource resource = JobResource({});
  meta::Object job = Defaulted(resource, text);
  resource.strategy->PrepareForCreate({}, job);
  return job;
}

TEST(Job, HasTheDefaultsThatControllersNeed) {
  const meta::Object job = Created(Job(""));
  for (const auto& [field, want] :
       std::map<const char*, const char*>{{"parallelism", "1"},
                                          {"completions", "1"},
                                          {"backoffLimit", "6"},
                                          {"completionMode", R"("NonIndexed")"},
                                          {"suspend", "false"},
                                          {"manualSelector", "false"},
                                          {"podReplacementPolicy", R"("TerminatingOrFailed")"}})
    EXPECT_EQ(JsonAt(job, "spec", field), want) << field;
  EXPECT_EQ(JsonAt(job, "spec", "selector"), R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}})");
  EXPECT_EQ(JsonAt(job, "metadata", "labels"), JsonAt(job, "spec", "template", "metadata", "labels"));
  EXPECT_EQ(JsonAt(Created(Job(R"("backoffLimitPerIndex":1,"completions":3)")), "spec", "backoffLimit"), "2147483647");
  EXPECT_EQ(JsonAt(Created(Job(R"("parallelism":3)")), "spec", "completions"), "");
}

TEST(Job, IsMostlyImmutable) {
  const meta::Object old = Created(Job(""));
  EXPECT_TRUE(ValidateJobUpdate(old, old).empty());
  meta::Object job = old;
  job.Root()["spec"].as_object()["completions"] = 2;
  EXPECT_EQ(Texts(ValidateJobUpdate(job, old)),
            std::vector<std::string>{"spec.completions: Invalid value: 2: field is immutable"});
}

TEST(Job, SuspendedJobMayMoveItsPods) {
  const meta::Object running = Created(Job(""));
  const meta::Object suspended = Created(Job(R"("suspend":true)"));
  for (const meta::Object& old : {running, suspended}) {
    meta::Object job = old;
    job.Root()["spec"].as_object()["template"].as_object()["spec"].as_object()["nodeSelector"] = {{"a", "b"}};
    EXPECT_EQ(ValidateJobUpdate(job, old).empty(), &old != &running && JsonAt(old, "spec", "suspend") == "true");
  }
}

struct StatusCase {
  const char* name;
  const char* old;
  const char* status;
  std::vector<std::string> want;
};
const StatusCase kStatuses[] = {
    {"Finished",
     "{}",
     R"({"active":1,"startTime":"2020-01-01T00:00:00Z","conditions":[{"type":"Failed","status":"True"}]})",
     {"status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition",
      "status.active: Invalid value: 1: active>0 is invalid for finished job"}},
    {"UnchangedIsNotChecked", R"({"active":1,"ready":2})", R"({"active":1,"ready":2})", {}},
    {"Counters",
     R"({"failed":3,"succeeded":2})",
     R"({"failed":2,"succeeded":1})",
     {"status.failed: Invalid value: 2: cannot decrease the failed counter",
      "status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"}},
    {"Indexes",
     "{}",
     R"({"completedIndexes":"0"})",
     {"status.completedIndexes: Invalid value: \"0\": cannot set non-empty completedIndexes when non-indexed "
      "completion "
      "mode"}},
};
class JobStatus : public ::testing::TestWithParam<StatusCase> {};

TEST_P(JobStatus, Complains) {
  meta::Object old = Created(Job(""));
  meta::Object job = old;
  old.Root()["status"] = boost::json::parse(GetParam().old);
  job.Root()["status"] = boost::json::parse(GetParam().status);
  EXPECT_EQ(Texts(ValidateJobStatusUpdate(job, old)), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, JobStatus, ::testing::ValuesIn(kStatuses),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Job, Row) {
  EXPECT_EQ(Row(JobResource({}), Job(R"("parallelism":3)")),
            R"(["j","Running","0/1 of 3","","<unknown>","c","i","<none>"])");
}

}  // namespace
}  // namespace apimesh::core_api
