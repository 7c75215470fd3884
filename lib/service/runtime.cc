#include "lib/service/runtime.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <future>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/strand.hpp>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/resident_memory.h"
#include "lib/mesh/delegate/delegate_server.h"
#include "lib/net/tls/record_buffer.h"
#include "lib/service/egress/egress.h"
#include "lib/service/process_paths.h"
#include "lib/service/tracing/tracing.h"
#include "lib/shared_memory/segment.h"

namespace apimesh::service {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// The maximum duration of a request, so a longer wait is pointless.
constexpr std::chrono::seconds kDrainLimit{60};

// Not 1, which means a bad configuration: the hook may succeed at the next start.
constexpr int kHookFailed = 2;

log::Level LevelOf(const std::string& name) {
  if (name == "debug") return log::Level::kDebug;
  if (name == "warning") return log::Level::kWarning;
  if (name == "error") return log::Level::kError;
  return log::Level::kInfo;
}

/// One user occupies at most one of them; see ExecutorOfUser().
constexpr int kLargeThreads = 2;

/// Fails if a line could not be written since the last call, for example because the disk is full. Every line is
/// flushed when it is written, and the stream remembers a failure.
std::string CheckLog() {
  if (std::ferror(stderr) == 0) return "";
  std::clearerr(stderr);
  return "lines of the log could not be written";
}

struct Hook {
  std::string name;
  std::function<Task<>()> run;
  std::function<void()> done;
};

}  // namespace

struct Runtime::Impl {
  Impl(std::string_view name, CommonFlags given_flags, const Clock& given_clock)
      : service(name), flags(std::move(given_flags)), clock(given_clock) {}

  void WaitForSignal() {
    signals.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (stopping.exchange(true)) std::_Exit(128 + signal);  // a second signal ends the process immediately
      log::Info("signal {}: stopping", signal);
      stop.set_value(0);
      WaitForSignal();
    });
  }
  void End(int code) {
    if (!stopping.exchange(true)) stop.set_value(code);
  }
  void StartHooks() {
    for (Hook& hook : hooks) {
      auto finished = [this, &hook](std::exception_ptr error) {
        try {
          if (error) std::rethrow_exception(error);
          hook.done();
        } catch (const std::exception& problem) {
          log::Error("post-start hook {} failed: {}", hook.name, problem.what());
          End(kHookFailed);
        }
      };
      asio::co_spawn(asio::make_strand(executor), hook.run(), std::move(finished));
    }
  }
  void RunStops() {
    while (!stops.empty()) {
      const auto stop_one = std::move(stops.back());
      stops.pop_back();
      stop_one();
    }
  }

  void AddWorker() { StartThread(*workers.emplace_back(std::make_unique<asio::io_context>(1))); }
  void StartThread(asio::io_context& worker) {
    threads.emplace_back([&worker] {
      const auto keep = asio::make_work_guard(worker);
      worker.run();
    });
  }
  std::vector<asio::io_context*> Workers() {
    std::vector<asio::io_context*> all;
    for (const auto& worker : workers) all.push_back(worker.get());
    if (all.empty()) all.push_back(&io);
    return all;
  }

  const std::string service;
  const CommonFlags flags;
  const Clock& clock;
  asio::io_context io{1};
  std::vector<std::unique_ptr<asio::io_context>> workers;  // threads of calls, if there is more than one
  std::unique_ptr<asio::io_context> large;                 // threads of large requests; nullptr if not used
  asio::any_io_executor executor = io.get_executor();
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  asio::signal_set signals{io, SIGTERM, SIGINT};
  std::atomic<bool> stopping = false;
  std::promise<int> stop;
  HealthChecks health;
  Metrics metrics{clock};
  std::unique_ptr<Tracing> tracing;
  std::vector<Hook> hooks;
  std::vector<std::function<void(std::chrono::milliseconds)>> drains;
  std::vector<std::function<void()>> stops;
  std::unique_ptr<mesh::DelegateServer> server;
  std::unique_ptr<http::Server> health_server;
  std::vector<std::thread> threads;
};

Runtime::Runtime(std::string_view service, CommonFlags flags, const Clock& clock)
    : impl_(std::make_unique<Impl>(service, std::move(flags), clock)) {
  KeepFewArenas();
  std::signal(SIGPIPE, SIG_IGN);
  net::UseOwnRecords(impl_->flags.tls_records == "own");
  log::Init(service, impl_->flags.log_format == "json" ? log::Format::kJson : log::Format::kText,
            LevelOf(impl_->flags.log_level), clock);
  UseEgressFile(impl_->flags.egress_selector_config_file, impl_->metrics, clock);
  impl_->health.SetLivezGrace(clock, clock.Steady() + impl_->flags.livez_grace_period);
  impl_->health.Add("log", &CheckLog);
  impl_->tracing = std::make_unique<Tracing>(service, TracingFlags::OfProcess(), impl_->metrics, clock);
  if (!impl_->flags.health_address.empty()) {
    impl_->health_server = ServeProcessPaths({&impl_->health, &impl_->metrics}, impl_->flags.health_address, clock);
  }
  impl_->WaitForSignal();
  // Threads start last, because the constructor must not throw while they run.
  impl_->threads.emplace_back([this] { impl_->io.run(); });
}

Runtime::~Runtime() {
  impl_->server.reset();
  impl_->RunStops();
  impl_->health_server.reset();
  impl_->io.stop();
  for (const auto& worker : impl_->workers) worker->stop();
  if (impl_->large) impl_->large->stop();
  for (auto& thread : impl_->threads) thread.join();
}

asio::io_context& Runtime::Io() { return impl_->io; }
asio::any_io_executor Runtime::Executor() { return impl_->executor; }
asio::any_io_executor Runtime::LargeRequests() {
  if (!impl_->large) {
    impl_->large = std::make_unique<asio::io_context>(kLargeThreads);
    for (int i = 0; i < kLargeThreads; ++i) impl_->StartThread(*impl_->large);
  }
  return impl_->large->get_executor();
}
HealthChecks& Runtime::Health() { return impl_->health; }
Metrics& Runtime::GetMetrics() { return impl_->metrics; }
const Clock& Runtime::GetClock() const { return impl_->clock; }
const CommonFlags& Runtime::Flags() const { return impl_->flags; }

void Runtime::ShareMemory() {
  const auto& listen = impl_->flags.listen;
  if (std::none_of(listen.begin(), listen.end(),
                   [](const std::string& address) { return address.starts_with("unix:"); }))
    return;
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)),
             page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto segment = shared_memory::Segment::New(pages * page);
  if (!segment)
    log::Warning("no memory to share with peer processes ({}): lists are copied to them", std::strerror(errno));
  shared_memory::Segment::SetOwn(std::move(segment));
}

void Runtime::Serve(std::shared_ptr<mesh::DelegateHandler> handler,
                    const std::function<void(grpc::Methods&)>& add_methods) {
  // With one thread, calls and everything that they await run on it, and no work moves between threads.
  for (int i = 0; impl_->flags.io_threads > 1 && i < impl_->flags.io_threads; ++i) impl_->AddWorker();
  auto with_paths = WithProcessPaths({&impl_->health, &impl_->metrics}, std::move(handler));
  grpc::Methods methods;
  if (add_methods) add_methods(methods);
  impl_->server = mesh::ServeDelegate(impl_->flags.Listeners(impl_->service), std::move(with_paths), impl_->Workers(),
                                      impl_->clock, std::move(methods));
  for (const std::string& address : impl_->flags.listen) log::Info("serving at {}", address);
}

void Runtime::OnDrain(std::function<void(std::chrono::milliseconds)> drain) {
  impl_->drains.push_back(std::move(drain));
}
void Runtime::OnStop(std::function<void()> stop) { impl_->stops.push_back(std::move(stop)); }

void Runtime::PostStart(std::string name, std::function<Task<>()> hook) {
  auto done = impl_->health.AddPostStartHook(name);
  impl_->hooks.push_back({std::move(name), std::move(hook), std::move(done)});
}

int Runtime::Run() {
  impl_->StartHooks();
  std::future<int> stopped = impl_->stop.get_future();
  // Repeated, because hooks and the first requests and watches still use memory that was loaded at the start.
  for (const auto settled : {500ms, 2000ms, 10'000ms}) {
    if (stopped.wait_for(settled) == std::future_status::ready) break;
    ReleaseIdlePages();
  }
  const int code = stopped.get();
  impl_->health.BeginShutdown();
  if (impl_->server) impl_->server->SetServing(false);
  if (code == 0) {
    std::this_thread::sleep_for(impl_->flags.shutdown_delay_duration);
    for (const auto& drain : impl_->drains) drain(kDrainLimit);
    if (impl_->server) impl_->server->Drain(kDrainLimit);
  }
  impl_->RunStops();
  impl_->tracing.reset();
  log::Info("stopped");
  return code;
}

void Runtime::Stop() { impl_->End(0); }

}  // namespace apimesh::service
