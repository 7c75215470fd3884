#include "lib/endpoint/large_requests.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "lib/rpc/large_body.h"

namespace apimesh::endpoint {
namespace {

/// Whether the verb makes a new object of the stored one, or removes it.
bool Rewrites(const ResourceRequest& request) {
  const std::string& verb = request.Info().verb;
  return request.served->store && !request.Name().empty() && (verb == "patch" || verb == "update" || verb == "delete");
}

Task<bool> HasLargeObject(RequestPtr request) {
  const meta::Result<storage::Key> key = request->KeyOf(request->Name());
  if (!key) co_return false;
  const storage::GetOptions cached{.resource_version = "0"};
  const meta::Result<storage::EntryPtr> entry = co_await request->served->store->Get(request->ctx, *key, cached);
  co_return entry && (*entry)->JsonText().size() > rpc::kLargeBodyBytes;
}

Task<Answer> RunLarge(Verb verb, RequestPtr request) {
  // As on the thread that the request came from: operations that are cancelled return errors, so that verbs can clean up.
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  if (request->ctx.Abandoned()) co_return AbandonedError();
  co_return co_await verb(request);
}

Task<Answer> MoveLarge(Verb verb, RequestPtr request) {
  Task<Answer> work = RunLarge(verb, request);
  co_return co_await boost::asio::co_spawn(request->env->large_requests, std::move(work), boost::asio::use_awaitable);
}

Task<Answer> RunRewrite(Verb verb, RequestPtr request) {
  const bool large = co_await HasLargeObject(request);
  if (large) co_return co_await MoveLarge(verb, request);
  co_return co_await verb(request);
}

}  // namespace

// Not a coroutine: what is small costs nothing more.
Task<Answer> RunVerb(Verb verb, RequestPtr request) {
  if (!request->env->large_requests) return verb(std::move(request));
  if (request->http.body.size() > rpc::kLargeBodyBytes) return MoveLarge(verb, std::move(request));
  if (Rewrites(*request)) return RunRewrite(verb, std::move(request));
  return verb(std::move(request));
}

meta::ApiError AbandonedError() { return meta::Timeout("request did not complete within the allotted timeout", 0); }

}  // namespace apimesh::endpoint
