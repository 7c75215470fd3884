#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "services/aggregator/audit/audit_policy.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// An encoded audit.k8s.io/v1 Event. The request and the response refer to the bytes that were received and sent; they
/// are not copied before the event is written. All backends share one event.
struct AuditEvent {
  AuditLevel level = AuditLevel::kNone;
  std::string head;                            // `"level":…` to `"responseStatus":…`
  std::vector<SharedBytes> request, response;  // JSON; empty if they are not recorded
  std::string times;                           // `"requestReceivedTimestamp":…,"stageTimestamp":…`
  std::string annotations;                     // a JSON object, or ""
  std::string text;                            // the event in the format "legacy", if a backend wants it

  /// The event as a line of JSON, in pieces that refer to this event.
  std::vector<std::string_view> Line() const;
  std::size_t LineBytes() const;
  /// Appends the event as an element of an EventList.
  void AppendItem(std::string& out) const;
  /// Returns a copy without request and response, with the annotation that reports it.
  AuditEvent Truncated() const;

 private:
  void AddFields(std::vector<std::string_view>& pieces) const;
};
using AuditEventPtr = std::shared_ptr<const AuditEvent>;

/// Encodes the event of a stage of a request. `user` is the authenticated user. `panic` is the error of the handler,
/// for AuditStage::kPanic.
AuditEventPtr EncodeAuditEvent(const Exchange& exchange, const meta::UserInfo& user,
                               const AuditPolicy::Decision& decision, AuditStage stage, WallTime now, bool with_text,
                               std::string_view panic = {});

/// Returns the addresses of the client and of the proxies before it, as kube-apiserver determines them: those of
/// X-Forwarded-For, that of X-Real-Ip, and that of the connection. Only the last one is verified.
std::vector<std::string> SourceAddresses(const Exchange& exchange);

}  // namespace apimesh::aggregator
