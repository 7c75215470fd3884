#include "lib/schema/values/patterns.h"

#include <array>
#include <mutex>
#include <unordered_map>

#include <re2/re2.h>

#include "lib/base/hash/seeded_hash.h"

namespace apimesh::schema {
namespace {

using Pattern = std::shared_ptr<const re2::RE2>;

/// RE2 keeps the states that it has computed for texts, up to this memory. With more patterns or longer texts, it only
/// computes them again.
constexpr std::int64_t kMemory = 512 << 10;

Pattern Compile(const std::string& text) {
  re2::RE2::Options options(re2::RE2::Quiet);
  const std::int64_t usual = options.max_mem();
  options.set_max_mem(kMemory);
  auto compiled = std::make_shared<const re2::RE2>(text, options);
  if (compiled->ok() || compiled->error_code() != re2::RE2::ErrorPatternTooLarge) return compiled;
  options.set_max_mem(usual);
  return std::make_shared<const re2::RE2>(text, options);
}

class Patterns {
 public:
  Pattern Get(const std::string& text) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = known_.find(text);
      if (found != known_.end()) {
        if (Pattern pattern = found->second.lock()) return pattern;
      }
    }
    Pattern made = Compile(text);
    const std::lock_guard lock(mutex_);
    if (known_.size() >= sweep_at_) Sweep();
    known_[text] = made;
    // A definition is checked first and compiled afterwards.
    recent_[next_++ % recent_.size()] = made;
    return made;
  }

 private:
  void Sweep() {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * known_.size() + 100;
  }

  std::mutex mutex_;
  // All members below are guarded by mutex_.
  std::unordered_map<std::string, std::weak_ptr<const re2::RE2>, SeededHash> known_;
  std::array<Pattern, 64> recent_;
  std::size_t next_ = 0, sweep_at_ = 100;
};

}  // namespace

Pattern CompilePattern(const std::string& pattern) {
  static Patterns* const patterns = new Patterns;
  return patterns->Get(pattern);
}

}  // namespace apimesh::schema
