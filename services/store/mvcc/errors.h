#pragma once

#include "services/store/net/status.h"

/// etcd's errors with its codes and messages, by which clients distinguish them.
namespace apimesh::store::errors {

inline Status EmptyKey() { return {Code::kInvalidArgument, "etcdserver: key is not provided"}; }
inline Status KeyNotFound() { return {Code::kInvalidArgument, "etcdserver: key not found"}; }
inline Status ValueProvided() { return {Code::kInvalidArgument, "etcdserver: value is provided"}; }
inline Status LeaseProvided() { return {Code::kInvalidArgument, "etcdserver: lease is provided"}; }
inline Status TooManyOps() { return {Code::kInvalidArgument, "etcdserver: too many operations in txn request"}; }
inline Status DuplicateKey() { return {Code::kInvalidArgument, "etcdserver: duplicate key given in txn request"}; }
inline Status InvalidSortOption() { return {Code::kInvalidArgument, "etcdserver: invalid sort option"}; }
inline Status RequestTooLarge() { return {Code::kInvalidArgument, "etcdserver: request is too large"}; }
inline Status Compacted() { return {Code::kOutOfRange, "etcdserver: mvcc: required revision has been compacted"}; }
inline Status FutureRevision() {
  return {Code::kOutOfRange, "etcdserver: mvcc: required revision is a future revision"};
}
inline Status NoSpace() { return {Code::kResourceExhausted, "etcdserver: mvcc: database space exceeded"}; }
inline Status LeaseNotFound() { return {Code::kNotFound, "etcdserver: requested lease not found"}; }
inline Status LeaseExists() { return {Code::kFailedPrecondition, "etcdserver: lease already exists"}; }
inline Status LeaseTtlTooLarge() { return {Code::kOutOfRange, "etcdserver: too large lease TTL"}; }
inline Status MemberNotFound() { return {Code::kNotFound, "etcdserver: member not found"}; }
inline Status MemberNotLearner() {
  return {Code::kFailedPrecondition, "etcdserver: can only promote a learner member"};
}
inline Status NotEnoughStartedMembers() {
  return {Code::kFailedPrecondition, "etcdserver: re-configuration failed due to not enough started members"};
}
inline Status BadLeaderTransferee() { return {Code::kFailedPrecondition, "etcdserver: bad leader transferee"}; }
inline Status AuthNotEnabled() { return {Code::kFailedPrecondition, "etcdserver: authentication is not enabled"}; }
inline Status UserNotFound() { return {Code::kFailedPrecondition, "etcdserver: user name not found"}; }
inline Status RoleNotFound() { return {Code::kFailedPrecondition, "etcdserver: role name not found"}; }
inline Status RootUserNotExist() { return {Code::kFailedPrecondition, "etcdserver: root user does not exist"}; }
inline Status Stopped() { return {Code::kUnavailable, "etcdserver: server stopped"}; }

}  // namespace apimesh::store::errors
