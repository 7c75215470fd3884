#include "lib/admission/webhooks/review.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/codec/codec.h"

namespace apimesh::admission::webhooks {
namespace {

std::string_view ApiVersionOf(ReviewVersion version) {
  return version == ReviewVersion::kV1 ? "admission.k8s.io/v1" : "admission.k8s.io/v1beta1";
}

void AppendString(std::string& out, std::string_view key, std::string_view value) {
  codec::AppendJson(out, json::value(key));
  out += ':';
  codec::AppendJson(out, json::value(value));
}

/// Appends "key":{"group":…,"version":…,"kind":…}.
void AppendType(std::string& out, std::string_view key, const meta::GroupVersion& version, std::string_view last_key,
                std::string_view last) {
  out += fmt::format("\"{}\":{{", key);
  AppendString(out, "group", version.group);
  out += ',';
  AppendString(out, "version", version.version);
  out += ',';
  AppendString(out, last_key, last);
  out += "},";
}

json::object UserJson(const meta::UserInfo& user) {
  json::object made;
  if (!user.name.empty()) made["username"] = user.name;
  if (!user.uid.empty()) made["uid"] = user.uid;
  if (!user.groups.empty()) made["groups"] = json::array(user.groups.begin(), user.groups.end());
  if (!user.extra.empty()) {
    json::object& extra = made["extra"].emplace_object();
    for (const auto& [key, values] : user.extra) extra[key] = json::array(values.begin(), values.end());
  }
  return made;
}

}  // namespace

void throw_exception_from_error(const ReviewError& error, const boost::source_location&) {
  throw std::logic_error("value() on an error: " + error.message);
}

std::optional<ReviewVersion> ChooseVersion(const json::array& accepted) {
  for (const json::value& version : accepted) {
    if (version == "v1") return ReviewVersion::kV1;
    if (version == "v1beta1") return ReviewVersion::kV1beta1;
  }
  return std::nullopt;
}

std::string WriteReview(const ReviewRequest& request, const Attributes& attributes, const meta::UserInfo& user) {
  std::string out;
  out.reserve(1024 + request.object.size() + request.old_object.size());
  out += fmt::format(R"({{"kind":"AdmissionReview","apiVersion":"{}","request":{{"uid":"{}",)",
                     ApiVersionOf(request.version), request.uid);
  const auto append_optional = [&out](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    AppendString(out, key, value);
    out += ',';
  };
  AppendType(out, "kind", request.match.kind.Version(), "kind", request.match.kind.kind);
  AppendType(out, "resource", request.match.resource.Version(), "resource", request.match.resource.resource);
  append_optional("subResource", attributes.subresource);
  AppendType(out, "requestKind", attributes.kind.Version(), "kind", attributes.kind.kind);
  AppendType(out, "requestResource", attributes.resource.Version(), "resource", attributes.resource.resource);
  append_optional("requestSubResource", attributes.subresource);
  append_optional("name", attributes.RequestName());
  append_optional("namespace", attributes.ns);
  append_optional("operation", ToString(attributes.operation));
  out += fmt::format(R"("userInfo":{},"object":{},"oldObject":{},"dryRun":{},"options":{}}}}})",
                     codec::WriteJson(UserJson(user)), request.object, request.old_object, attributes.dry_run,
                     attributes.options ? codec::WriteJson(*attributes.options) : "null");
  out += '\n';
  return out;
}

meta::ApiError RejectionOf(std::string_view webhook, const std::optional<json::object>& result) {
  json::object status = result ? *result : json::object();
  const std::string denied = fmt::format("admission webhook {} denied the request", meta::Quoted(webhook));
  const std::string_view message = meta::FindString(status, "message"), reason = meta::FindString(status, "reason");
  std::string text = fmt::format("{} without explanation", denied);
  if (!message.empty() || !reason.empty()) text = fmt::format("{}: {}", denied, message.empty() ? reason : message);
  status["message"] = text;
  const std::int64_t code = NumberAt(status, "code").value_or(0);
  if (code < 400) status["code"] = 400;
  if (code > 999) status["code"] = 500;  // a status line has three digits
  const std::string_view outcome = meta::FindString(status, "status");
  if (outcome.empty() || outcome == "Success") status["status"] = "Failure";
  return meta::FromStatus(status);
}

}  // namespace apimesh::admission::webhooks
