#pragma once

#include <string>
#include <vector>

#include <signal.h>

namespace apimesh::launcher {

/// Where the standard output of a program goes.
enum class Output {
  kInherit,
  kReturn,  // to ProgramResult::output
  kDiscard,
};
struct ProgramResult {
  int exit_code = 0;  // 128 plus the number of the signal if a signal ended it, as in a shell
  std::string output;
};

/// While it exists, SIGINT and SIGTERM do not end this process. They end the program that RunProgram() runs, so that
/// the caller can clean up.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  /// Returns whether such a signal has arrived.
  bool Interrupted() const;

 private:
  struct sigaction interrupt_, terminate_;
};

/// Runs a program and waits for its end. arguments[0] is its path. The program ends with this process, and has an
/// InterruptScope: after an interruption it is not started. Throws std::runtime_error if it cannot be started.
ProgramResult RunProgram(const std::vector<std::string>& arguments, Output output = Output::kInherit);

}  // namespace apimesh::launcher
