#pragma once

#include <span>
#include <string_view>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// The cost of a call with these arguments and this result; arguments may be errors.
using CallCost = std::uint64_t (*)(std::span<const Value> args, const Value& result, Arena& arena);

/// The cost function of an overload. `overload` is empty where the types of the arguments select one at run time.
CallCost CostOfCall(std::string_view function, std::string_view overload);

}  // namespace apimesh::cel
