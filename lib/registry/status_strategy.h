#pragma once

#include <string_view>
#include <vector>

#include "lib/registry/resource.h"

/// The usual division of a kind: a write of the main resource keeps the stored status, and a write of /status keeps
/// everything else.
namespace apimesh::registry {

/// The metadata fields that a write of /status keeps as stored. It writes all other metadata, because controllers need
/// that: for example, the Deployment controller sets the annotation deployment.kubernetes.io/revision together with the
/// status.
using KeptMetadata = std::vector<std::string_view>;

/// Returns all metadata fields, for kinds whose /status writes nothing but the status.
const KeptMetadata& AllMetadata();

/// Base class of strategies whose kind has a status subresource. An overriding function must call the function of this
/// class.
class SpecStrategy : public Strategy {
 public:
  /// Removes a status that the client has sent.
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override;
  /// Keeps the stored status.
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override;
};

/// The strategy of /status. A write takes the status and the metadata that is not in `kept` from the client, and
/// everything else from the stored object.
class StatusStrategy : public Strategy {
 public:
  /// `base` sets defaults and decides whether updates need a resourceVersion.
  explicit StatusStrategy(StrategyPtr base, KeptMetadata kept = {}) : base_(std::move(base)), kept_(std::move(kept)) {}

  void Default(meta::json::object& object) const override { base_->Default(object); }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override;
  bool AllowUnconditionalUpdate() const override { return base_->AllowUnconditionalUpdate(); }

 private:
  StrategyPtr base_;
  KeptMetadata kept_;
};

/// Returns the fields that no manager owns through /status, because a write of /status does not change them.
patch::ResetFields StatusResetFields(const KeptMetadata& kept);

/// Returns a status subresource with get, patch and update for a kind with this strategy.
Subresource MakeStatusSubresource(StrategyPtr base, const KeptMetadata& kept = {});

}  // namespace apimesh::registry
