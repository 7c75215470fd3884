#pragma once

#include "lib/cel/plan/step.h"

namespace apimesh::cel {

/// A variable or another operand with the fields and indexes that are selected from it: a.b[0].?c.
class Attribute : public Step {
 public:
  /// One selection. Its key is a constant, or it is computed by a step.
  struct Qualifier {
    Value key;
    std::shared_ptr<const Attribute> attribute;  // a key that is an attribute: only its selections have a cost
    StepPtr step;
    bool optional = false;
    bool test_only = false;
  };

  void Add(Qualifier qualifier) { qualifiers_.push_back(std::move(qualifier)); }
  /// A copy to which selections can be added.
  virtual std::shared_ptr<Attribute> Copy() const = 0;
  void SetTestOnly() { test_only_ = true; }

  Value Eval(Context& context) const override {
    const Value out = Resolve(context);
    // A test has no cost itself. As in kube-apiserver, that of a conditional is even subtracted: has(b ? c.d : e.d)
    // costs one less than what it evaluates, and exceeds every limit if that is nothing.
    context.Charge(test_only_ ? OwnCost() - 1 : OwnCost());
    return test_only_ && out.Is(Value::Kind::kOptional) ? Value::Bool(out.AsOptional() != nullptr) : out;
  }
  /// The value without the cost of the attribute itself.
  virtual Value Resolve(Context& context) const = 0;

 protected:
  virtual std::uint64_t OwnCost() const { return 1; }
  Value Apply(Context& context, Value value) const;

  std::vector<Qualifier> qualifiers_;
  bool test_only_ = false;
};

class VariableAttribute : public Attribute {
 public:
  VariableAttribute(std::size_t index, std::string name) : index_(index), name_(std::move(name)) {}
  std::shared_ptr<Attribute> Copy() const override { return std::make_shared<VariableAttribute>(*this); }
  Value Resolve(Context& context) const override;

 private:
  std::size_t index_;
  std::string name_;
};

/// A variable of a comprehension. `init`, if there is one, computes it when it is first used.
class LocalAttribute : public Attribute {
 public:
  LocalAttribute(std::size_t slot, const StepPtr* init) : slot_(slot), init_(init ? *init : nullptr) {}
  std::shared_ptr<Attribute> Copy() const override { return std::make_shared<LocalAttribute>(*this); }
  Value Resolve(Context& context) const override;

 private:
  std::size_t slot_;
  StepPtr init_;
};

class RelativeAttribute : public Attribute {
 public:
  explicit RelativeAttribute(StepPtr operand) : operand_(std::move(operand)) {}
  std::shared_ptr<Attribute> Copy() const override { return std::make_shared<RelativeAttribute>(*this); }
  Value Resolve(Context& context) const override;

 private:
  StepPtr operand_;
};

/// `condition ? yes : no`. It adds no cost itself. Fields and indexes that follow are selected from the chosen branch.
class ConditionalAttribute : public Attribute {
 public:
  ConditionalAttribute(StepPtr condition, std::shared_ptr<const Attribute> yes, std::shared_ptr<const Attribute> no)
      : condition_(std::move(condition)), yes_(std::move(yes)), no_(std::move(no)) {}
  std::shared_ptr<Attribute> Copy() const override { return std::make_shared<ConditionalAttribute>(*this); }
  Value Resolve(Context& context) const override;

 protected:
  std::uint64_t OwnCost() const override { return 0; }

 private:
  StepPtr condition_;
  std::shared_ptr<const Attribute> yes_, no_;
};

/// Whether a value can be an index: texts, numbers and bools.
bool CanQualify(const Value& key);
std::string InvalidQualifier(const Value& key);

}  // namespace apimesh::cel
