#pragma once

#include "services/store/net/status.h"

/// etcd's errors, with its codes and texts: clients tell them apart by these.
namespace apimesh::store::errors {

inline Status EmptyKey() { return {Status::kInvalidArgument, "etcdserver: key is not provided"}; }
inline Status KeyNotFound() { return {Status::kInvalidArgument, "etcdserver: key not found"}; }
inline Status ValueProvided() { return {Status::kInvalidArgument, "etcdserver: value is provided"}; }
inline Status LeaseProvided() { return {Status::kInvalidArgument, "etcdserver: lease is provided"}; }
inline Status TooManyOps() { return {Status::kInvalidArgument, "etcdserver: too many operations in txn request"}; }
inline Status DuplicateKey() { return {Status::kInvalidArgument, "etcdserver: duplicate key given in txn request"}; }
inline Status InvalidSortOption() { return {Status::kInvalidArgument, "etcdserver: invalid sort option"}; }
inline Status RequestTooLarge() { return {Status::kInvalidArgument, "etcdserver: request is too large"}; }
inline Status Compacted() { return {Status::kOutOfRange, "etcdserver: mvcc: required revision has been compacted"}; }
inline Status FutureRevision() {
  return {Status::kOutOfRange, "etcdserver: mvcc: required revision is a future revision"};
}
inline Status NoSpace() { return {Status::kResourceExhausted, "etcdserver: mvcc: database space exceeded"}; }
inline Status LeaseNotFound() { return {Status::kNotFound, "etcdserver: requested lease not found"}; }
inline Status LeaseExists() { return {Status::kFailedPrecondition, "etcdserver: lease already exists"}; }
inline Status LeaseTtlTooLarge() { return {Status::kOutOfRange, "etcdserver: too large lease TTL"}; }
inline Status MemberNotFound() { return {Status::kNotFound, "etcdserver: member not found"}; }
inline Status MemberNotLearner() {
  return {Status::kFailedPrecondition, "etcdserver: can only promote a learner member"};
}
inline Status NotEnoughStartedMembers() {
  return {Status::kFailedPrecondition, "etcdserver: re-configuration failed due to not enough started members"};
}
inline Status BadLeaderTransferee() { return {Status::kFailedPrecondition, "etcdserver: bad leader transferee"}; }
inline Status AuthNotEnabled() {
  return {Status::kFailedPrecondition, "etcdserver: authentication is not enabled"};
}
inline Status UserNotFound() { return {Status::kFailedPrecondition, "etcdserver: user name not found"}; }
inline Status RoleNotFound() { return {Status::kFailedPrecondition, "etcdserver: role name not found"}; }
inline Status RootUserNotExist() { return {Status::kFailedPrecondition, "etcdserver: root user does not exist"}; }
inline Status Stopped() { return {Status::kUnavailable, "etcdserver: server stopped"}; }

}  // namespace apimesh::store::errors
