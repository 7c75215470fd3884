#include "lib/grpc/health.h"

#include <algorithm>
#include <mutex>

#include "lib/base/async/wakeup.h"

namespace apimesh::grpc {
namespace {

enum Answer : char { kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

/// HealthCheckRequest has one field: the name of the service, number 1.
std::string ServiceOf(std::string_view request) {
  if (request.size() < 2 || request[0] != 0x0a) return {};
  const auto size = static_cast<unsigned char>(request[1]);
  return size < 0x80 && request.size() >= 2u + size ? std::string(request.substr(2, size)) : std::string();
}

/// HealthCheckResponse has one field: the status, number 1.
Message ToMessage(Answer answer) {
  Message message;
  message.emplace_back(std::string{'\x08', static_cast<char>(answer)});
  return message;
}

}  // namespace

struct Health::State {
  const std::vector<std::string> services;
  std::mutex mutex;
  bool serving = true;                            // guarded by mutex
  std::vector<std::shared_ptr<Wakeup>> watchers;  // guarded by mutex

  Answer For(const std::string& service) {
    const std::lock_guard lock(mutex);
    const bool known = service.empty() || std::find(services.begin(), services.end(), service) != services.end();
    return !known ? kServiceUnknown : serving ? kServing : kNotServing;
  }
};

Health::Health(std::vector<std::string> services) : state_(new State{.services = std::move(services)}) {}

std::shared_ptr<Health> Health::AddTo(Methods& methods) {
  std::shared_ptr<Health> health(new Health(methods.Services()));
  const std::shared_ptr<State> state = health->state_;
  methods.AddUnary("/grpc.health.v1.Health/Check", [state](ServerCallPtr, std::string request) -> Task<UnaryReply> {
    const Answer answer = state->For(ServiceOf(request));
    UnaryReply reply;
    if (answer == kServiceUnknown) reply.status = {Code::kNotFound, "service name unknown"};
    reply.message = ToMessage(answer);
    co_return reply;
  });
  methods.AddStream("/grpc.health.v1.Health/Watch", [state](ServerCallPtr call) -> Task<> {
    const std::optional<std::string> request = co_await call->Read();
    const std::string service = ServiceOf(request.value_or(""));
    std::optional<Answer> reported;
    bool open = true;
    while (open) {
      auto changed = Wakeup::New();
      {
        const std::lock_guard lock(state->mutex);
        state->watchers.push_back(changed);
      }
      call->OnCancel([changed] { changed->Wake(); });
      const Answer now = state->For(service);
      if (now != reported) {
        reported = now;
        Message message = ToMessage(now);
        open = co_await call->Write(std::move(message));
      }
      if (open) co_await Wakeup::Wait(changed);
      open = open && !call->Gone();
    }
  });
  return health;
}

void Health::SetServing(bool serving) {
  std::vector<std::shared_ptr<Wakeup>> watchers;
  {
    const std::lock_guard lock(state_->mutex);
    state_->serving = serving;
    watchers.swap(state_->watchers);
  }
  for (const auto& watcher : watchers) watcher->Wake();
}

}  // namespace apimesh::grpc
