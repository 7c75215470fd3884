#include <gtest/gtest.h>

#include "services/core-api/groups/storage/csidriver/csidriver.h"
#include "services/core-api/groups/storage/csinode/csinode.h"
#include "services/core-api/groups/storage/csistoragecapacity/csistoragecapacity.h"
#include "services/core-api/groups/storage/storageclass/storageclass.h"
#include "services/core-api/groups/storage/volumeattachment/volumeattachment.h"
#include "services/core-api/groups/storage/volumeattributesclass/volumeattributesclass.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const KindCase kCreates[] = {
    {&StorageClassResource, R"({"provisioner":"Example.com/P"})", {}},
    {&StorageClassResource,
     R"({"reclaimPolicy":"Recycle","allowedTopologies":[{}]})",
     {"provisioner: Required value",
      R"(reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain")",
      R"(allowedTopologies[0].matchLabelExpressions: Duplicate value: "")"}},
    {&CsiDriverResource, R"({"spec":{}})", {}},
    {&CsiDriverResource,
     R"({"spec":{"volumeLifecycleModes":["X"],"tokenRequests":[{"audience":"a","expirationSeconds":1}]}})",
     {"spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
      R"(spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", "Ephemeral")"}},
    {&CsiNodeResource,
     R"({"spec":{"drivers":[{"name":"a","nodeID":"n"},{"name":"a","nodeID":""}]}})",
     {"spec.drivers[1].nodeID: Required value", R"(spec.drivers[1].name: Duplicate value: "a")"}},
    {&VolumeAttachmentResource,
     R"({"spec":{"attacher":"a","nodeName":"n"}})",
     {"spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"}},
    {&CsiStorageCapacityResource,
     R"({"storageClassName":"s","capacity":"-1"})",
     {R"(capacity: Invalid value: "-1": must be greater than or equal to 0)"}},
    {&VolumeAttributesClassResource,
     R"({"driverName":"d"})",
     {"parameters: Required value: must contain at least one key/value pair"}},
};

TEST(Storage, Creates) {
  for (const KindCase& one : kCreates) EXPECT_EQ(CreateErrors(one.kind({}), one.object), one.want) << one.object;
}

struct UpdateCase {
  ResourceFn kind;
  const char* before;
  const char* after;
  Strings want;
};
const UpdateCase kUpdates[] = {
    {&StorageClassResource,
     R"({"provisioner":"a"})",
     R"({"provisioner":"b"})",
     {R"(provisioner: Invalid value: "b": field is immutable)"}},
    {&CsiDriverResource,
     R"({"spec":{}})",
     R"({"spec":{"attachRequired":false}})",
     {"spec.attachedRequired: Invalid value: false: field is immutable"}},
    {&CsiNodeResource,
     R"({"spec":{"drivers":[{"name":"a","nodeID":"n"}]}})",
     R"({"spec":{"drivers":[{"name":"a","nodeID":"n","allocatable":{"count":1}}]}})",
     {}},
    {&CsiNodeResource,
     R"({"spec":{"drivers":[{"name":"a","nodeID":"n"}]}})",
     R"({"spec":{"drivers":[{"name":"a","nodeID":"m"}]}})",
     {R"(spec.drivers: Invalid value: {"name":"a","nodeID":"m"}: field is immutable)"}},
    {&CsiStorageCapacityResource,
     R"({"storageClassName":"s"})",
     R"({"storageClassName":"t"})",
     {R"(storageClassName: Invalid value: "t": field is immutable)"}},
    {&VolumeAttributesClassResource,
     R"({"driverName":"d","parameters":{"a":"b"}})",
     R"({"driverName":"d","parameters":{"a":"c"}})",
     {"parameters: Forbidden: updates to parameters are forbidden."}},
};

TEST(Storage, Updates) {
  for (const UpdateCase& one : kUpdates)
    EXPECT_EQ(UpdateErrors(one.kind({}), one.before, one.after), one.want) << one.after;
}

TEST(Storage, Rows) {
  const std::string standard = R"j({"metadata":{"name":"a","annotations":{)j"
                               R"j("storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p"})j";
  EXPECT_EQ(Row(StorageClassResource({}), standard), R"j(["a (default)","p","Delete","Immediate",false,"<unknown>"])j");
  EXPECT_EQ(Row(CsiDriverResource({}), R"({"metadata":{"name":"a"},"spec":{"volumeLifecycleModes":["Persistent"]}})"),
            R"(["a",true,false,false,"<unset>",false,"Persistent","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
