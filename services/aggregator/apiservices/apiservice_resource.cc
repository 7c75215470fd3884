#include "services/aggregator/apiservices/apiservice_resource.h"

#include <fmt/format.h>

#include "lib/base/clock.h"
#include "lib/meta/names.h"
#include "lib/meta/time.h"
#include "lib/registry/status_strategy.h"
#include "lib/schema/builtin.h"
#include "services/aggregator/extensions/endpoint.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

const json::object& Spec(const meta::Object& api_service) {
  static const json::object kNone;
  const json::value* spec = meta::FindField(api_service.Root(), "spec");
  return spec && spec->is_object() ? spec->get_object() : kNone;
}

std::int64_t NumberAt(const json::object& object, std::string_view field) {
  const json::value* found = meta::FindField(object, field);
  return found && found->is_int64() ? found->get_int64() : 0;
}

void ValidateService(const json::object& service, meta::FieldErrors& errors) {
  for (const char* field : {"namespace", "name"}) {
    if (meta::FindString(service, field).empty())
      errors.push_back(meta::Required(fmt::format("spec.service.{}", field), ""));
  }
  const std::int64_t port = NumberAt(service, "port");
  if (port < 1 || port > 65535) {
    errors.push_back(meta::Invalid("spec.service.port", std::to_string(port),
                                   "port is not valid: must be between 1 and 65535, inclusive"));
  }
}

void ValidateEndpoint(const meta::Object& object, const std::string& endpoint, bool insecure, bool has_bundle,
                      meta::FieldErrors& errors) {
  const std::string field = fmt::format("metadata.annotations[{}]", kEndpointAnnotation);
  const auto add = [&](const std::string& why) { errors.push_back(meta::Invalid(field, meta::Quoted(endpoint), why)); };
  if (const std::string why = CheckEndpoint(endpoint); !why.empty()) add(why);
  if (IsExternal(object)) add("may not be set together with spec.service");
  if (meta::FindString(Spec(object), "group").empty()) add("may not be set for the group \"\"");
  if (IsSocket(endpoint) && has_bundle) add("a Unix socket has no certificate, so spec.caBundle may not be set");
  if (insecure) {
    errors.push_back(meta::Invalid("spec.insecureSkipTLSVerify", "true",
                                   "may not be true for a gRPC endpoint: its server gets the users of requests"));
  }
}

meta::FieldErrors ValidateApiService(const meta::Object& object) {
  meta::FieldErrors errors;
  const json::object& spec = Spec(object);
  const std::string group(meta::FindString(spec, "group")), version(meta::FindString(spec, "version"));
  const std::string name = version + "." + group;
  if (!object.Name().empty() && object.Name() != name) {
    errors.push_back(meta::Invalid("metadata.name", meta::Quoted(object.Name()),
                                   fmt::format("must be `spec.version+\".\"+spec.group`: {}", meta::Quoted(name))));
  }
  if (group.empty() && version != "v1") {
    errors.push_back(meta::Required("spec.group", "only v1 may have an empty group and it better be legacy kube"));
  }
  const auto check = [&errors](const char* field, const std::string& text, const meta::Complaints& complaints) {
    for (const std::string& complaint : complaints)
      errors.push_back(meta::Invalid(field, meta::Quoted(text), complaint));
  };
  if (!group.empty()) check("spec.group", group, meta::CheckDnsSubdomain(group));
  check("spec.version", version, meta::CheckDns1035Label(version));
  const auto within = [&](const char* field, std::int64_t most) {
    const std::int64_t number = NumberAt(spec, field);
    if (number > 0 && number <= most) return;
    errors.push_back(meta::Invalid(fmt::format("spec.{}", field), std::to_string(number),
                                   fmt::format("must be positive and less than {}", most)));
  };
  within("groupPriorityMinimum", 20000);
  within("versionPriority", 1000);
  const std::string_view bundle = meta::FindString(spec, "caBundle");
  const json::value* found = meta::FindField(spec, "insecureSkipTLSVerify");
  const bool insecure = found && *found == true;
  const std::string endpoint = EndpointOf(object);
  if (!endpoint.empty()) ValidateEndpoint(object, endpoint, insecure, !bundle.empty(), errors);
  if (IsExternal(object)) {
    ValidateService(meta::Find(spec, "service")->get_object(), errors);
    if (insecure && !bundle.empty()) {
      errors.push_back(meta::Invalid("spec.insecureSkipTLSVerify", "true", "may not be true if caBundle is present"));
    }
    return errors;
  }
  if (!endpoint.empty()) return errors;
  if (!bundle.empty()) {
    const std::size_t padding = bundle.ends_with("==") ? 2 : bundle.ends_with("=") ? 1 : 0;
    errors.push_back(meta::Invalid("spec.caBundle", fmt::format("\"{} bytes\"", bundle.size() / 4 * 3 - padding),
                                   "local APIServices may not have a caBundle"));
  }
  if (insecure) {
    errors.push_back(
        meta::Invalid("spec.insecureSkipTLSVerify", "true", "local APIServices may not have insecureSkipTLSVerify"));
  }
  return errors;
}

class ApiServiceStrategy final : public registry::SpecStrategy {
 public:
  explicit ApiServiceStrategy(const Clock& clock) : clock_(clock) {}

  void Default(json::object& root) const override {
    json::value* service = meta::Find(root, "spec", "service");
    if (service && service->is_object() && !meta::FindField(service->get_object(), "port"))
      service->get_object()["port"] = 443;
  }
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    SpecStrategy::PrepareForCreate(ctx, object);
    if (!IsLocal(object)) return;
    SetAvailable(object, "True", "Local", "Local APIServices are always available", clock_.Now());
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateApiService(object);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return ValidateApiService(object);
  }
  bool AllowUnconditionalUpdate() const override { return false; }

 private:
  const Clock& clock_;
};

class ApiServiceStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    meta::FieldErrors errors;
    const json::value* conditions = meta::Find(object.Root(), "status", "conditions");
    if (!conditions || !conditions->is_array()) return errors;
    for (std::size_t i = 0; i < conditions->get_array().size(); ++i) {
      const json::value& condition = conditions->get_array()[i];
      const std::string status(condition.is_object() ? meta::FindString(condition.get_object(), "status") : "");
      if (status == "True" || status == "False" || status == "Unknown") continue;
      errors.push_back(meta::NotSupported(fmt::format("status.conditions[{}].status", i), meta::Quoted(status),
                                          {"True", "False", "Unknown"}));
    }
    return errors;
  }
};

const json::object* AvailableCondition(const meta::Object& object) {
  const json::value* conditions = meta::Find(object.Root(), "status", "conditions");
  if (!conditions || !conditions->is_array()) return nullptr;
  for (const json::value& one : conditions->get_array()) {
    if (one.is_object() && meta::FindString(one.get_object(), "type") == "Available") return &one.get_object();
  }
  return nullptr;
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object* condition = AvailableCondition(object);
  std::string available(condition ? meta::FindString(*condition, "status") : "Unknown");
  if (condition && available != "True") available += fmt::format(" ({})", meta::FindString(*condition, "reason"));
  const std::string service = IsExternal(object)
                                  ? fmt::format("{}/{}", meta::FindString(Spec(object), "service", "namespace"),
                                                meta::FindString(Spec(object), "service", "name"))
                              : IsLocal(object) ? std::string("Local")
                                                : EndpointOf(object);
  return {json::string(object.Name()), json::string(service), json::string(available),
          json::string(ages.Of(meta::FindString(object.Metadata(), "creationTimestamp")))};
}

}  // namespace

bool IsExternal(const meta::Object& api_service) {
  const json::value* service = meta::FindField(Spec(api_service), "service");
  return service && service->is_object();
}

bool IsLocal(const meta::Object& api_service) { return !IsExternal(api_service) && EndpointOf(api_service).empty(); }

bool IsAvailable(const meta::Object& api_service) {
  const json::object* condition = AvailableCondition(api_service);
  return condition && meta::FindString(*condition, "status") == "True";
}

bool SetAvailable(meta::Object& api_service, std::string_view status, std::string_view reason, std::string_view message,
                  WallTime now) {
  const json::object* before = AvailableCondition(api_service);
  json::object made = {{"type", "Available"},
                       {"status", status},
                       {"lastTransitionTime", meta::FormatTime(now)},
                       {"reason", reason},
                       {"message", message}};
  if (before && meta::FindString(*before, "status") == status)
    made["lastTransitionTime"] = *meta::FindField(*before, "lastTransitionTime");
  if (before && *before == made) return false;
  json::value& conditions = meta::MakeObject(api_service.Root(), "status")["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  for (json::value& one : conditions.get_array()) {
    if (one.is_object() && meta::FindString(one.get_object(), "type") == "Available") {
      one = std::move(made);
      return true;
    }
  }
  conditions.get_array().push_back(std::move(made));
  return true;
}

registry::Resource ApiServiceResource(const Clock& clock) {
  registry::Resource resource;
  resource.gvk = resource.storage_gvk = {"apiregistration.k8s.io", "v1", "APIService"};
  resource.plural = "apiservices";
  resource.singular = "apiservice";
  resource.categories = {"api-extensions"};
  resource.scope = registry::Scope::kCluster;
  resource.verbs = meta::kStoredResourceVerbs;
  resource.schema = schema::Builtin().FindKind(resource.gvk);
  resource.strategy = std::make_shared<ApiServiceStrategy>(clock);
  resource.reset_fields = {"status"};
  resource.validate_name = meta::NameIsPathSegment;
  const registry::KeptMetadata& kept = registry::AllMetadata();
  registry::Subresource status = registry::MakeStatusSubresource(resource.strategy, kept);
  status.strategy = std::make_shared<ApiServiceStatusStrategy>(resource.strategy, kept);
  resource.subresources.push_back(std::move(status));
  resource.storage_prefix = "apiregistration.k8s.io/apiservices";
  resource.table = {
      {{.name = "Name", .format = "name", .description = "Version and group that it registers."},
       {.name = "Service", .description = "The service that serves it, or Local."},
       {.name = "Available", .description = "Whether it can be reached."},
       {.name = "Age", .description = "Time since it was registered."}},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "metadata.annotations", "spec.service", "status.conditions"}};
  return resource;
}

}  // namespace apimesh::aggregator
