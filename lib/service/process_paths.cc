#include "lib/service/process_paths.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/service/chain.h"
#include "lib/service/diagnostics/process_diagnostics.h"

namespace apimesh::service {
namespace {

class PathsFirst final : public mesh::DelegateHandler {
 public:
  PathsFirst(ProcessPaths paths, std::shared_ptr<mesh::DelegateHandler> handler)
      : paths_(paths), handler_(std::move(handler)) {}

  Task<mesh::Response> Call(mesh::Request&& request) override {
    if (auto answer = paths_.Answer(request.path, request.query)) return AtOnce(std::move(*answer));
    if (IsDiagnosis(request)) return AnswerDiagnosis(std::move(request));
    return handler_->Call(std::move(request));
  }
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override {
    return handler_->Stream(std::move(request), stream);
  }
  Task<> Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) override {
    return handler_->Connect(std::move(request), std::move(stream));
  }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override {
    return handler_->Describe(std::move(changed));
  }

 private:
  static Task<mesh::Response> AtOnce(mesh::Response response) { co_return response; }

  const ProcessPaths paths_;
  const std::shared_ptr<mesh::DelegateHandler> handler_;
};

Task<> AnswerHttp(ProcessPaths paths, http::Request request, http::ResponseWriter& writer) {
  const std::string_view target = request.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  auto answer = paths.Answer(target.substr(0, mark), target.substr(std::min(target.size(), mark + 1)));
  mesh::Response response = answer ? std::move(*answer) : PlainNotFound();
  co_await writer.Send(response.code, std::move(response.headers), std::move(response.body));
}

}  // namespace

std::optional<mesh::Response> ProcessPaths::Answer(std::string_view path, std::string_view query) const {
  if (path == "/metrics") {
    mesh::Response response;
    response.headers.emplace_back("content-type", "text/plain; version=0.0.4; charset=utf-8");
    response.body.emplace_back(metrics->Text());
    return response;
  }
  return health->Answer(path, query);
}

std::shared_ptr<mesh::DelegateHandler> WithProcessPaths(ProcessPaths paths,
                                                        std::shared_ptr<mesh::DelegateHandler> handler) {
  return std::make_shared<PathsFirst>(paths, std::move(handler));
}

std::unique_ptr<http::Server> ServeProcessPaths(ProcessPaths paths, const std::string& address, const Clock& clock) {
  http::ServerOptions options{.clock = clock};
  options.tls = false;
  options.address = address;
  if (!address.starts_with("unix:")) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos)
      throw std::runtime_error(fmt::format("--health-address: no port in \"{}\"", address));
    options.address = address.substr(0, colon);
    options.port = std::atoi(address.c_str() + colon + 1);
  }
  auto handler = [paths](http::Request request, http::ResponseWriter& writer) {
    return AnswerHttp(paths, std::move(request), writer);
  };
  return http::Listen(std::move(options), std::move(handler));
}

}  // namespace apimesh::service
