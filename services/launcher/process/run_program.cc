#include "services/launcher/process/run_program.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace apimesh::launcher {
namespace {

constexpr int kInterrupted = 128 + SIGINT;

std::atomic<pid_t> running{0};
std::atomic<bool> interrupted{false};

void OnInterrupt(int signal) {
  interrupted = true;
  if (const pid_t pid = running) ::kill(pid, signal);
}

[[noreturn]] void Execute(const std::vector<std::string>& arguments, int out) {
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (out >= 0) ::dup2(out, STDOUT_FILENO);
  ::execv(argv[0], const_cast<char**>(argv.data()));
  fmt::print(stderr, "apimesh: {}: {}\n", arguments[0], std::strerror(errno));
  ::_exit(127);
}

std::string ReadAll(int file) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t size = ::read(file, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

}  // namespace

InterruptScope::InterruptScope() {
  struct sigaction action = {};
  action.sa_handler = &OnInterrupt;
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
}

InterruptScope::~InterruptScope() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
}

bool InterruptScope::Interrupted() const { return interrupted; }

ProgramResult RunProgram(const std::vector<std::string>& arguments, Output output) {
  int pipe[2] = {-1, -1};
  if (output == Output::kReturn && ::pipe2(pipe, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  if (output == Output::kDiscard) pipe[1] = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::fflush(nullptr);
  const InterruptScope scope;
  if (scope.Interrupted()) {
    for (const int end : pipe)
      if (end >= 0) ::close(end);
    return {.exit_code = kInterrupted};
  }
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0) Execute(arguments, pipe[1]);
  running = pid;
  if (scope.Interrupted()) ::kill(pid, SIGTERM);  // the signal may have come before `running` was set
  if (pipe[1] >= 0) ::close(pipe[1]);
  ProgramResult result;
  if (pipe[0] >= 0) {
    result.output = ReadAll(pipe[0]);
    ::close(pipe[0]);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  running = 0;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace apimesh::launcher
