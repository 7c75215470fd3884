#include "lib/admission/plugins/pod_security/pod_security.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

const char kPrefix[] = "pod-security.kubernetes.io/";
const char kPrivilegedPod[] = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
  "securityContext":{"privileged":true}}]}})";
const char kPlainPod[] = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})";
const std::string kViolation = R"("baseline:latest": privileged (container "c" must not set )"
                               "securityContext.privileged=true)";

class PodSecurityTest : public ::testing::Test {
 protected:
  /// `labels` such as {"enforce", "baseline"}.
  void Label(const std::map<std::string, std::string>& labels) {
    cluster_.Put({"", "namespaces"}, "ns", Namespace(labels));
  }
  static std::string Namespace(const std::map<std::string, std::string>& labels) {
    std::string text;
    for (const auto& [name, value] : labels)
      text += fmt::format(R"({}"{}{}":"{}")", text.empty() ? "" : ",", kPrefix, name, value);
    return fmt::format(R"({{"metadata":{{"name":"ns","labels":{{{}}}}}}})", text);
  }
  Outcome Run(Write write) {
    PluginInputs inputs = cluster_.Inputs();
    inputs.section = section_;
    inputs.metrics = &metrics_;
    const std::unique_ptr<Plugin> plugin = MakePodSecurity(inputs);
    return TestCluster::Run(*plugin, write);
  }
  Outcome Creates(const std::string& pod) { return Run({.resource = "pods", .name = "p", .object = pod}); }
  Outcome Relabels(const std::map<std::string, std::string>& labels, const std::map<std::string, std::string>& old) {
    return Run({.operation = Operation::kUpdate,
                .resource = "namespaces",
                .name = "ns",
                .object = Namespace(labels),
                .old_object = Namespace(old)});
  }
  void Configure(const std::string& body) {
    section_ =
        R"({"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration",)" + body + "}";
  }
  std::string StartError(const std::string& section) {
    PluginInputs inputs;
    inputs.section = section;
    try {
      (void)MakePodSecurity(inputs);
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  }

  TestCluster cluster_;
  service::Metrics metrics_{cluster_.clock};
  std::optional<std::string> section_;
};

TEST_F(PodSecurityTest, NamespacesWithoutLabelsAllowEverything) {
  Label({});
  const Outcome outcome = Creates(kPrivilegedPod);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.annotations, ElementsAre(Pair("pod-security.kubernetes.io/enforce-policy", "privileged:latest")));
}

TEST_F(PodSecurityTest, EnforcesTheLevelOfTheNamespace) {
  Label({{"enforce", "baseline"}});
  EXPECT_EQ(Creates(kPrivilegedPod).error, R"(403 pods "p" is forbidden: violates PodSecurity )" + kViolation);
  const Outcome outcome = Creates(kPlainPod);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.annotations, ElementsAre(Pair("pod-security.kubernetes.io/enforce-policy", "baseline:latest")));
  Label({{"enforce", "restricted"}, {"enforce-version", "v1.7"}});
  EXPECT_THAT(Creates(kPlainPod).error,
              StartsWith(R"(403 pods "p" is forbidden: violates PodSecurity "restricted:v1.7")"));
  Label({{"enforce", "privileged"}, {"enforce-version", "v1.7"}});
  EXPECT_EQ(Creates(kPrivilegedPod).error, "");
}

TEST_F(PodSecurityTest, WarnsAndAudits) {
  Label({{"warn", "baseline"}, {"audit", "baseline"}, {"audit-version", "v1.20"}});
  const Outcome outcome = Creates(kPrivilegedPod);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.warnings, ElementsAre("would violate PodSecurity " + kViolation));
  EXPECT_THAT(outcome.annotations,
              UnorderedElementsAre(Pair("pod-security.kubernetes.io/enforce-policy", "privileged:latest"),
                                   Pair("pod-security.kubernetes.io/audit-violations",
                                        HasSubstr(R"(would violate PodSecurity "baseline:v1.20": privileged)"))));
}

TEST_F(PodSecurityTest, EnforcedLevelsAlsoWarnAboutTemplates) {
  Label({{"enforce", "baseline"}});
  const std::string pod = R"({"spec":{"containers":[{"name":"c","securityContext":{"privileged":true}}]}})";
  for (const auto& [resource, path] :
       {std::pair("deployments.apps", R"({{"spec":{{"template":{}}}}})"),
        std::pair("jobs.batch", R"({{"spec":{{"template":{}}}}})"),
        std::pair("cronjobs.batch", R"({{"spec":{{"jobTemplate":{{"spec":{{"template":{}}}}}}}}})"),
        std::pair("podtemplates", R"({{"template":{}}})"),
        std::pair("replicationcontrollers", R"({{"spec":{{"template":{}}}}})")}) {
    const Outcome outcome = Run({.resource = resource, .name = "p", .object = fmt::format(fmt::runtime(path), pod)});
    EXPECT_EQ(outcome.error, "") << resource;
    EXPECT_THAT(outcome.warnings, ElementsAre("would violate PodSecurity " + kViolation)) << resource;
  }
  EXPECT_THAT(Run({.resource = "replicationcontrollers", .object = R"({"spec":{}})"}).warnings, IsEmpty());
  EXPECT_FALSE(Run({.resource = "deployments.apps/scale", .object = "{}"}).asked);
  EXPECT_FALSE(Run({.resource = "deployments.example.com", .object = "{}"}).asked);
}

TEST_F(PodSecurityTest, UpdatesAreCheckedIfTheyChangeImages) {
  Label({{"enforce", "baseline"}});
  const auto update = [&](const std::string& pod, const std::string& subresource = "pods") {
    return Run({.operation = Operation::kUpdate,
                .resource = subresource,
                .name = "p",
                .object = pod,
                .old_object = kPrivilegedPod})
        .error;
  };
  EXPECT_EQ(update(kPrivilegedPod), "");
  EXPECT_THAT(update(R"({"spec":{"containers":[{"name":"c","image":"j","securityContext":{"privileged":true}}]}})"),
              StartsWith("403"));
  EXPECT_THAT(update(R"({"spec":{"containers":[{"name":"c","image":"i"}],"ephemeralContainers":[{"name":"d",
                "securityContext":{"privileged":true}}]}})",
                     "pods/ephemeralcontainers"),
              StartsWith("403"));
  EXPECT_FALSE(Run({.operation = Operation::kUpdate, .resource = "pods/status", .object = kPrivilegedPod}).asked);
  EXPECT_FALSE(Run({.operation = Operation::kDelete, .resource = "pods"}).asked);
}

TEST_F(PodSecurityTest, InvalidLabelsEnforceRestrictedAndAreReported) {
  Label({{"enforce", "Baseline"}, {"warn", "x"}});
  const Outcome outcome = Creates(kPlainPod);
  EXPECT_THAT(outcome.error, StartsWith(R"(403 pods "p" is forbidden: violates PodSecurity "restricted:latest")"));
  EXPECT_THAT(outcome.annotations[0].second, StartsWith("Failed to parse policy: [metadata.labels["));
}

TEST_F(PodSecurityTest, RefusesInvalidLabelsOfNamespaces) {
  const auto create = [&](const std::map<std::string, std::string>& labels) {
    return Run({.resource = "namespaces", .name = "ns", .object = Namespace(labels), .ns = "ns"}).error;
  };
  EXPECT_EQ(create({{"enforce", "baseline"}, {"warn-version", "latest"}, {"audit-version", "v1.0"}}), "");
  EXPECT_EQ(
      create({{"enforce", "high"}}),
      R"(422 Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "high": )"
      "must be one of privileged, baseline, restricted");
  for (const char* version : {"1.20", "v1", "v2.0", "v1.01", "v1.", "v1.-1", "v1.x", "v1.99999999999999999999", ""}) {
    EXPECT_THAT(create({{"warn-version", version}}), HasSubstr(R"(must be "latest" or "v1.x")")) << version;
  }
  EXPECT_NE(Relabels({{"warn", "x"}}, {}).error, "");
  EXPECT_EQ(Relabels({{"warn", "x"}}, {{"warn", "x"}}).error, "") << "the error is not new";
}

TEST_F(PodSecurityTest, StricterLabelsWarnAboutExistingPods) {
  const auto put = [&](const std::string& name, const std::string& spec, const std::string& more = "") {
    cluster_.Put({"", "pods"}, "ns/" + name,
                 fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns"{}}},"spec":{}}})", name, more, spec));
  };
  put("a", R"({"hostNetwork":true})");
  put("b", R"({"hostNetwork":true})", R"(,"ownerReferences":[{"uid":"u","controller":true}])");
  put("c", R"({"hostNetwork":true})", R"(,"ownerReferences":[{"uid":"u","controller":true}])");
  put("d", R"({"containers":[{"name":"c","securityContext":{"privileged":true}}]})");
  put("ok", "{}");
  EXPECT_THAT(
      Relabels({{"enforce", "baseline"}}, {}).warnings,
      ElementsAre(R"(existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest")",
                  "a (and 2 other pods): host namespaces", "d: privileged"));
  EXPECT_THAT(Relabels({{"enforce", "baseline"}}, {{"enforce", "restricted"}}).warnings, IsEmpty());
  EXPECT_THAT(Relabels({{"enforce", "privileged"}}, {{"enforce", "baseline"}}).warnings, IsEmpty());
  EXPECT_THAT(Relabels({{"enforce", "baseline"}}, {{"enforce", "baseline"}}).warnings, IsEmpty());
  EXPECT_THAT(Relabels({{"warn", "baseline"}}, {}).warnings, IsEmpty());
}

TEST_F(PodSecurityTest, ConfigurationSetsDefaultsAndExemptions) {
  Configure(R"("defaults":{"enforce":"baseline"},"exemptions":{"usernames":["root"],"namespaces":["free"],
               "runtimeClasses":["vm"]})");
  Label({});
  EXPECT_THAT(Creates(kPrivilegedPod).error, StartsWith("403"));
  const auto reason = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.error, "");
    return outcome.annotations.empty() ? "" : outcome.annotations[0].first + "=" + outcome.annotations[0].second;
  };
  EXPECT_EQ(reason(Run({.resource = "pods", .object = kPrivilegedPod, .ns = "free"})),
            "pod-security.kubernetes.io/exempt=namespace");
  EXPECT_EQ(reason(Run({.resource = "pods", .object = kPrivilegedPod, .user = {.name = "root"}})),
            "pod-security.kubernetes.io/exempt=user");
  EXPECT_EQ(reason(Creates(R"({"spec":{"runtimeClassName":"vm","hostNetwork":true}})")),
            "pod-security.kubernetes.io/exempt=runtimeClass");
  EXPECT_THAT(Run({.resource = "namespaces", .name = "free", .object = R"({"metadata":{"name":"free","labels":
                {"pod-security.kubernetes.io/enforce":"restricted"}}})"})
                  .warnings,
              ElementsAre(R"(namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:latest) )"
                          "will be ignored"));
}

TEST_F(PodSecurityTest, RefusesWrongConfigurations) {
  const std::string head =
      R"({"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration",)";
  EXPECT_EQ(StartError(head + R"("defaults":{"audit-version":"v1.30"}})"), "");
  EXPECT_EQ(StartError("apiVersion: pod-security.admission.config.k8s.io/v1beta1\nkind: PodSecurityConfiguration\n"),
            "");
  EXPECT_EQ(StartError(head + R"("defaults":{"enforce":"x"}})"),
            "PodSecurity configuration error: enforce: must be one of privileged, baseline, restricted");
  EXPECT_EQ(StartError(head + R"("defaults":{"warn-version":"1","audit":"x"}})"),
            "PodSecurity configuration error: [audit: must be one of privileged, baseline, restricted, warn-version: "
            R"(must be "latest" or "v1.x"])");
  EXPECT_EQ(StartError(head + R"("defaults":{"enforce":5}})"),
            "json: cannot unmarshal number into Go struct field PodSecurityDefaults.defaults.enforce of type string");
  EXPECT_EQ(StartError(head + R"("exemptions":{"usernames":["a","a"]}})"),
            R"(PodSecurity invalid: exemptions.usernames[1]: Duplicate value: "a")");
  EXPECT_THAT(StartError(head + R"("exemptions":{"namespaces":["A"]}})"), HasSubstr("exemptions.namespaces[0]"));
  EXPECT_EQ(StartError(head + R"("defaultz":{}})"), R"(strict decoding error: unknown field "defaultz")");
  EXPECT_THAT(StartError(R"({"apiVersion":"v1","kind":"Pod"})"), HasSubstr(R"(no kind "Pod" is registered)"));
  EXPECT_THAT(StartError("{}"), HasSubstr("Object 'Kind' is missing"));
}

TEST_F(PodSecurityTest, RefusesPodsIfTheNamespaceCannotBeRead) {
  const Outcome outcome = Creates(kPlainPod);
  EXPECT_EQ(outcome.error, R"(500 Internal error occurred: failed to lookup namespace "ns")");
  const Outcome of_template = Run({.resource = "deployments.apps", .object = "{}"});
  EXPECT_EQ(of_template.error, "");
  EXPECT_THAT(of_template.annotations,
              ElementsAre(Pair("pod-security.kubernetes.io/error",
                               R"(failed to lookup namespace "ns": namespaces "ns" not found)")));
}

TEST_F(PodSecurityTest, Metrics) {
  const auto evaluations = [this](std::string_view labels) {
    const std::string text = metrics_.Text(), line = fmt::format("pod_security_evaluations_total{{{}}} ", labels);
    const std::size_t found = text.find(line);
    return found == std::string::npos ? -1 : std::stoi(text.substr(found + line.size()));
  };
  Label({});
  Creates(kPrivilegedPod);
  Label({{"enforce", "baseline"},
         {"enforce-version", "v1.99"},
         {"audit", "restricted"},
         {"warn", "baseline"},
         {"warn-version", "v1.24"}});
  EXPECT_NE(Creates(kPrivilegedPod).error, "");
  EXPECT_EQ(Creates(kPlainPod).error, "");
  Run({.resource = "deployments.apps",
       .name = "d",
       .object = fmt::format(R"({{"spec":{{"template":{}}}}})", kPrivilegedPod)});
  Label({{"enforce", "nope"}});
  Creates(kPlainPod);
  Configure(R"("exemptions":{"usernames":["jane"]})");
  Creates(kPlainPod);

  const std::string create = R"(request_operation="create",resource="pod",subresource="")";
  EXPECT_EQ(
      evaluations(R"(decision="allow",mode="enforce",policy_level="privileged",policy_version="latest",)" + create), 1);
  EXPECT_EQ(evaluations(R"(decision="deny",mode="enforce",policy_level="baseline",policy_version="future",)" + create),
            1);
  EXPECT_EQ(evaluations(R"(decision="allow",mode="enforce",policy_level="baseline",policy_version="future",)" + create),
            1);
  EXPECT_EQ(evaluations(R"(decision="deny",mode="audit",policy_level="restricted",policy_version="latest",)" + create),
            2);
  EXPECT_EQ(evaluations(R"(decision="deny",mode="warn",policy_level="baseline",policy_version="v1.24",)" + create), -1)
      << "a pod that is refused is not warned about";
  EXPECT_EQ(
      evaluations(
          R"(decision="deny",mode="warn",policy_level="baseline",policy_version="v1.24",request_operation="create",resource="controller",subresource="")"),
      1);
  EXPECT_THAT(metrics_.Text(), HasSubstr("pod_security_exemptions_total{" + create + "} 1\n"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("pod_security_errors_total{fatal=\"false\"," + create + "} 1\n"));
}

}  // namespace
}  // namespace apimesh::admission
