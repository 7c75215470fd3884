#include "lib/endpoint/connect.h"

#include "lib/endpoint/encode.h"
#include "lib/endpoint/write.h"

namespace apimesh::endpoint {

Task<> ServeConnect(EnvironmentPtr env, ServedResourcePtr served, rpc::Request http, std::unique_ptr<rpc::ConnectStream> stream) {
  auto request = std::make_shared<ResourceRequest>(env, served, http);
  const auto handler = served->connect.find(http.info.subresource);
  if (handler == served->connect.end()) {
    rpc::Response response = co_await Serve(std::move(env), std::move(served), std::move(http));
    co_await stream->Answer(std::move(response));
    co_return;
  }
  admission::Attributes attributes = AttributesOf(*request, admission::Operation::kConnect, nullptr, nullptr, nullptr, false);
  meta::Result<> admitted = co_await served->admission->Mutate(request->ctx, attributes);
  if (admitted) admitted = co_await served->admission->Validate(request->ctx, attributes);
  if (!admitted) {
    co_await stream->Answer(ErrorResponse(*request, admitted.error()));
    co_return;
  }
  co_await handler->second(request->ctx, std::move(http), std::move(stream));
}

}  // namespace apimesh::endpoint
