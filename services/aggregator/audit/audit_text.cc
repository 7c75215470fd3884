#include "services/aggregator/audit/audit_text.h"

#include "lib/meta/errors/field_error.h"
#include "lib/meta/time.h"

namespace apimesh::aggregator {
namespace {

using meta::Quoted;

std::string QuotedList(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ",") + Quoted(item);
  return text;
}

/// RFC 3339 without trailing zeros of the fraction.
std::string TimeText(WallTime time) {
  std::string text = meta::FormatMicroTime(time);
  text.pop_back();  // Z
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text + "Z";
}

}  // namespace

std::string AuditText(const Exchange& exchange, const meta::UserInfo& user, const std::vector<std::string>& addresses,
                      AuditStage stage) {
  const bool named = !user.name.empty();
  const meta::UserInfo* const as = exchange.impersonator ? &exchange.user->info : nullptr;
  std::string response = "<deferred>";
  if (stage == AuditStage::kPanic) response = "500";
  if (stage == AuditStage::kResponseStarted || stage == AuditStage::kResponseComplete) {
    response = std::to_string(exchange.reply.Code() == 0 ? 200 : exchange.reply.Code());
  }
  constexpr std::size_t kLongestAgent = 1024;
  std::string agent(exchange.request.Header("user-agent"));
  if (agent.size() > kLongestAgent) agent = agent.substr(0, kLongestAgent) + "...TRUNCATED";
  return fmt::format(
      "{} AUDIT: id={} stage={} ip={} method={} user={} groups={} as={} asgroups={} user-agent={} namespace={} uri={} "
      "response=\"{}\"\n",
      TimeText(exchange.received), Quoted(exchange.audit_id), Quoted(ToString(stage)),
      Quoted(addresses.empty() ? "<unknown>" : addresses[0]), Quoted(exchange.info.verb.Text()),
      Quoted(named ? user.name : "<none>"), Quoted(named && !user.groups.empty() ? QuotedList(user.groups) : "<none>"),
      Quoted(as ? as->name : "<self>"), Quoted(as && !as->groups.empty() ? QuotedList(as->groups) : "<lookup>"),
      Quoted(agent), Quoted(exchange.info.ns.empty() ? "<none>" : exchange.info.ns), Quoted(exchange.request.target),
      response);
}

}  // namespace apimesh::aggregator
