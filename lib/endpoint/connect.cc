#include "lib/endpoint/connect.h"

#include "lib/endpoint/encode.h"
#include "lib/endpoint/write.h"

namespace apimesh::endpoint {
namespace {

Task<meta::Result<>> Admit(RequestPtr request) {
  if (ConnectorOf(*request)->OnlyReads()) co_return meta::Result<>();
  admission::Attributes attributes = AttributesOf(*request, admission::Operation::kConnect, nullptr, nullptr, nullptr, false);
  CO_RETURN_IF_ERROR(co_await request->served->admission->Mutate(request->ctx, attributes));
  co_return co_await request->served->admission->Validate(request->ctx, attributes);
}

}  // namespace

Task<> ServeForward(RequestPtr request, rpc::ResponseStream& stream) {
  meta::Result<> done = co_await Admit(request);
  if (done) {
    rpc::Request whole = request->Whole();
    done = co_await ConnectorOf(*request)->Forward(request->ctx, std::move(whole), stream);
  }
  if (done) co_return;
  rpc::Response response = ErrorResponse(*request, done.error());
  co_await stream.WriteWhole(std::move(response));
}

Task<> ServeConnect(std::shared_ptr<ResourceRequest> request, std::unique_ptr<rpc::ConnectStream> stream) {
  if (!ConnectorOf(*request)) {
    rpc::Response response = co_await Serve(request);
    co_await stream->Answer(std::move(response));
    co_return;
  }
  meta::Result<> done = co_await Admit(request);
  if (done) {
    rpc::Request whole = request->Whole();
    done = co_await ConnectorOf(*request)->Upgrade(request->ctx, std::move(whole), *stream);
  }
  if (!done) co_await stream->Answer(ErrorResponse(*request, done.error()));
}

}  // namespace apimesh::endpoint
