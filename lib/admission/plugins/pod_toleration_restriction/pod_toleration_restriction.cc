#include "lib/admission/plugins/pod_toleration_restriction/pod_toleration_restriction.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/pod_resources.h"
#include "lib/admission/tolerations.h"
#include "lib/codec/codec.h"
#include "lib/codec/config_section.h"

namespace apimesh::admission {
namespace {

struct TolerationConfiguration {
  json::array defaults, whitelist;
};

/// Returns the tolerations in an annotation of a namespace, or nullopt if it has none.
meta::Result<std::optional<json::array>> AnnotatedTolerations(const meta::Object& namespace_object,
                                                              std::string_view annotation) {
  const json::string* text = namespace_object.Annotation(annotation);
  if (!text) return std::optional<json::array>();
  if (text->empty()) return std::optional<json::array>(json::array());
  const meta::Result<json::value> parsed = codec::ParseJson(*text, {});
  if (!parsed) return PlainError(parsed.error().Message());
  if (parsed->is_null()) return std::optional<json::array>(json::array());
  if (!parsed->is_array()) {
    return PlainError(fmt::format("json: cannot unmarshal {} into Go value of type []v1.Toleration",
                                  parsed->is_object()   ? "object"
                                  : parsed->is_string() ? "string"
                                                        : "number"));
  }
  return std::optional<json::array>(parsed->get_array());
}

bool IsAllowed(const json::array& tolerations, const json::array& whitelist) {
  return std::all_of(tolerations.begin(), tolerations.end(), [&whitelist](const json::value& toleration) {
    return toleration.is_object() && AnyOf(whitelist, [&toleration](const json::object& allowed) {
             return IsSuperset(allowed, toleration.get_object());
           });
  });
}

class PodTolerationRestriction final : public Plugin {
 public:
  PodTolerationRestriction(ObjectsPtr objects, TolerationConfiguration configuration)
      : objects_(std::move(objects)), configuration_(std::move(configuration)) {}

  bool Handles(Phase, const Attributes& attributes) const override {
    return IsPod(attributes) &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    json::array extra;
    if (attributes.operation == Operation::kCreate) {
      ASSIGN_OR_CO_RETURN(const ObjectPtr found, co_await Namespace(ctx, attributes));
      ASSIGN_OR_CO_RETURN(const std::optional<json::array> defaults,
                          AnnotatedTolerations(*found, "scheduler.alpha.kubernetes.io/defaultTolerations"));
      extra = defaults ? *defaults : configuration_.defaults;
    }
    if (!IsBestEffort(*attributes.object)) {
      extra.push_back(
          {{"key", "node.kubernetes.io/memory-pressure"}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
    }
    if (!extra.empty()) MergeTolerations(SpecOf(*attributes.object), extra);
    co_return co_await Validate(ctx, attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const json::array& tolerations = ListAt(SpecOf(std::as_const(*attributes.object)), "tolerations");
    if (tolerations.empty()) co_return meta::Result<>();
    ASSIGN_OR_CO_RETURN(const ObjectPtr found, co_await Namespace(ctx, attributes));
    ASSIGN_OR_CO_RETURN(const std::optional<json::array> of_namespace,
                        AnnotatedTolerations(*found, "scheduler.alpha.kubernetes.io/tolerationsWhitelist"));
    const json::array& whitelist = of_namespace ? *of_namespace : configuration_.whitelist;
    if (whitelist.empty() || IsAllowed(tolerations, whitelist)) co_return meta::Result<>();
    co_return PlainError(
        fmt::format("pod tolerations (possibly merged with namespace default tolerations) conflict with its {} "
                    "whitelist",
                    of_namespace ? "namespace" : "cluster"));
  }

 private:
  Task<meta::Result<ObjectPtr>> Namespace(meta::RequestContext ctx, const Attributes& attributes) {
    if (!objects_) co_return meta::InternalError("namespaces cannot be read here");
    const meta::Gvr namespaces{"", "v1", "namespaces"};
    meta::Result<ObjectPtr> found = co_await objects_->Get(ctx, namespaces, "", attributes.ns, Read::kCachedElseNewest);
    if (found || found.error().Is(meta::Reason::kNotFound)) co_return found;
    co_return meta::InternalError(found.error().Message());
  }

  const ObjectsPtr objects_;
  const TolerationConfiguration configuration_;
};

TolerationConfiguration ReadTolerations(const std::optional<std::string>& section) {
  TolerationConfiguration configuration;
  if (!section || section->empty()) return configuration;
  static constexpr std::string_view kVersions[] = {"podtolerationrestriction.admission.k8s.io/v1alpha1"};
  const json::object document = codec::ReadSection(*section, kVersions, "Configuration");
  configuration.defaults = ListAt(document, "default");
  configuration.whitelist = ListAt(document, "whitelist");
  return configuration;
}

}  // namespace

std::unique_ptr<Plugin> MakePodTolerationRestriction(const PluginInputs& inputs) {
  return std::make_unique<PodTolerationRestriction>(inputs.objects, ReadTolerations(inputs.section));
}

}  // namespace apimesh::admission
