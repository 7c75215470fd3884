#pragma once

#include "lib/meta/errors/path_chain.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"
#include "lib/schema/values/findings.h"

/// The rules of custom resources for numbers.
namespace apimesh::schema {

/// Returns a number as kube-apiserver shows it in messages: "3", "1.5", "4e+09".
std::string NumberText(double value);

/// Returns whether kube-apiserver accepts a number with a fraction part or exponent as an integer.
bool IsInteger(double value);

/// Checks the range of the format, multipleOf, minimum and maximum. `value` is a number, `node` has rules.
void CheckNumber(const meta::json::value& value, const Node& node, const meta::PathChain& path, Findings& found);

}  // namespace apimesh::schema
