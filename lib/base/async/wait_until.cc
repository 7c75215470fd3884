#include "lib/base/async/wait_until.h"

#include "lib/base/async/wakeup.h"

namespace apimesh {

Task<> WaitUntil(std::function<bool()> done) {
  constexpr std::chrono::milliseconds kPause{3};
  for (;;) {
    if (done()) co_return;
    co_await SleepFor(kPause);
  }
}

}  // namespace apimesh
