#include "services/aggregator/audit/audit_event.h"

#include "lib/base/ip_address.h"
#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "services/aggregator/audit/audit_object.h"
#include "services/aggregator/audit/audit_text.h"

namespace apimesh::aggregator {
namespace {

namespace json = boost::json;

constexpr std::string_view kType = R"({"kind":"Event","apiVersion":"audit.k8s.io/v1",)";
constexpr std::string_view kTruncated = R"("audit.k8s.io/truncated":"true"})";

void AddIfSet(json::object& object, std::string_view key, std::string_view value) {
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

/// Returns the reference to the object. The path of the request comes first, then the object in its body.
json::object ObjectRef(const Exchange& exchange, bool received) {
  const meta::RequestInfo& info = exchange.info;
  json::value body;
  if (!received && !exchange.audit.reference.empty()) {
    boost::system::error_code error;
    body = json::parse(exchange.audit.reference, error);
  }
  const auto part = [&body](const std::string& in_path, const char* key) -> std::string_view {
    if (!in_path.empty() || !body.is_object()) return in_path;
    const json::value* value = body.get_object().if_contains(key);
    return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
  };
  json::object object;
  AddIfSet(object, "resource", info.resource);
  AddIfSet(object, "namespace", part(info.ns, "namespace"));
  AddIfSet(object, "name", part(info.name, "name"));
  AddIfSet(object, "uid", part("", "uid"));
  AddIfSet(object, "apiGroup", info.api_group);
  AddIfSet(object, "apiVersion", info.api_version);
  AddIfSet(object, "resourceVersion", part("", "resourceVersion"));
  AddIfSet(object, "subresource", info.subresource);
  return object;
}

std::string UserAgent(const Exchange& exchange) {
  constexpr std::size_t kLongest = 1024;
  std::string text(exchange.request.Header("user-agent"));
  if (text.size() <= kLongest) return text;
  text.resize(kLongest);
  return text + "...TRUNCATED";
}

json::object ResponseStatus(const Exchange& exchange, AuditStage stage, std::string_view panic) {
  json::object status;
  status["metadata"].emplace_object();
  if (stage == AuditStage::kPanic) {  // the response has not been sent yet
    status["status"] = "Failure";
    status["message"] = panic.empty() ? "APIServer panic'd" : fmt::format("APIServer panic'd: {}", panic);
    status["reason"] = meta::ToString(meta::Reason::kInternalError);
    status["code"] = 500;
    return status;
  }
  if (exchange.reply.Code() == 0) {  // the client has disconnected
    status["status"] = "Success";
    status["message"] = "Connection closed early";
    status["code"] = 200;
    return status;
  }
  if (const std::optional<json::object> answer = AuditedStatus(exchange.reply)) {
    for (const char* key : {"status", "message", "reason", "details"}) {
      if (const json::value* value = answer->if_contains(key)) status[key] = *value;
    }
  }
  status["code"] = exchange.reply.Code();
  return status;
}

/// Returns the annotations for events of this level. A patch of a webhook is part of the request, so it is omitted
/// where the request is.
std::string AnnotationsAt(AuditLevel level, const Exchange& exchange) {
  constexpr std::string_view kPatches = "patch.webhook.admission.k8s.io/";
  json::object annotations;
  for (const auto& [key, value] : exchange.audit.annotations) {
    if (level >= AuditLevel::kRequest || !key.starts_with(kPatches)) annotations.emplace(key, value);
  }
  return annotations.empty() ? "" : codec::WriteJson(annotations);
}

std::string WithoutPort(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || (address.find(':') != colon && !address.starts_with('['))) return address;
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

std::string Fields(const json::object& object) {
  const std::string text = codec::WriteJson(object);
  return text.substr(1, text.size() - 2);  // without the braces
}

}  // namespace

std::vector<std::string> SourceAddresses(const Exchange& exchange) {
  std::vector<std::string> all;
  const auto add = [&all](std::string_view text, bool once) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const std::optional<IpAddress> address = ParseIpWithLeadingZeros(text);
    if (!address) return;
    std::string canonical = ToText(*address);
    if (!once || std::find(all.begin(), all.end(), canonical) == all.end()) all.push_back(std::move(canonical));
  };
  for (std::string_view rest = exchange.forwarded_for; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    add(rest.substr(0, comma), false);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  add(exchange.request.Header("x-real-ip"), true);
  std::string own = WithoutPort(exchange.source_address);
  if (const std::optional<IpAddress> address = ParseIpWithLeadingZeros(own)) own = ToText(*address);
  if (!own.empty() && (all.empty() || all.back() != own)) all.push_back(std::move(own));
  return all;
}

AuditEventPtr EncodeAuditEvent(const Exchange& exchange, const meta::UserInfo& user,
                               const AuditPolicy::Decision& decision, AuditStage stage, WallTime now, bool with_text,
                               std::string_view panic) {
  const bool received = stage == AuditStage::kRequestReceived;
  auto event = std::make_shared<AuditEvent>();
  event->level = decision.level;
  const std::vector<std::string> addresses = SourceAddresses(exchange);
  json::object head;
  head["level"] = ToString(decision.level);
  head["auditID"] = exchange.audit_id;
  head["stage"] = ToString(stage);
  head["requestURI"] = exchange.request.target;
  head["verb"] = exchange.info.verb.Text();
  head["user"] = UserObject(user);
  if (exchange.impersonator) head["impersonatedUser"] = UserObject(exchange.user->info);
  if (!exchange.impersonation_constraint.empty()) {
    head["authenticationMetadata"] = json::object{{"impersonationConstraint", exchange.impersonation_constraint}};
  }
  if (!addresses.empty()) head["sourceIPs"] = json::value_from(addresses);
  AddIfSet(head, "userAgent", UserAgent(exchange));
  if (exchange.info.is_resource_request || !exchange.audit.reference.empty()) {
    head["objectRef"] = ObjectRef(exchange, received);
  }
  if (!received) head["responseStatus"] = ResponseStatus(exchange, stage, panic);
  event->head = Fields(head);
  if (!received && decision.level >= AuditLevel::kRequest) {
    event->request = AuditedRequest(exchange, decision.omits_managed_fields);
  }
  if (!received && decision.level >= AuditLevel::kRequestResponse && stage != AuditStage::kPanic) {
    event->response = AuditedResponse(exchange, decision.omits_managed_fields);
  }
  // As in kube-apiserver, the first stage has the time of the request.
  event->times =
      fmt::format(R"("requestReceivedTimestamp":"{}","stageTimestamp":"{}")", meta::FormatMicroTime(exchange.received),
                  meta::FormatMicroTime(received ? exchange.received : now));
  event->annotations = AnnotationsAt(decision.level, exchange);
  if (with_text) event->text = AuditText(exchange, user, addresses, stage);
  return event;
}

void AuditEvent::AddFields(std::vector<std::string_view>& pieces) const {
  const auto add_object = [&pieces](std::string_view key, const std::vector<SharedBytes>& object) {
    if (object.empty()) return;
    pieces.push_back(key);
    for (const SharedBytes& piece : object) pieces.push_back(piece.View());
  };
  pieces.push_back(head);
  add_object(R"(,"requestObject":)", request);
  add_object(R"(,"responseObject":)", response);
  pieces.push_back(",");
  pieces.push_back(times);
  if (!annotations.empty()) {
    pieces.push_back(R"(,"annotations":)");
    pieces.push_back(annotations);
  }
}

std::vector<std::string_view> AuditEvent::Line() const {
  std::vector<std::string_view> pieces;
  pieces.reserve(10 + request.size() + response.size());
  pieces.push_back(kType);
  AddFields(pieces);
  pieces.push_back("}\n");
  return pieces;
}

std::size_t AuditEvent::LineBytes() const {
  std::size_t bytes = 0;
  for (const std::string_view piece : Line()) bytes += piece.size();
  return bytes;
}

void AuditEvent::AppendItem(std::string& out) const {
  std::vector<std::string_view> pieces;
  AddFields(pieces);
  out += '{';
  for (const std::string_view piece : pieces) out += piece;
  out += '}';
}

AuditEvent AuditEvent::Truncated() const {
  AuditEvent event;
  event.level = level;
  event.head = head;
  event.times = times;
  event.text = text;
  event.annotations = annotations.empty() ? "{" : annotations.substr(0, annotations.size() - 1) + ",";
  event.annotations += kTruncated;
  return event;
}

}  // namespace apimesh::aggregator
