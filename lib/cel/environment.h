#pragma once

#include "lib/cel/check/declarations.h"

namespace apimesh::cel {

/// The functions, macros and types that kube-apiserver 1.`minor` has. The result exists as long as the process.
const Declarations& BaseEnvironment(int minor);
/// The same with the functions for JSON patches (jsonpatch.escapeKey), which only mutations can use.
const Declarations& PatchEnvironment(int minor);
/// The same as BaseEnvironment() with the macro cel.bind, which only the selectors of devices can use.
const Declarations& BindingEnvironment(int minor);
/// The version of the environment for expressions that are stored now: what the previous version understands, so that a
/// server can be downgraded. Expressions that are stored already are compiled with kCurrentMinor.
constexpr int kCurrentMinor = 36, kCompatibilityMinor = 35;

}  // namespace apimesh::cel
