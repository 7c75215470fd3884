// Measures the cost of one Call with client and server in this process: delegate_bench [seconds] [calls in flight]
// [body bytes]
#include <filesystem>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <sys/resource.h>

#include "lib/mesh/delegate/delegate_server.h"
#include "lib/testing/system_clock.h"

namespace apimesh::mesh {
namespace {

class Fixed final : public DelegateHandler {
 public:
  explicit Fixed(std::size_t size) : body_(std::string(size, 'x')) {}
  Task<Response> Call(Request&&) override {
    Response response;
    response.headers.emplace_back("content-type", "application/json");
    response.body.push_back(body_);
    co_return response;
  }
  Task<> Stream(Request, ResponseStream&) override { co_return; }
  Task<> Connect(Request, std::unique_ptr<ConnectStream>) override { co_return; }
  std::shared_ptr<void> Describe(std::function<void(Description)>) override { return nullptr; }

 private:
  const SharedBytes body_;
};

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Task<> Loop(DelegateClient& client, std::atomic<std::uint64_t>& calls, std::atomic<bool>& stop) {
  while (!stop) {
    Request request;
    request.method = "GET";
    request.path = "/api/v1/namespaces/default/pods/one";
    request.headers = {{"accept", "application/json"}, {"user-agent", "kubectl/v1.36"}};
    request.user = {.name = "system:admin", .groups = {"system:masters", "system:authenticated"}};
    request.info = {.is_resource_request = true,
                    .verb = meta::Verb::kGet,
                    .api_prefix = "api",
                    .api_version = "v1",
                    .ns = "default",
                    .resource = "pods",
                    .name = "one",
                    .parts = {"pods", "one"}};
    request.audit_id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    request.deadline = testing::SystemClock().Steady() + std::chrono::seconds(60);
    const Response response = co_await client.Call(std::move(request));
    if (response.code != 200) std::abort();
    ++calls;
  }
}

int Main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 3;
  const int in_flight = argc > 2 ? std::atoi(argv[2]) : 8;
  const std::size_t body = argc > 3 ? std::atoi(argv[3]) : 6000;
  boost::asio::io_context io{1};
  auto work = boost::asio::make_work_guard(io);
  std::thread thread([&io] { io.run(); });
  const std::string socket = "unix:/tmp/apimesh-bench-" + std::to_string(::getpid()) + "/delegate.sock";
  auto server = ServeDelegate({{.address = socket}}, std::make_shared<Fixed>(body), {&io}, testing::SystemClock());
  auto client = NewDelegateClient({.target = socket}, io.get_executor(), testing::SystemClock());
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<bool> stop = false;
  for (int i = 0; i < in_flight; ++i) {
    boost::asio::co_spawn(io, Loop(*client, calls, stop), boost::asio::detached);
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const double cpu = CpuSeconds();
  const std::uint64_t before = calls;
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const std::uint64_t done = calls - before;
  std::printf("%d in flight, %zu bytes: %.1f us of CPU a call, %.0f calls/s\n", in_flight, body,
              (CpuSeconds() - cpu) * 1e6 / done, static_cast<double>(done) / seconds);
  stop = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  client.reset();
  server.reset();
  work.reset();
  thread.join();
  std::filesystem::remove_all(socket.substr(5, socket.rfind('/') - 5));
  return 0;
}

}  // namespace
}  // namespace apimesh::mesh

int main(int argc, char** argv) { return apimesh::mesh::Main(argc, argv); }
