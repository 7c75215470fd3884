#pragma once

#include <boost/system/result.hpp>

// Macros that return early if a value is an error. They work with any boost::system::result.
//   ASSIGN_OR_RETURN(Object object, Decode(body));          in plain functions
//   ASSIGN_OR_CO_RETURN(Object object, co_await Get(key));  in coroutines

#define APIMESH_CONCAT_INNER(a, b) a##b
#define APIMESH_CONCAT(a, b) APIMESH_CONCAT_INNER(a, b)

#define APIMESH_ASSIGN_OR(return_word, temporary, declaration, expression) \
  auto temporary = (expression);                                           \
  if (!temporary) return_word temporary.error();                           \
  declaration = std::move(*temporary)

#define ASSIGN_OR_RETURN(declaration, ...) \
  APIMESH_ASSIGN_OR(return, APIMESH_CONCAT(result_, __LINE__), declaration, __VA_ARGS__)
#define ASSIGN_OR_CO_RETURN(declaration, ...) \
  APIMESH_ASSIGN_OR(co_return, APIMESH_CONCAT(result_, __LINE__), declaration, __VA_ARGS__)

#define RETURN_IF_ERROR(...)                                            \
  do {                                                                  \
    if (auto result_ = (__VA_ARGS__); !result_) return result_.error(); \
  } while (false)
#define CO_RETURN_IF_ERROR(...)                                            \
  do {                                                                     \
    if (auto result_ = (__VA_ARGS__); !result_) co_return result_.error(); \
  } while (false)
