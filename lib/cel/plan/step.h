#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"
#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// The state of one evaluation.
struct Context {
  Arena& arena;
  std::span<const Value> variables;
  Value* locals = nullptr;
  std::uint64_t limit = 0;
  std::uint64_t cost = 0;
  std::size_t made_bytes = 0;
  bool exceeded = false;

  /// After the limit is exceeded, nothing that takes long is evaluated any more.
  void Charge(std::uint64_t amount) {
    cost += amount;
    if (cost > limit) exceeded = true;
  }
  /// Counts the memory of a function's result. kube-apiserver does not charge for it: the cost of 'x'.replace('x', a)
  /// is the length of 'x', so that cheap expressions could make gigabytes.
  void CountMemory(const Value& result) {
    if (result.Is(Value::Kind::kString) || result.Is(Value::Kind::kBytes)) {
      if (result.AsString().size() > kMaxMadeText) exceeded = true;
      made_bytes += result.AsString().size();
    } else if (result.IsList()) {
      made_bytes += ListSize(result) * sizeof(Value);
    }
    if (made_bytes > kMaxMadeBytes) exceeded = true;
  }
};

/// A step of a program: it computes a value, which may be an error, and charges its cost. Immutable and thread-safe.
class Step {
 public:
  virtual ~Step() = default;
  virtual Value Eval(Context& context) const = 0;
  /// The value, if it is known before evaluation.
  virtual const Value* Constant() const { return nullptr; }
};
using StepPtr = std::shared_ptr<const Step>;

class ConstantStep : public Step {
 public:
  explicit ConstantStep(Value value) : value_(value) {}
  Value Eval(Context&) const override { return value_; }
  const Value* Constant() const override { return &value_; }

 private:
  Value value_;
};

}  // namespace apimesh::cel
