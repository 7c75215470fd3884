#include "lib/endpoint/write/large_requests.h"

#include <boost/asio/this_coro.hpp>

#include "lib/base/async/run_on.h"
#include "lib/base/async/user_executors.h"
#include "lib/mesh/large_body.h"

namespace apimesh::endpoint {
namespace {

/// Returns whether the verb replaces or removes a stored object.
bool Rewrites(const ResourceRequest& request) {
  const meta::Verb verb = request.Info().verb;
  return request.served->store && !request.Name().empty() &&
         (verb == meta::Verb::kPatch || verb == meta::Verb::kUpdate || verb == meta::Verb::kDelete);
}

Task<bool> HasLargeObject(RequestPtr request) {
  const meta::Result<storage::Key> key = request->KeyOf(request->Name());
  if (!key) co_return false;
  const storage::GetOptions cached{.resource_version = "0"};
  const meta::RequestContext untraced = request->ctx.Within(nullptr);
  const meta::Result<storage::EntryPtr> entry = co_await request->served->store->Get(untraced, *key, cached);
  co_return entry && (*entry)->JsonText().size() > mesh::kLargeBodyBytes;
}

Task<Answer> RunLarge(VerbFunction verb, RequestPtr request) {
  // As on the thread that received the request, cancelled operations return errors, so that verbs can clean up.
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  CO_RETURN_IF_ERROR(request->CheckWanted());
  co_return co_await verb(request);
}

Task<Answer> MoveLarge(VerbFunction verb, RequestPtr request) {
  Task<Answer> work = RunLarge(verb, request);
  const boost::asio::any_io_executor& executor = ExecutorOfUser(request->env->large_requests, request->ctx.User().name);
  co_return co_await RunOn(executor, std::move(work));
}

Task<Answer> RunRewrite(VerbFunction verb, RequestPtr request) {
  const bool large = co_await HasLargeObject(request);
  if (large) co_return co_await MoveLarge(verb, request);
  co_return co_await verb(request);
}

}  // namespace

// This is not a coroutine, so that small requests do not allocate a coroutine frame.
Task<Answer> RunVerb(VerbFunction verb, RequestPtr request) {
  if (!request->env->large_requests) return verb(std::move(request));
  if (request->http.body.size() > mesh::kLargeBodyBytes) return MoveLarge(verb, std::move(request));
  if (Rewrites(*request)) return RunRewrite(verb, std::move(request));
  return verb(std::move(request));
}

}  // namespace apimesh::endpoint
