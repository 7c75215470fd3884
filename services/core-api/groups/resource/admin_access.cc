#include "services/core-api/groups/resource/admin_access.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/meta/errors/api_error.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kLabel = "resource.kubernetes.io/admin-access";

/// Returns the path of the first request for admin access, or "". The specs of templates are one level deeper, but
/// kube-apiserver reports the same path.
std::string AdminAccessPath(const meta::Object& object) {
  const json::value* requests = meta::Find(object.Root(), "spec", "devices", "requests");
  if (!requests) requests = meta::Find(object.Root(), "spec", "spec", "devices", "requests");
  std::size_t index = 0;
  for (const json::object& request : Objects(requests)) {
    const json::value* admin = meta::Find(request, "exactly", "adminAccess");
    if (admin && admin->is_bool() && admin->get_bool())
      return fmt::format("spec.devices.requests[{}].adminAccess", index);
    ++index;
  }
  return "";
}

class AdminAccessCheck final : public registry::WriteChecks {
 public:
  AdminAccessCheck(meta::Gvk kind, storage::StorePtr namespaces)
      : kind_(std::move(kind)), namespaces_(std::move(namespaces)) {}

  Task<meta::Result<>> CheckCreate(meta::RequestContext ctx, const meta::Object& object) override {
    const std::string path = AdminAccessPath(object);
    if (path.empty()) co_return meta::Result<>();
    const meta::FieldErrors errors = co_await CheckAdminNamespace(ctx, namespaces_, path);
    if (errors.empty()) co_return meta::Result<>();
    co_return meta::Invalid(kind_.GroupKind(), object.Name(), errors);
  }
  /// The specs of claims and templates cannot be changed.
  Task<meta::Result<>> CheckUpdate(meta::RequestContext, const meta::Object&, const meta::Object&) override {
    co_return meta::Result<>();
  }

 private:
  const meta::Gvk kind_;
  const storage::StorePtr namespaces_;
};

}  // namespace

std::string GrantedAdminAccess(const meta::Object& claim) {
  std::size_t index = 0;
  for (const json::object& result : Objects(meta::Find(claim.Root(), "status", "allocation", "devices", "results"))) {
    const json::value* admin = meta::FindField(result, "adminAccess");
    if (admin && admin->is_bool() && admin->get_bool())
      return fmt::format("status.allocation.devices.results[{}].adminAccess", index);
    ++index;
  }
  return "";
}

Task<meta::FieldErrors> CheckAdminNamespace(meta::RequestContext ctx, storage::StorePtr namespaces, std::string path) {
  meta::FieldErrors errors;
  const storage::Key key{ctx.Info().ns};
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> entry = co_await namespaces->Get(ctx, key, newest);
  if (!entry) {
    meta::FieldError error = meta::Forbidden(path, "");
    error.type = meta::FieldError::Type::kInternal;
    error.detail = fmt::format("could not retrieve namespace to verify admin access: {}", entry.error().Message());
    errors.push_back(std::move(error));
    co_return errors;
  }
  const meta::Result<json::value> value = codec::ParseJson((*entry)->JsonText(), meta::NewArena());
  if (value && value->is_object() && meta::FindString(value->get_object(), "metadata", "labels", kLabel) == "true")
    co_return errors;
  errors.push_back(meta::Forbidden(
      path, fmt::format("admin access to devices requires the `{}: true` label on the containing namespace", kLabel)));
  co_return errors;
}

std::shared_ptr<registry::WriteChecks> MakeAdminAccessCheck(meta::Gvk kind, storage::StorePtr namespaces) {
  return std::make_shared<AdminAccessCheck>(std::move(kind), std::move(namespaces));
}

}  // namespace apimesh::core_api
