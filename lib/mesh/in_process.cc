#include "lib/mesh/in_process.h"

namespace apimesh::mesh {
namespace {

class InProcessClient final : public DelegateClient {
 public:
  explicit InProcessClient(std::shared_ptr<DelegateHandler> handler) : handler_(std::move(handler)) {}
  Task<Response> Call(Request&& request) override { return handler_->Call(std::move(request)); }
  Task<> Stream(Request request, ResponseStream& stream) override {
    return handler_->Stream(std::move(request), stream);
  }
  Task<Connection> Connect(Request request) override {
    Connection connection;
    connection.head = co_await handler_->Call(std::move(request));
    co_return connection;
  }
  std::shared_ptr<void> Describe(std::function<void(std::optional<Description>)> changed) override {
    return handler_->Describe(
        [changed = std::move(changed)](Description description) { changed(std::move(description)); });
  }

 private:
  const std::shared_ptr<DelegateHandler> handler_;
};

}  // namespace

std::shared_ptr<DelegateClient> InProcess(std::shared_ptr<DelegateHandler> handler) {
  return std::make_shared<InProcessClient>(std::move(handler));
}

}  // namespace apimesh::mesh
