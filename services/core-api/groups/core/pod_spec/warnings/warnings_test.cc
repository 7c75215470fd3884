#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

struct Case {
  const char* name;
  const char* spec;
  std::vector<std::string> want;
};
// The texts are those of kube-apiserver v1.36 for the same templates.
const Case kCases[] = {
    {"Plain", R"("containers":[{"name":"c","image":"i"}])", {}},
    {"DeprecatedLabel",
     R"("nodeSelector":{"beta.kubernetes.io/os":"linux"})",
     {R"(t.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead)"}},
    {"NegativeGrace",
     R"("terminationGracePeriodSeconds":-1)",
     {"t.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as "
      "1"}},
    {"EnvThatExtendsIsFine",
     R"("containers":[{"env":[{"name":"A","value":"a"},{"name":"A","value":"$(A)b"},{"name":"A","value":"c"}]}])",
     {R"(t.template.spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply)"}},
    {"Ports",
     R"("containers":[{"ports":[{"containerPort":80},{"containerPort":80},{"containerPort":80,"hostPort":1}]}])",
     {"t.template.spec.containers[0].ports[1]: duplicate port definition with t.template.spec.containers[0].ports[0]",
      "t.template.spec.containers[0].ports[2]: overlapping port definition with t.template.spec.containers[0].ports[0]",
      "t.template.spec.containers[0].ports[2]: overlapping port definition with "
      "t.template.spec.containers[0].ports[1]"}},
    {"HostIpWithoutPort",
     R"("containers":[{"ports":[{"name":"p","containerPort":80,"hostIP":"1.2.3.4","protocol":"TCP"}]}])",
     {"t.template.spec.containers[0].ports[0]: hostIP set without hostPort: {Name:p HostPort:0 ContainerPort:80 "
      "Protocol:TCP HostIP:1.2.3.4}"}},
    {"FilesOfAVolume",
     R"("volumes":[{"name":"v","configMap":{"name":"c","items":[{"key":"a","path":"x/y"},{"key":"b","path":"x"},{"key":"c","path":"x/y/"}]}}])",
     {R"(volume "v" (ConfigMap "c"): overlapping paths: "x" with "x/y")",
      R"(volume "v" (ConfigMap "c"): overlapping paths: "x/y" with "x/y")",
      R"(volume "v" (ConfigMap "c"): overlapping paths: "x/y" with "x")"}},
    {"ProjectedFiles",
     R"("volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"s","items":[{"key":"a","path":"t"}]}},{"serviceAccountToken":{"path":"t"}},{}]}}])",
     {R"(volume "v" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" (Secret "s"))",
      R"(volume "v" (Projected) has no sources provided)"}},
    {"FractionOfAByte",
     R"("containers":[{"resources":{"limits":{"memory":"1500m"}}}])",
     {R"(t.template.spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer)"}},
};
class TemplateWarnings : public ::testing::TestWithParam<Case> {};

TEST_P(TemplateWarnings, Texts) {
  const meta::Object holder = Parse(R"({"template":{"spec":{)" + std::string(GetParam().spec) + "}}}");
  EXPECT_EQ(TemplateWarningsOf(holder.Root(), meta::Path("t")), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, TemplateWarnings, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::core_api
