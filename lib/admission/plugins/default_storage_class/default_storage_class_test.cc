#include "lib/admission/plugins/default_storage_class/default_storage_class.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

const meta::GroupResource kClasses{"storage.k8s.io", "storageclasses"};

Write Claims(const std::string& spec, const std::string& annotations = "") {
  return {
      .resource = "persistentvolumeclaims",
      .object = fmt::format(R"({{"metadata":{{"name":"p","annotations":{{{}}}}},"spec":{{{}}}}})", annotations, spec)};
}

class DefaultStorageClasses : public ::testing::TestWithParam<PluginCase> {
 protected:
  void Put(const std::string& name, const std::string& annotation, const std::string& created) {
    cluster_.Put(kClasses, name,
                 fmt::format(R"({{"metadata":{{"name":"{}","creationTimestamp":"{}","annotations":{{{}}}}}}})", name,
                             created, annotation));
  }
  TestCluster cluster_;
};

const char kDefault[] = R"("storageclass.kubernetes.io/is-default-class":"true")";
const char kBetaDefault[] = R"("storageclass.beta.kubernetes.io/is-default-class":"true")";
const char kNotDefault[] = R"("storageclass.kubernetes.io/is-default-class":"false")";

TEST_P(DefaultStorageClasses, OfClaims) {
  Put("fast", kDefault, "2026-01-01T00:00:00Z");
  Put("other", kNotDefault, "2026-01-02T00:00:00Z");
  Check(*MakeDefaultStorageClass(cluster_.Inputs()), GetParam());
}

const PluginCase kCases[] = {
    {"NoClass", Claims(""), "", R"({"spec":{"storageClassName":"fast"}})"},
    {"NullClass", Claims(R"("storageClassName":null)"), "", R"({"spec":{"storageClassName":"fast"}})"},
    {"EmptyClass", Claims(R"("storageClassName":"")"), "", R"({"spec":{"storageClassName":""}})"},
    {"OwnClass", Claims(R"("storageClassName":"other")"), "", R"({"spec":{"storageClassName":"other"}})"},
    {"Annotation", Claims("", R"("volume.beta.kubernetes.io/storage-class":"")"), "",
     R"({"spec":{"storageClassName":null}})"},
    {"OtherAnnotation", Claims("", R"("a":"b")"), "", R"({"spec":{"storageClassName":"fast"}})"},
    {"Update",
     {.operation = Operation::kUpdate, .resource = "persistentvolumeclaims", .object = "{}"},
     "",
     R"({"spec":null})"},
    {"Volume", {.resource = "persistentvolumes", .object = "{}"}, "", R"({"spec":null})"},
};
INSTANTIATE_TEST_SUITE_P(Table, DefaultStorageClasses, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST_F(DefaultStorageClasses, TheNewestOfSeveralCounts) {
  const std::unique_ptr<Plugin> plugin = MakeDefaultStorageClass(cluster_.Inputs());
  Check(*plugin, {"None", Claims(""), "", R"({"spec":{"storageClassName":null}})"});
  Put("b", kDefault, "2026-01-01T00:00:00Z");
  Put("c", kBetaDefault, "2026-01-03T00:00:00Z");
  Put("d", kDefault, "2026-01-02T00:00:00Z");
  Check(*plugin, {"Newest", Claims(""), "", R"({"spec":{"storageClassName":"c"}})"});
  Put("a", kDefault, "2026-01-03T00:00:00Z");
  Check(*plugin, {"FirstName", Claims(""), "", R"({"spec":{"storageClassName":"a"}})"});
}

TEST_F(DefaultStorageClasses, RefusesClaimsIfClassesCannotBeRead) {
  Check(*MakeDefaultStorageClass({}), {"Blind", Claims(""),
                                       "403 persistentvolumeclaims \"p\" is forbidden: Internal error occurred: "
                                       "storageclasses cannot be read here"});
}

}  // namespace
}  // namespace apimesh::admission
