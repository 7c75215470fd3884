#include "lib/admission/plugins/pod_node_selector/pod_node_selector.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/fields.h"
#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"
#include "lib/codec/codec.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/names.h"

namespace apimesh::admission {
namespace {

using Selector = std::map<std::string, std::string, std::less<>>;

/// Parses "a=b,c=d". Errors are those of kube-apiserver.
meta::Result<Selector> ParseSelector(std::string_view text) {
  Selector selector;
  if (text.empty()) return selector;
  for (const std::string_view label : Split(text, ',')) {
    const std::vector<std::string_view> parts = Split(label, '=');
    if (parts.size() != 2) return PlainError(fmt::format("invalid selector: [{}]", fmt::join(parts, " ")));
    std::string key(TrimSpace(parts[0])), value(TrimSpace(parts[1]));
    if (const meta::Complaints wrong = meta::CheckQualifiedName(key); !wrong.empty()) {
      const meta::FieldError error =
          meta::Invalid("<nil>", meta::Quoted(key), fmt::format("{}", fmt::join(wrong, "; ")));
      return PlainError(fmt::format("{}: {}", error.field, error.Message()));
    }
    if (const meta::Complaints wrong = meta::CheckLabelValue(value); !wrong.empty()) {
      const meta::FieldError error =
          meta::Invalid(fmt::format("[{}]", key), meta::Quoted(value), fmt::format("{}", fmt::join(wrong, "; ")));
      return PlainError(fmt::format("{}: {}", error.field, error.Message()));
    }
    selector[std::move(key)] = std::move(value);
  }
  return selector;
}

Selector SelectorOf(const meta::Object& pod) {
  Selector selector;
  for (const auto& label : ObjectAt(SpecOf(pod), "nodeSelector")) {
    if (label.value().is_string()) selector.emplace(label.key(), std::string_view(label.value().get_string()));
  }
  return selector;
}

bool Conflict(const Selector& a, const Selector& b) {
  for (const auto& [key, value] : a) {
    const auto found = b.find(key);
    if (found != b.end() && found->second != value) return true;
  }
  return false;
}

bool IsSubset(const Selector& selector, const Selector& allowed) {
  for (const auto& [key, value] : selector) {
    const auto found = allowed.find(key);
    if (found == allowed.end() || found->second != value) return false;
  }
  return true;
}

meta::ApiError Refuse(const Attributes& attributes, std::string_view why) {
  return meta::Forbidden(attributes.resource.GroupResource(), attributes.object->Name(), why);
}

class PodNodeSelector final : public Plugin {
 public:
  PodNodeSelector(ObjectsPtr objects, Selector configured)
      : objects_(std::move(objects)), configured_(std::move(configured)) {}

  bool Handles(Phase, const Attributes& attributes) const override {
    return attributes.operation == Operation::kCreate && IsPod(attributes);
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const Selector of_namespace, co_await NamespaceSelector(ctx, attributes));
    CO_RETURN_IF_ERROR(CheckConflict(attributes, of_namespace));
    if (!of_namespace.empty()) {
      json::object& selector = meta::MakeObject(SpecOf(*attributes.object), "nodeSelector");
      for (const auto& [key, value] : of_namespace) selector[key] = value;
    }
    co_return CheckAllowed(attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const Selector of_namespace, co_await NamespaceSelector(ctx, attributes));
    CO_RETURN_IF_ERROR(CheckConflict(attributes, of_namespace));
    co_return CheckAllowed(attributes);
  }

 private:
  static meta::Result<> CheckConflict(const Attributes& attributes, const Selector& of_namespace) {
    if (!Conflict(of_namespace, SelectorOf(*attributes.object))) return {};
    return Refuse(attributes, "pod node label selector conflicts with its namespace node label selector");
  }

  meta::Result<> CheckAllowed(const Attributes& attributes) const {
    ASSIGN_OR_RETURN(const Selector allowed, ParseSelector(Configured(attributes.ns)));
    if (allowed.empty() || IsSubset(SelectorOf(*attributes.object), allowed)) return {};
    return Refuse(attributes, "pod node label selector labels conflict with its namespace whitelist");
  }

  std::string_view Configured(std::string_view key) const {
    const auto found = configured_.find(key);
    return found == configured_.end() ? std::string_view() : std::string_view(found->second);
  }

  /// Returns the selector of the namespace's annotation, or the default of the cluster.
  Task<meta::Result<Selector>> NamespaceSelector(meta::RequestContext ctx, const Attributes& attributes) {
    if (!objects_) co_return meta::InternalError("namespaces cannot be read here");
    const meta::Gvr namespaces{"", "v1", "namespaces"};
    const meta::Result<ObjectPtr> found =
        co_await objects_->Get(ctx, namespaces, "", attributes.ns, Read::kCachedElseNewest);
    if (!found && found.error().Is(meta::Reason::kNotFound))
      co_return meta::InternalError(fmt::format("namespace {} does not exist", attributes.ns));
    if (!found) co_return meta::InternalError(found.error().Message());
    const json::string* annotation = (*found)->Annotation("scheduler.alpha.kubernetes.io/node-selector");
    co_return ParseSelector(annotation ? std::string_view(*annotation) : Configured("clusterDefaultNodeSelector"));
  }

  const ObjectsPtr objects_;
  const Selector configured_;  // selectors by namespace
};

/// Reads podNodeSelectorPluginConfig. As in kube-apiserver, a section that cannot be read counts as empty.
Selector ReadSelectors(const std::optional<std::string>& section) {
  Selector selectors;
  if (!section) return selectors;
  const meta::Result<json::value> parsed = codec::ParseYaml(*section, {});
  if (!parsed || !parsed->is_object()) return selectors;
  for (const auto& selector : ObjectAt(parsed->get_object(), "podNodeSelectorPluginConfig")) {
    if (selector.value().is_string())
      selectors.emplace(selector.key(), std::string_view(selector.value().get_string()));
  }
  return selectors;
}

}  // namespace

std::unique_ptr<Plugin> MakePodNodeSelector(const PluginInputs& inputs) {
  return std::make_unique<PodNodeSelector>(inputs.objects, ReadSelectors(inputs.section));
}

}  // namespace apimesh::admission
