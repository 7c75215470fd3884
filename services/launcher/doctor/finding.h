#pragma once

#include <string>

namespace apimesh::launcher {

/// The result of one check of `apimesh doctor`.
struct Finding {
  enum class Level { kGood, kWarning, kProblem };

  std::string subject;  // "disk"
  Level level = Level::kGood;
  std::string what;    // what was found, also if it is good
  std::string advice;  // what to do about it; empty if it is good
};

inline Finding Good(std::string subject, std::string what) {
  return {std::move(subject), Finding::Level::kGood, std::move(what), ""};
}
inline Finding Warning(std::string subject, std::string what, std::string advice) {
  return {std::move(subject), Finding::Level::kWarning, std::move(what), std::move(advice)};
}
inline Finding Problem(std::string subject, std::string what, std::string advice) {
  return {std::move(subject), Finding::Level::kProblem, std::move(what), std::move(advice)};
}

}  // namespace apimesh::launcher
