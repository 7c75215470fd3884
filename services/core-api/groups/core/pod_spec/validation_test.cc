#include "services/core-api/groups/core/pod_spec/validation.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "services/core-api/features/rule_features.h"

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

/// A spec that is valid with one value of a feature gate only.
struct FeatureCase {
  bool RuleFeatures::* feature;
  bool valid_with;
  const char* spec;
  const char* field;
};

TEST(PodSpecValidation, FollowsFeatureGates) {
  const FeatureCase cases[] = {
      {&RuleFeatures::taint_toleration_comparison_operators, true,
       R"({"tolerations":[{"key":"a","operator":"Lt","value":"-5"}]})", "spec.tolerations[0].operator"},
      {&RuleFeatures::user_namespaces_host_network_support, true, R"({"hostUsers":false,"hostNetwork":true})",
       "spec.hostNetwork"},
      {&RuleFeatures::se_linux_mount, true, R"({"securityContext":{"seLinuxChangePolicy":"MountOption"}})",
       "spec.securityContext.seLinuxChangePolicy"},
      {&RuleFeatures::restart_all_containers_on_container_exits, true,
       R"({"containers":[{"name":"c","image":"i","imagePullPolicy":"Always","terminationMessagePolicy":"File",
           "restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers",
           "exitCodes":{"operator":"In","values":[1]}}]}]})",
       "spec.containers[0].restartPolicyRules[0].action"},
      {&RuleFeatures::strict_ip_cidr_validation, false, R"({"hostAliases":[{"ip":"010.1.2.3"}]})",
       "spec.hostAliases[0].ip"},
      {&RuleFeatures::pod_level_resources, false, R"({"resources":{"claims":[{"name":"x"}]},"resourceClaims":[
          {"name":"x","resourceClaimName":"y"}]})",
       "spec.resources.claims"},
  };
  for (const FeatureCase& one : cases) {
    for (const bool value : {true, false}) {
      ActiveRuleFeatures().*one.feature = value;
      const meta::FieldErrors errors = ValidatePodSpec(SpecWith(one.spec), meta::Path("spec"));
      ASSERT_EQ(errors.size(), value == one.valid_with ? 0u : 1u) << one.spec << " " << value;
      if (!errors.empty()) {
        EXPECT_EQ(errors.front().field, one.field);
      }
    }
    ActiveRuleFeatures() = RuleFeatures();
  }
}

TEST(PodSpecValidation, ComparedNumbers) {
  ActiveRuleFeatures().taint_toleration_comparison_operators = true;
  const std::pair<const char*, std::size_t> cases[] = {
      {"0", 0}, {"-7", 0}, {"9223372036854775807", 0}, {"05", 1}, {"+5", 1},
      {"x", 2}, {"", 2},   {"9223372036854775808", 1}};
  for (const auto& [text, count] : cases) {
    meta::json::object spec = SpecWith("{}");
    spec["tolerations"] = {{{"key", "a"}, {"operator", "Gt"}, {"value", text}}};
    EXPECT_EQ(ValidatePodSpec(spec, meta::Path("spec")).size(), count) << text;
  }
  ActiveRuleFeatures() = RuleFeatures();
}

}  // namespace
}  // namespace apimesh::core_api
