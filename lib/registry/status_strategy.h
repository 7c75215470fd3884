#pragma once

#include "lib/registry/resource.h"

/// The usual split of a kind: clients write everything but status through the resource, and only status through /status.
namespace apimesh::registry {

/// Base of strategies whose kind has a status subresource. Override and call these from the overriding function.
class SpecStrategy : public Strategy {
 public:
  /// Drops the status a client sent.
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override;
  /// Keeps the stored status.
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override;
};

/// The strategy of /status: takes only status (and the metadata a controller may touch) from the client.
class StatusStrategy : public Strategy {
 public:
  /// `base` answers what is not about status: defaults, unconditional updates.
  explicit StatusStrategy(StrategyPtr base) : base_(std::move(base)) {}

  void Default(meta::json::object& object) const override { base_->Default(object); }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override;
  bool AllowUnconditionalUpdate() const override { return base_->AllowUnconditionalUpdate(); }

 private:
  StrategyPtr base_;
};

/// A status subresource with get, patch and update for a kind with this strategy.
Subresource MakeStatusSubresource(StrategyPtr base);

}  // namespace apimesh::registry
