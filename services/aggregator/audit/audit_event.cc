#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "services/aggregator/audit/audit_log.h"
#include "services/aggregator/audit/audit_object.h"

namespace apimesh::aggregator {
namespace {

namespace json = boost::json;

void AddIfSet(json::object& object, std::string_view key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

json::object UserObject(const meta::UserInfo& user) {
  json::object object;
  AddIfSet(object, "username", user.name);
  AddIfSet(object, "uid", user.uid);
  if (!user.groups.empty()) object["groups"] = json::value_from(user.groups);
  if (!user.extra.empty()) object["extra"] = json::value_from(user.extra);
  return object;
}

json::object ObjectRef(const meta::RequestInfo& info) {
  json::object object;
  AddIfSet(object, "resource", info.resource);
  AddIfSet(object, "namespace", info.ns);
  AddIfSet(object, "name", info.name);
  AddIfSet(object, "apiGroup", info.api_group);
  AddIfSet(object, "apiVersion", info.api_version);
  AddIfSet(object, "subresource", info.subresource);
  return object;
}

void AddObject(json::object& event, std::string_view key, std::string_view body, std::string_view content_type) {
  if (auto object = AuditObject(body, content_type)) event[key] = std::move(*object);
}

// As the reference does it: an object that is written in full names itself, where the path does not.
void NameObject(json::object& event) {
  const json::value* const object = event.if_contains("requestObject");
  if (!object || !object->is_object()) return;
  const json::value* const metadata = object->get_object().if_contains("metadata");
  if (!metadata || !metadata->is_object()) return;
  json::value& reference = event["objectRef"];
  if (!reference.is_object()) reference.emplace_object();
  for (const char* key : {"namespace", "name", "uid", "resourceVersion"}) {
    const json::value* const value = metadata->get_object().if_contains(key);
    const bool given = value && value->is_string() && !value->get_string().empty();
    if (given && !reference.get_object().contains(key)) reference.get_object()[key] = *value;
  }
}

std::string UserAgent(const Exchange& exchange) {
  constexpr std::size_t kLongest = 1024;
  std::string text(exchange.request.Header("user-agent"));
  if (text.size() <= kLongest) return text;
  text.resize(kLongest);
  return text + "...TRUNCATED";
}

json::object ResponseStatus(const Exchange& exchange, AuditStage stage, const json::object& event) {
  json::object status;
  status["metadata"].emplace_object();
  if (stage == AuditStage::kPanic) {  // the answer is yet to come
    status["status"] = "Failure";
    status["message"] = "APIServer panic'd";
    status["reason"] = "InternalError";
    status["code"] = 500;
    return status;
  }
  if (const json::value* answer = event.if_contains("responseObject"); answer && answer->is_object()) {
    const json::object& object = answer->get_object();
    if (object.contains("kind") && object.at("kind") == "Status") {
      for (const char* key : {"status", "message", "reason", "details"}) {
        if (const json::value* value = object.if_contains(key)) status[key] = *value;
      }
    }
  }
  status["code"] = exchange.reply.Code();
  return status;
}

std::string WithoutPort(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || (address.find(':') != colon && !address.starts_with('['))) return address;
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

std::string AuditEvent(const Exchange& exchange, const meta::UserInfo& user, AuditLevel level, AuditStage stage,
                       const std::string& request_body, WallTime now) {
  json::object event;
  event["kind"] = "Event";
  event["apiVersion"] = "audit.k8s.io/v1";
  event["level"] = ToString(level);
  event["auditID"] = exchange.audit_id;
  event["stage"] = ToString(stage);
  event["requestURI"] = exchange.request.target;
  event["verb"] = exchange.info.verb;
  event["user"] = UserObject(user);
  if (exchange.impersonator) event["impersonatedUser"] = UserObject(exchange.user->info);
  if (!exchange.impersonation_constraint.empty()) {
    event["authenticationMetadata"] = json::object{{"impersonationConstraint", exchange.impersonation_constraint}};
  }
  event["sourceIPs"] = json::array{json::string(WithoutPort(exchange.source_address))};
  AddIfSet(event, "userAgent", UserAgent(exchange));
  if (exchange.info.is_resource_request) event["objectRef"] = ObjectRef(exchange.info);
  if (stage != AuditStage::kRequestReceived) {
    if (level >= AuditLevel::kRequest) {
      AddObject(event, "requestObject", request_body, exchange.request.Header("content-type"));
    }
    if (exchange.request.method != "PATCH") NameObject(event);
    std::string answer;
    for (const SharedBytes& piece : exchange.reply.Body()) answer += piece.View();
    if (level == AuditLevel::kRequestResponse || exchange.reply.Code() >= 400) {
      AddObject(event, "responseObject", answer, exchange.request.Header("accept"));
    }
    json::object status = ResponseStatus(exchange, stage, event);
    if (level != AuditLevel::kRequestResponse) event.erase("responseObject");
    event["responseStatus"] = std::move(status);
  }
  event["requestReceivedTimestamp"] = meta::FormatMicroTime(exchange.received);
  event["stageTimestamp"] = meta::FormatMicroTime(now);
  if (!exchange.audit_annotations.empty()) event["annotations"] = json::value_from(exchange.audit_annotations);
  return codec::WriteJson(json::value(std::move(event)));
}

}  // namespace apimesh::aggregator
