#include "lib/base/async/run_all.h"

#include <exception>
#include <memory>
#include <mutex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/base/async/wakeup.h"

namespace apimesh {
namespace {

struct Running {
  std::mutex mutex;
  std::size_t left = 0;      // guarded by mutex
  std::exception_ptr error;  // guarded by mutex
  std::shared_ptr<Wakeup> done = Wakeup::New();
};

}  // namespace

Task<> RunAll(std::vector<Task<>> tasks) {
  if (tasks.size() == 1) {
    co_await std::move(tasks.front());
    co_return;
  }
  if (tasks.empty()) co_return;
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto running = std::make_shared<Running>();
  running->left = tasks.size();
  for (Task<>& task : tasks) {
    boost::asio::co_spawn(executor, std::move(task), [running](std::exception_ptr error) {
      const std::lock_guard lock(running->mutex);
      if (error) running->error = std::move(error);
      if (--running->left == 0) running->done->Wake();
    });
  }
  co_await Wakeup::Wait(running->done);
  const std::lock_guard lock(running->mutex);
  if (running->error) std::rethrow_exception(running->error);
}

}  // namespace apimesh
