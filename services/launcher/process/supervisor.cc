#include "services/launcher/process/supervisor.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/log.h"

namespace apimesh::launcher {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{20}, kLongestPause{2000};
/// The back-off starts again for a child that ran this long.
constexpr std::chrono::seconds kHealthy{1};
constexpr std::chrono::seconds kFirstStart{30};

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

/// Returns the last line of the child's log.
std::string LastWords(const ChildSpec& spec) {
  if (spec.log_file.empty()) return "its error is above";
  std::ifstream log(spec.log_file);
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

Supervisor::Supervisor(std::vector<ChildSpec> children, const Clock& clock) : clock_(clock) {
  for (ChildSpec& spec : children) children_.push_back({.spec = std::move(spec)});
}

void Supervisor::OnTick(milliseconds every, std::function<void()> tick) {
  tick_every_ = every;
  tick_ = std::move(tick);
}

void Supervisor::OnReadable(int file, std::function<void()> readable) {
  input_ = file;
  readable_ = std::move(readable);
}

void Supervisor::Add(ChildSpec spec, const std::string& before) {
  const auto place =
      std::find_if(children_.begin(), children_.end(), [&](const Child& child) { return child.spec.name == before; });
  Start(*children_.insert(place, {.spec = std::move(spec)}));
  changed_();
}

void Supervisor::Remove(const std::string& name) {
  for (Child& child : children_) {
    if (child.spec.name != name) continue;
    child.stopping = child.removed = true;
    child.killed_at = clock_.Steady() + kRemoveLimit;
    if (child.pid != 0) ::kill(child.pid, SIGTERM);
  }
}

void Supervisor::KillRemoved() {
  for (Child& child : children_) {
    if (!child.removed || child.pid == 0 || clock_.Steady() < child.killed_at) continue;
    log::Warning("{} did not stop; killing it", child.spec.name);
    ::kill(child.pid, SIGKILL);
    child.killed_at = SteadyTime::max();
  }
  if (std::erase_if(children_, [](const Child& child) { return child.removed && child.pid == 0; }) > 0) changed_();
}

void Supervisor::Start(Child& child) {
  child.pid = StartChild(child.spec);
  child.started = clock_.Steady();
}

void Supervisor::Reap() {
  int status = 0;
  bool any = false;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto child = std::find_if(children_.begin(), children_.end(), [pid](const Child& c) { return c.pid == pid; });
    if (child == children_.end()) continue;
    any = true;
    child->pid = 0;
    if (child->stopping) continue;
    const auto now = clock_.Steady();
    const bool first = child->restarts == 0 && now - child->started < kFirstStart;
    if (child->spec.may_refuse && first && WIFEXITED(status) && WEXITSTATUS(status) == 1) {
      refusal_ = fmt::format("{} can't start with this configuration; {}", child->spec.name, LastWords(child->spec));
      continue;
    }
    child->pause =
        now - child->started > kHealthy ? kFirstPause : std::clamp(child->pause * 2, kFirstPause, kLongestPause);
    child->next_start = now + child->pause;
    log::Warning("{} ended ({}); starting it again in {} ms", child->spec.name, HowItEnded(status),
                 child->pause.count());
  }
  if (any) changed_();
}

void Supervisor::Run() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&watched, signal);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  const int signals = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);

  for (Child& child : children_) Start(child);
  changed_();
  next_tick_ = clock_.Steady() + tick_every_;
  for (;;) {
    Wait(signals);
    signalfd_siginfo info;
    bool stop = false;
    while (::read(signals, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) stop = true;
    }
    Reap();
    if (stop || !refusal_.empty()) break;
    KillRemoved();
    RestartEnded();
    if (tick_ && clock_.Steady() >= next_tick_) {
      next_tick_ = SteadyTime::max();
      tick_();
      next_tick_ = std::min(next_tick_, clock_.Steady() + tick_every_);
    }
  }
  StopInOrder(signals);
  ::close(signals);
  if (!refusal_.empty()) throw std::runtime_error(refusal_);
}

void Supervisor::Wait(int signals) {
  const auto now = clock_.Steady();
  auto wake = tick_ ? next_tick_ : now + std::chrono::hours(1);
  for (const Child& child : children_) {
    if (child.removed) {
      wake = std::min(wake, child.killed_at);
    } else if (child.pid == 0) {
      wake = std::min(wake, child.next_start);
    }
  }
  const auto wait = std::chrono::ceil<milliseconds>(std::max(wake - now, Duration::zero()));
  pollfd polled[] = {{signals, POLLIN, 0}, {input_, POLLIN, 0}};  // a negative file is ignored
  if (::poll(polled, 2, static_cast<int>(wait.count())) > 0 && (polled[1].revents & POLLIN)) readable_();
}

void Supervisor::RestartEnded() {
  for (Child& child : children_) {
    if (child.pid != 0 || child.stopping || clock_.Steady() < child.next_start) continue;
    ++child.restarts;
    Start(child);
    changed_();
  }
}

void Supervisor::StopInOrder(int signals) {
  for (Child& child : children_) child.stopping = true;  // no child is restarted any more
  bool impatient = false;
  for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
    if (child->pid == 0) continue;
    ::kill(child->pid, SIGTERM);
    const auto limit = clock_.Steady() + kStopLimit;
    while (child->pid != 0) {
      if (impatient || clock_.Steady() > limit) {
        log::Warning("{} did not stop; killing it", child->spec.name);
        ::kill(child->pid, SIGKILL);
      }
      pollfd poll{signals, POLLIN, 0};
      ::poll(&poll, 1, 100);
      signalfd_siginfo info;
      while (::read(signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGHUP) impatient = true;
      }
      Reap();
    }
  }
  changed_();
}

}  // namespace apimesh::launcher
