#include "services/core-api/groups/core/persistentvolume/persistentvolume.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using Strings = std::vector<std::string>;

constexpr const char* kVolume =
    R"({"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},)"
    R"("nfs":{"server":"s","path":"/p"}}})";

TEST(PersistentVolume, Defaults) {
  const meta::Object volume = Defaulted(PersistentVolumeResource(InputsWithClock()), kVolume);
  EXPECT_EQ(JsonAt(volume, "spec", "persistentVolumeReclaimPolicy"), "\"Retain\"");
  EXPECT_EQ(JsonAt(volume, "spec", "volumeMode"), "\"Filesystem\"");
  EXPECT_EQ(JsonAt(volume, "status", "phase"), "\"Pending\"");
}

struct BadCase {
  const char* spec;
  Strings want;
};
const BadCase kBad[] = {
    {R"({"accessModes":["RWO"],"capacity":{"storage":"0"},"local":{"path":"/a/.."}})",
     {R"(spec.accessModes: Unsupported value: "RWO": supported values: "ReadOnlyMany", "ReadWriteMany", )"
      R"("ReadWriteOnce", "ReadWriteOncePod")",
      R"(spec.capacity[storage]: Invalid value: "0": must be greater than zero)",
      R"(spec.local.path: Invalid value: "/a/..": must not contain '..')",
      "spec.nodeAffinity: Required value: Local volume requires node affinity"}},
    {R"({"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1"},"csi":{"driver":"d","volumeHandle":"h"},)"
     R"("cephfs":{"monitors":["m"]}})",
     {"spec.csi: Forbidden: may not specify more than 1 volume type"}},
    {R"({"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1"},"iscsi":{"targetPortal":"p","iqn":"x","lun":256}})",
     {R"(spec.iscsi.iqn: Invalid value: "x": must be valid format)",
      "spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive"}},
};

TEST(PersistentVolume, Rules) {
  EXPECT_EQ(CreateErrors(PersistentVolumeResource(InputsWithClock()), kVolume), Strings());
  for (const BadCase& bad : kBad)
    EXPECT_EQ(CreateErrors(PersistentVolumeResource(InputsWithClock()), std::string(R"({"spec":)") + bad.spec + "}"),
              bad.want);
}

TEST(PersistentVolume, SourceIsImmutable) {
  const std::string changed = R"({"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},)"
                              R"("nfs":{"server":"t","path":"/p"}}})";
  EXPECT_EQ(UpdateErrors(PersistentVolumeResource(InputsWithClock()), kVolume, changed),
            Strings{"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation"});
}

TEST(PersistentVolume, Row) {
  EXPECT_EQ(Row(PersistentVolumeResource(InputsWithClock()),
                R"({"metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany",)"
                R"("ReadWriteOnce"],"claimRef":{"namespace":"n","name":"c"}},"status":{"phase":"Bound"}})"),
            R"(["a","1Gi","RWO,RWX","","Bound","n/c","","<unset>","","<unknown>","<unset>"])");
}

}  // namespace
}  // namespace apimesh::core_api
