#include "lib/admission/plugins/pod_security/pod_security.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/admission/plugins/pod_security/checks.h"
#include "lib/admission/plugins/pod_security/configuration.h"
#include "lib/admission/plugins/pod_security/existing_pods.h"
#include "lib/admission/plugins/pod_security/metrics.h"

namespace apimesh::admission {
namespace {

using namespace pod_security;  // NOLINT(google-build-using-namespace): the parts of this plugin

/// Subresources of pods that do not change the spec.
constexpr std::string_view kIgnoredSubresources[] = {"exec", "attach", "binding",     "eviction",
                                                     "log",  "proxy",  "portforward", "status"};

/// Returns whether objects of a resource contain the template of a pod.
bool HasTemplate(const meta::Gvr& resource) {
  const std::string_view name = resource.resource;
  if (resource.group.empty()) return name == "replicationcontrollers" || name == "podtemplates";
  if (resource.group == "apps")
    return name == "replicasets" || name == "deployments" || name == "statefulsets" || name == "daemonsets";
  return resource.group == "batch" && (name == "jobs" || name == "cronjobs");
}

/// Returns the template, or nullptr if the object has none.
const json::object* TemplateOf(const meta::Gvr& resource, const meta::Object& object) {
  const json::value* found = nullptr;
  if (resource.resource == "podtemplates") {
    found = meta::Find(object.Root(), "template");
  } else if (resource.resource == "cronjobs") {
    found = meta::Find(object.Root(), "spec", "jobTemplate", "spec", "template");
  } else {
    found = meta::Find(object.Root(), "spec", "template");
  }
  return found && found->is_object() ? &found->get_object() : nullptr;
}

/// Returns whether an update adds a container or changes an image. Other updates of pods change nothing that a policy
/// is about.
bool IsSignificant(const meta::Object& pod, const meta::Object& old) {
  const json::object &spec = SpecOf(pod), &old_spec = SpecOf(old);
  const auto image = [](const json::value& container) {
    return container.is_object() ? meta::FindString(container.get_object(), "image") : std::string_view();
  };
  for (const char* list : {"containers", "initContainers"}) {
    const json::array &now = ListAt(spec, list), &before = ListAt(old_spec, list);
    if (!std::equal(now.begin(), now.end(), before.begin(), before.end(),
                    [&](const json::value& a, const json::value& b) { return image(a) == image(b); })) {
      return true;
    }
  }
  const json::array& before = ListAt(old_spec, "ephemeralContainers");
  return AnyOf(ListAt(spec, "ephemeralContainers"), [&](const json::object& container) {
    return !AnyOf(before, [&](const json::object& old_container) {
      return NameOf(old_container) == NameOf(container) &&
             meta::FindString(old_container, "image") == meta::FindString(container, "image");
    });
  });
}

void Annotate(const meta::RequestContext& ctx, std::string_view key, std::string_view value) {
  ctx.AddAuditAnnotation(fmt::format("{}{}", kLabelPrefix, key), value);
}

std::string Violation(std::string_view verb, const LevelVersion& policy, const std::vector<Finding>& findings) {
  return fmt::format("{} PodSecurity {}: {}", verb, meta::Quoted(policy.ToString()), Details(findings));
}

class PodSecurity final : public Plugin {
 public:
  PodSecurity(const PluginInputs& inputs, Configuration configuration)
      : objects_(inputs.objects),
        configuration_(std::move(configuration)),
        clock_(inputs.clock),
        recorder_(inputs.metrics) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    if (phase != Phase::kValidate ||
        (attributes.operation != Operation::kCreate && attributes.operation != Operation::kUpdate)) {
      return false;
    }
    if (IsResource(attributes, "", "pods")) {
      return std::find(std::begin(kIgnoredSubresources), std::end(kIgnoredSubresources), attributes.subresource) ==
             std::end(kIgnoredSubresources);
    }
    return attributes.subresource.empty() &&
           (HasTemplate(attributes.resource) || IsResource(attributes, "", "namespaces"));
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    if (IsResource(attributes, "", "namespaces")) return ValidateNamespace(std::move(ctx), attributes);
    return ValidatePods(std::move(ctx), attributes, IsResource(attributes, "", "pods"));
  }

 private:
  Task<meta::Result<>> ValidateNamespace(meta::RequestContext ctx, const Attributes& attributes) {
    const meta::Object& object = *attributes.object;
    meta::FieldErrors errors, old_errors;
    const Policy policy = PolicyOf(object, configuration_.defaults, errors);
    if (attributes.operation == Operation::kCreate) {
      if (!errors.empty()) co_return InvalidLabels(attributes, errors);
      if (configuration_.exempt_namespaces.contains(object.Name())) WarnAboutExemption(ctx, object, policy);
      co_return meta::Result<>();
    }
    const Policy old = PolicyOf(*attributes.old_object, configuration_.defaults, old_errors);
    if (!errors.empty() && !SameErrors(errors, old_errors)) co_return InvalidLabels(attributes, errors);
    const bool stricter = policy.enforce != old.enforce && policy.enforce.level != Level::kPrivileged &&
                          (policy.enforce.version != old.enforce.version || policy.enforce.level > old.enforce.level);
    if (!stricter) co_return meta::Result<>();
    const meta::Gvr pods{"", "v1", "pods"};
    meta::LabelSelector all;
    const std::string ns(object.Name());
    meta::Result<std::vector<ObjectPtr>> found = meta::InternalError("pods cannot be read here");
    if (objects_) found = co_await objects_->List(ctx, pods, ns, all, Read::kCached);
    if (!found) {
      ctx.Warn("failed to list pods while checking new PodSecurity enforce level");
      co_return meta::Result<>();
    }
    for (std::string& warning : CheckExistingPods(*std::move(found), ns, policy.enforce, configuration_, *clock_))
      ctx.Warn(std::move(warning));
    co_return meta::Result<>();
  }

  /// Checks a pod, or the template of one, for which the policy only warns and audits.
  Task<meta::Result<>> ValidatePods(meta::RequestContext ctx, const Attributes& attributes, bool enforces) {
    if (configuration_.exempt_namespaces.contains(attributes.ns)) {
      recorder_.RecordExemption(attributes);
      Annotate(ctx, "exempt", "namespace");
      co_return meta::Result<>();
    }
    if (configuration_.exempt_users.contains(ctx.User().name)) {
      recorder_.RecordExemption(attributes);
      Annotate(ctx, "exempt", "user");
      co_return meta::Result<>();
    }
    const meta::Gvr namespaces{"", "v1", "namespaces"};
    meta::Result<ObjectPtr> found = meta::InternalError("namespaces cannot be read here");
    if (objects_) found = co_await objects_->Get(ctx, namespaces, "", attributes.ns, Read::kCachedElseNewest);
    if (!found) {
      recorder_.RecordError(true, attributes);
      const std::string why = fmt::format("failed to lookup namespace {}", meta::Quoted(attributes.ns));
      const std::string prefix = enforces ? "Internal error occurred: " : "";
      Annotate(ctx, "error", fmt::format("{}{}: {}", prefix, why, found.error().Message()));
      if (enforces) co_return meta::InternalError(why);
      co_return meta::Result<>();
    }
    meta::FieldErrors errors;
    const Policy policy = PolicyOf(**found, configuration_.defaults, errors);
    co_return Evaluate(ctx, attributes, enforces, policy, errors);
  }

  meta::Result<> Evaluate(const meta::RequestContext& ctx, const Attributes& attributes, bool enforces,
                          const Policy& policy, const meta::FieldErrors& errors) {
    if (errors.empty() && enforces && policy.FullyPrivileged()) {
      recorder_.RecordEvaluation(true, policy.enforce, "enforce", attributes);
      Annotate(ctx, "enforce-policy", "privileged:latest");
      return {};
    }
    if (errors.empty() && !enforces && policy.warn.level == Level::kPrivileged &&
        policy.audit.level == Level::kPrivileged) {
      return {};
    }
    if (enforces && attributes.operation == Operation::kUpdate &&
        !IsSignificant(*attributes.object, *attributes.old_object)) {
      return {};
    }
    const json::object* pod = &attributes.object->Root();
    if (!enforces) pod = TemplateOf(attributes.resource, *attributes.object);
    if (!pod) return {};
    return EvaluatePod(ctx, attributes, enforces, policy, errors, {ObjectAt(*pod, "metadata"), ObjectAt(*pod, "spec")});
  }

  meta::Result<> EvaluatePod(const meta::RequestContext& ctx, const Attributes& attributes, bool enforces,
                             const Policy& policy, const meta::FieldErrors& errors, const PodView& pod) {
    if (configuration_.exempt_runtime_classes.contains(meta::FindString(pod.spec, "runtimeClassName"))) {
      recorder_.RecordExemption(attributes);
      Annotate(ctx, "exempt", "runtimeClass");
      return {};
    }
    if (!errors.empty()) {
      recorder_.RecordError(false, attributes);
      Annotate(ctx, "error", "Failed to parse policy: " + JoinErrors(Texts(errors)));
    }
    std::vector<Finding> enforced;
    if (enforces) {
      Annotate(ctx, "enforce-policy", policy.enforce.ToString());
      enforced = pod_security::Evaluate(policy.enforce, pod);
      recorder_.RecordEvaluation(enforced.empty(), policy.enforce, "enforce", attributes);
    }
    const auto findings_of = [&](const LevelVersion& mode) {
      return enforces && mode == policy.enforce ? enforced : pod_security::Evaluate(mode, pod);
    };
    if (const std::vector<Finding> audited = findings_of(policy.audit); !audited.empty()) {
      recorder_.RecordEvaluation(false, policy.audit, "audit", attributes);
      Annotate(ctx, "audit-violations", Violation("would violate", policy.audit, audited));
    }
    if (!enforced.empty()) {
      return meta::Forbidden(attributes.resource.GroupResource(), attributes.name,
                             Violation("violates", policy.enforce, enforced));
    }
    if (const std::vector<Finding> warned = findings_of(policy.warn); !warned.empty()) {
      recorder_.RecordEvaluation(false, policy.warn, "warn", attributes);
      ctx.Warn(Violation("would violate", policy.warn, warned));
    }
    return {};
  }

  void WarnAboutExemption(const meta::RequestContext& ctx, const meta::Object& object, const Policy& policy) const {
    if (policy.FullyPrivileged() || Equivalent(policy, configuration_.defaults)) return;
    std::string ignored;
    const auto add = [&](std::string_view mode, const LevelVersion& chosen) {
      const std::string label = fmt::format("{}{}", kLabelPrefix, mode);
      if (chosen.level == Level::kPrivileged || (!object.Label(label) && !object.Label(label + "-version"))) return;
      ignored += fmt::format("{}{}={}", ignored.empty() ? "" : ", ", mode, chosen.ToString());
    };
    add("enforce", policy.enforce);
    add("audit", policy.audit);
    add("warn", policy.warn);
    ctx.Warn(fmt::format("namespace {} is exempt from Pod Security, and the policy ({}) will be ignored",
                         meta::Quoted(object.Name()), ignored));
  }

  static meta::ApiError InvalidLabels(const Attributes& attributes, const meta::FieldErrors& errors) {
    return meta::Invalid(meta::GroupKind{"", "Namespace"}, attributes.name, errors);
  }

  static std::vector<std::string> Texts(const meta::FieldErrors& errors) {
    std::vector<std::string> texts;
    for (const meta::FieldError& error : errors) texts.push_back(error.field + ": " + error.Message());
    return texts;
  }
  static bool SameErrors(const meta::FieldErrors& a, const meta::FieldErrors& b) { return Texts(a) == Texts(b); }

  const ObjectsPtr objects_;
  const Configuration configuration_;
  const Clock* const clock_;
  Recorder recorder_;
};

}  // namespace

std::unique_ptr<Plugin> MakePodSecurity(const PluginInputs& inputs) {
  return std::make_unique<PodSecurity>(inputs, ReadConfiguration(inputs.section));
}

}  // namespace apimesh::admission
