#pragma once

#include "lib/cel/message/messages.h"
#include "lib/cel/plan/step.h"

namespace apimesh::cel {

/// [a, ?b]
class ListStep : public Step {
 public:
  ListStep(std::vector<StepPtr> items, std::vector<bool> optional)
      : items_(std::move(items)), optional_(std::move(optional)) {}
  Value Eval(Context& context) const override;

 private:
  std::vector<StepPtr> items_;
  std::vector<bool> optional_;
};

/// {k: v, ?k: v}; keys and values alternate.
class MapStep : public Step {
 public:
  MapStep(std::vector<StepPtr> items, std::vector<bool> optional)
      : items_(std::move(items)), optional_(std::move(optional)) {}
  Value Eval(Context& context) const override;

 private:
  std::vector<StepPtr> items_;
  std::vector<bool> optional_;
};

/// Type{field: v, ?field: v}
class StructStep : public Step {
 public:
  StructStep(const Type* type, bool known, std::vector<std::string> fields, std::vector<StepPtr> values,
             std::vector<bool> optional)
      : type_(type),
        known_(known),
        fields_(std::move(fields)),
        values_(std::move(values)),
        optional_(std::move(optional)) {}
  Value Eval(Context& context) const override;

 private:
  const Type* type_;
  bool known_;  // whether such objects can be constructed
  std::vector<std::string> fields_;
  std::vector<StepPtr> values_;
  std::vector<bool> optional_;
};

/// Message{field: v, ?field: v} for a message of google.protobuf.
class MessageStep : public Step {
 public:
  MessageStep(const Message& message, const std::vector<std::string>& fields, std::vector<StepPtr> values,
              std::vector<bool> optional);
  Value Eval(Context& context) const override;

 private:
  const Message& message_;
  std::vector<const MessageField*> fields_;
  std::vector<StepPtr> values_;
  std::vector<bool> optional_;
};

}  // namespace apimesh::cel
