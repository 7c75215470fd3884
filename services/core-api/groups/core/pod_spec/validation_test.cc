#include "services/core-api/groups/core/pod_spec/validation.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace apimesh::core_api {
namespace {

struct Case {
  const char* name;
  const char* spec;   // merged into a pod spec that is valid
  const char* field;  // the field of the only error; "" if there is none
};

/// Returns a valid pod spec with the given fields.
meta::json::object SpecWith(const char* fields) {
  meta::json::object spec = boost::json::parse(R"({"containers":[{"name":"c","image":"i","imagePullPolicy":"Always",
      "terminationMessagePolicy":"File"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst",
      "terminationGracePeriodSeconds":30})")
                                .as_object();
  const meta::json::value changes = boost::json::parse(fields);
  for (const auto& [key, value] : changes.as_object()) spec[key] = value;
  return spec;
}

TEST(PodSpecValidation, Fields) {
  const Case cases[] = {
      {"nothing", R"({})", ""},
      {"user", R"({"securityContext":{"runAsUser":-1}})", "spec.securityContext.runAsUser"},
      {"sysctl", R"({"securityContext":{"sysctls":[{"name":"kernel.shm_rmid_forced","value":"0"}]}})", ""},
      {"sysctl with slashes", R"({"securityContext":{"sysctls":[{"name":"net/ipv4/conf/eth0.1/x","value":"0"}]}})", ""},
      {"no sysctl", R"({"securityContext":{"sysctls":[{"name":"a..b"}]}})", "spec.securityContext.sysctls[0].name"},
      {"seccomp without type", R"({"securityContext":{"seccompProfile":{}}})",
       "spec.securityContext.seccompProfile.type"},
      {"AppArmor", R"({"securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":" a"}}})",
       "spec.securityContext.appArmorProfile.localhostProfile"},
      {"windows field on linux", R"({"os":{"name":"linux"},"securityContext":{"windowsOptions":{}}})",
       "spec.securityContext.windowsOptions"},
      {"linux field on windows", R"({"os":{"name":"windows"},"hostPID":true})", "spec.hostPID"},
      {"windows user", R"({"securityContext":{"windowsOptions":{"runAsUserName":"DOMAIN\\user"}}})", ""},
      {"windows user with two backslashes", R"({"securityContext":{"windowsOptions":{"runAsUserName":"a\\b\\c"}}})",
       "spec.securityContext.windowsOptions.runAsUserName"},
      {"own users, processes of the node", R"({"hostUsers":false,"hostPID":true})", "spec.HostPID"},
      {"search path", R"({"dnsConfig":{"searches":[".","_a_b.c."]}})", ""},
      {"no search path", R"({"dnsConfig":{"searches":["a..b"]}})", "spec.dnsConfig.searches[0]"},
      {"name server", R"({"dnsConfig":{"nameservers":["nope"]}})", "spec.dnsConfig.nameservers[0]"},
      {"two sources of one volume", R"({"volumes":[{"name":"v","emptyDir":{},"nfs":{"server":"s","path":"/p"}}]})",
       "spec.volumes[0].nfs"},
      {"files of two sources", R"({"volumes":[{"name":"v","projected":{"sources":[
          {"secret":{"name":"a","items":[{"key":"k","path":"p"}]}},
          {"configMap":{"name":"b","items":[{"key":"k","path":"p"}]}}]}}]})",
       "spec.volumes[0].projected"},
      {"topology constraints that are equal", R"({"topologySpreadConstraints":[
          {"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"},
          {"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"}]})",
       "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}"},
      {"label keys without selector",
       R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"a","matchLabelKeys":["x"]}]}}})",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys"},
      {"claims with one name", R"({"resourceClaims":[{"name":"a","resourceClaimName":"x"},
          {"name":"a","resourceClaimName":"y"}]})",
       "spec.resourceClaims[1].name"},
  };
  for (const Case& one : cases) {
    const meta::json::object spec = SpecWith(one.spec);
    const meta::FieldErrors errors = ValidatePodSpec(spec, meta::Path("spec"));
    const bool wants_error = *one.field != '\0';
    ASSERT_EQ(errors.size(), wants_error ? 1u : 0u)
        << one.name << (errors.empty() ? "" : ": " + errors.front().field + " " + errors.front().Message());
    EXPECT_EQ(errors.empty() ? "" : errors.front().field, one.field) << one.name;
  }
}

}  // namespace
}  // namespace apimesh::core_api
