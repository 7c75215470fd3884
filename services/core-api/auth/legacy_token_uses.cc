#include "services/core-api/auth/legacy_token_uses.h"

#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/methods.h"
#include "lib/meta/time.h"
#include "proto/mesh/v1/legacy_tokens.pb.h"

namespace apimesh::core_api {
namespace {

namespace pb = mesh::v1;

constexpr std::string_view kLastUsed = "kubernetes.io/legacy-token-last-used";
constexpr std::string_view kTokenType = "kubernetes.io/service-account-token";
constexpr int kAttempts = 3;  // another client may write the Secret at the same time

/// Names come from the token, whose signature is valid, but must not be able to change the path.
bool IsPlain(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/%?#") == std::string_view::npos;
}

Task<pb::RecordUseResponse> Record(OwnApi api, pb::RecordUseRequest request, const Clock* clock) {
  LegacyTokenUse use{request.namespace_(), request.secret(), request.uid()};
  pb::RecordUseResponse response;
  response.set_recorded(co_await RecordLegacyTokenUse(std::move(api), std::move(use), *clock));
  co_return response;
}

}  // namespace

Task<bool> RecordLegacyTokenUse(OwnApi api, LegacyTokenUse use, const Clock& clock) {
  if (!IsPlain(use.ns) || !IsPlain(use.secret)) co_return true;
  const std::string path = fmt::format("/api/v1/namespaces/{}/secrets/{}", use.ns, use.secret);
  const std::string today = meta::FormatTime(clock.Now()).substr(0, 10);
  const std::string tomorrow = meta::FormatTime(clock.Now() + std::chrono::hours(24)).substr(0, 10);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    meta::Result<meta::Object> secret = co_await api.read(path);
    if (!secret) co_return secret.error().Is(meta::Reason::kNotFound);
    if (secret->Uid() != use.uid || meta::FindString(secret->Root(), "type") != kTokenType) co_return true;
    const std::string_view last = meta::FindString(secret->Metadata(), "labels", kLastUsed);
    if (last == today || last == tomorrow) co_return true;
    meta::MakeObject(secret->Metadata(), "labels")[kLastUsed] = today;
    const meta::Result<meta::Object> written = co_await api.send("PUT", path, codec::WriteJson(secret->Root()));
    if (written) co_return true;
    if (written.error().Is(meta::Reason::kConflict)) continue;
    log::Warning("the use of the token in secret {}/{} is not recorded: {}", use.ns, use.secret,
                 written.error().Message());
    break;
  }
  co_return false;
}

void AddLegacyTokenMethods(OwnApi api, const Clock& clock, grpc::Methods& methods) {
  methods.AddUnary(mesh::methods::kRecordUse, grpc::Typed<pb::RecordUseRequest, pb::RecordUseResponse>(
                                                  [api = std::move(api), clock = &clock](pb::RecordUseRequest request) {
                                                    return Record(api, std::move(request), clock);
                                                  }));
}

}  // namespace apimesh::core_api
