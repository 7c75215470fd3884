#include "lib/endpoint/large_requests.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace apimesh::endpoint {
namespace {

constexpr std::size_t kLargeBytes = 64 * 1024;

/// Whether the verb reads the stored object to make a new one of it.
bool Rewrites(const ResourceRequest& request) {
  const std::string& verb = request.Info().verb;
  return request.served->store && !request.Name().empty() && (verb == "patch" || verb == "update" || verb == "delete");
}

Task<bool> IsLarge(RequestPtr request) {
  if (request->http.body.size() > kLargeBytes) co_return true;
  if (!Rewrites(*request)) co_return false;
  const meta::Result<storage::Key> key = request->KeyOf(request->Name());
  if (!key) co_return false;
  const storage::GetOptions cached{.resource_version = "0"};
  const meta::Result<storage::EntryPtr> entry = co_await request->served->store->Get(request->ctx, *key, cached);
  co_return entry && (*entry)->JsonText().size() > kLargeBytes;
}

Task<Answer> RunLarge(Verb verb, RequestPtr request) {
  // As on the thread that the request came from: operations that are cancelled return errors, so that verbs can clean up.
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  if (request->ctx.Abandoned()) co_return AbandonedError();
  co_return co_await verb(request);
}

}  // namespace

Task<Answer> RunVerb(Verb verb, RequestPtr request) {
  const boost::asio::any_io_executor& executor = request->env->large_requests;
  if (executor) {
    const bool large = co_await IsLarge(request);
    if (large) {
      Task<Answer> work = RunLarge(verb, request);
      co_return co_await boost::asio::co_spawn(executor, std::move(work), boost::asio::use_awaitable);
    }
  }
  co_return co_await verb(request);
}

meta::ApiError AbandonedError() { return meta::Timeout("request did not complete within the allotted timeout", 0); }

}  // namespace apimesh::endpoint
