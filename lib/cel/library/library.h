#pragma once

#include "lib/cel/check/declarations.h"

namespace apimesh::cel {

// Each function adds one library to `out`.
void AddOperators(Declarations& out);
void AddConversions(Declarations& out);
void AddStandardStrings(Declarations& out);
void AddTime(Declarations& out);
void AddOptionals(Declarations& out);
/// `version` 0 has neither format() nor strings.quote().
void AddStrings(Declarations& out, int version);
void AddComprehensions(Declarations& out);
void AddSets(Declarations& out);
void AddKubernetesLists(Declarations& out);
void AddLists(Declarations& out);
void AddRegex(Declarations& out);
void AddUrls(Declarations& out);
void AddIp(Declarations& out);
void AddCidr(Declarations& out);
void AddQuantity(Declarations& out);
void AddSemver(Declarations& out);
void AddFormat(Declarations& out);
void AddAuthorizer(Declarations& out);
void AddAuthorizerSelectors(Declarations& out);
void AddJsonPatch(Declarations& out);

}  // namespace apimesh::cel
