#include "services/core-api/groups/apps/controllerrevision/controllerrevision.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

constexpr const char* kPlain = R"({"metadata":{"name":"r","ownerReferences":[{"apiVersion":"apps/v1",
    "kind":"StatefulSet","name":"s","controller":true}]},"data":{"a":"b"},"revision":3})";

TEST(ControllerRevision, Complains) {
  const registry::Resource resource = ControllerRevisionResource({});
  EXPECT_TRUE(CreateErrors(resource, kPlain).empty());
  EXPECT_EQ(CreateErrors(resource, R"({"revision":-1})"),
            (std::vector<std::string>{"revision: Invalid value: -1: must be greater than or equal to 0",
                                      "data: Required value: data is mandatory"}));
  EXPECT_EQ(UpdateErrors(resource, kPlain, R"({"data":{"a":"c"},"revision":1})"),
            std::vector<std::string>{R"(data: Invalid value: {"a":"c"}: field is immutable)"});
}

TEST(ControllerRevision, Row) {
  EXPECT_EQ(Row(ControllerRevisionResource({}), kPlain), R"(["r","statefulset.apps/s",3,"<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
