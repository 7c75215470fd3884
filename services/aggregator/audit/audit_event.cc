#include "lib/meta/time.h"
#include "services/aggregator/audit/audit_log.h"

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

// An object that is no JSON (YAML, protobuf) is left out: the log has lines of JSON only.
void AddObject(json::object& event, std::string_view key, const std::string& text) {
  boost::system::error_code error;
  json::value parsed = json::parse(text, error);
  if (!error && parsed.is_object()) event[key] = std::move(parsed);
}

json::object ResponseStatus(const Exchange& exchange, const json::object& event) {
  json::object status;
  status["metadata"].emplace_object();
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
  AddIfSet(event, "userAgent", std::string(exchange.request.Header("user-agent")));
  if (exchange.info.is_resource_request) event["objectRef"] = ObjectRef(exchange.info);
  if (stage != AuditStage::kRequestReceived) {
    if (level >= AuditLevel::kRequest) AddObject(event, "requestObject", request_body);
    std::string answer;
    for (const SharedBytes& piece : exchange.reply.Body()) answer += piece.View();
    if (level == AuditLevel::kRequestResponse || exchange.reply.Code() >= 400) AddObject(event, "responseObject", answer);
    json::object status = ResponseStatus(exchange, event);
    if (level != AuditLevel::kRequestResponse) event.erase("responseObject");
    event["responseStatus"] = std::move(status);
  }
  event["requestReceivedTimestamp"] = meta::FormatMicroTime(exchange.received);
  event["stageTimestamp"] = meta::FormatMicroTime(now);
  if (!exchange.audit_annotations.empty()) event["annotations"] = json::value_from(exchange.audit_annotations);
  return json::serialize(event);
}

}  // namespace apimesh::aggregator
