#include "lib/endpoint/verbs/connect.h"

#include "lib/endpoint/connect_options.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/write/write.h"

namespace apimesh::endpoint {
namespace {

Task<meta::Result<>> Admit(RequestPtr request) {
  if (ConnectorOf(*request)->OnlyReads()) co_return meta::Result<>();
  ASSIGN_OR_CO_RETURN(meta::Object options, ConnectOptions(*request));
  admission::Attributes attributes =
      AttributesOf(*request, admission::Operation::kConnect, &options, nullptr, nullptr, false);
  CO_RETURN_IF_ERROR(co_await request->served->admission->Mutate(request->ctx, attributes));
  co_return co_await request->served->admission->Validate(request->ctx, attributes);
}

/// Adds the warnings and audit annotations of admission to the head of a response that a connector sends.
class HeadStream final : public mesh::ResponseStream {
 public:
  HeadStream(const meta::RequestContext& ctx, mesh::ResponseStream& stream) : ctx_(ctx), stream_(stream) {}
  Task<bool> WriteHead(int code, mesh::Headers headers) override {
    AddAdmissionHeaders(ctx_, headers);
    return stream_.WriteHead(code, std::move(headers));
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return stream_.Write(std::move(pieces)); }
  std::size_t PieceBytes() const override { return stream_.PieceBytes(); }
  Task<bool> WriteComplete(mesh::Response response) override {
    AddAdmissionHeaders(ctx_, response.headers);
    return stream_.WriteComplete(std::move(response));
  }
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, mesh::ResumePosition position) override {
    return stream_.WriteEvents(std::move(pieces), position);
  }
  void OnCancel(std::function<void()> callback) override { stream_.OnCancel(std::move(callback)); }
  void Abort() override { stream_.Abort(); }

 private:
  const meta::RequestContext& ctx_;
  mesh::ResponseStream& stream_;
};

/// The same for an upgraded connection.
class HeadConnection final : public mesh::ConnectStream {
 public:
  HeadConnection(const meta::RequestContext& ctx, mesh::ConnectStream& stream) : ctx_(ctx), stream_(stream) {}
  Task<bool> Answer(mesh::Response head) override {
    AddAdmissionHeaders(ctx_, head.headers);
    return stream_.Answer(std::move(head));
  }
  Task<meta::Result<std::string>> Read() override { return stream_.Read(); }
  Task<bool> Write(std::string data) override { return stream_.Write(std::move(data)); }
  void Close() override { stream_.Close(); }

 private:
  const meta::RequestContext& ctx_;
  mesh::ConnectStream& stream_;
};

mesh::Response RefusalOf(const ResourceRequest& request, const meta::ApiError& error) {
  mesh::Response response = ErrorResponse(request, error);  // adds the warnings
  AddAuditAnnotations(request.ctx, response.headers);
  return response;
}

}  // namespace

Task<> ServeForward(RequestPtr request, mesh::ResponseStream& stream) {
  meta::Result<> done = co_await Admit(request);
  if (done) {
    mesh::Request forwarded = request->ForForwarding();
    HeadStream head(request->ctx, stream);
    done = co_await ConnectorOf(*request)->Forward(request->ctx, std::move(forwarded), head);
  }
  if (done) co_return;
  mesh::Response response = RefusalOf(*request, done.error());
  co_await stream.WriteComplete(std::move(response));
}

Task<> ServeConnect(std::shared_ptr<ResourceRequest> request, std::unique_ptr<mesh::ConnectStream> stream) {
  if (!ConnectorOf(*request)) {
    mesh::Response response = co_await Serve(request);
    co_await stream->Answer(std::move(response));
    co_return;
  }
  meta::Result<> done = co_await Admit(request);
  if (done) {
    mesh::Request forwarded = request->ForForwarding();
    HeadConnection head(request->ctx, *stream);
    done = co_await ConnectorOf(*request)->Upgrade(request->ctx, std::move(forwarded), head);
  }
  if (done) co_return;
  mesh::Response response = RefusalOf(*request, done.error());
  co_await stream->Answer(std::move(response));
}

}  // namespace apimesh::endpoint
