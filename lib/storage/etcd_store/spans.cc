// The spans of requests, with the names and attributes of kube-apiserver.
#include <fmt/format.h>

#include "lib/storage/etcd_store/etcd_store.h"
#include "lib/tracing/span.h"

namespace apimesh::storage {
namespace {

std::string KeyText(const ResourceConfig& config, const Key& key) {
  return fmt::format("/{}/{}", config.key_prefix, key.text);
}

}  // namespace

tracing::SpanPtr EtcdStore::SpanOf(const meta::RequestContext& ctx, std::string_view step, const Key& key,
                                   const meta::Object* object) const {
  if (!ctx.Span()) return nullptr;
  const meta::GroupResource& resource = Config().resource;
  tracing::Attributes attributes = {{"audit-id", ctx.AuditId()},
                                    {"key", KeyText(Config(), key)},
                                    {"type", object ? std::string(object->Kind()) : std::string()},
                                    {"group", resource.group},
                                    {"resource", resource.resource}};
  return ctx.Span()->Child(std::string(step), std::move(attributes));
}

tracing::SpanPtr EtcdStore::SpanOfGet(const meta::RequestContext& ctx, const Key& key,
                                      const GetOptions& options) const {
  if (!ctx.Span()) return nullptr;
  tracing::Attributes attributes = {
      {"audit-id", ctx.AuditId()}, {"key", KeyText(Config(), key)}, {"resource-version", options.resource_version}};
  return ctx.Span()->Child("cacher.Get", std::move(attributes));
}

tracing::SpanPtr EtcdStore::SpanOfMany(const meta::RequestContext& ctx, std::string_view step) const {
  if (!ctx.Span()) return nullptr;
  tracing::Attributes attributes = {{"audit-id", ctx.AuditId()}, {"type", Config().resource.ToString()}};
  return ctx.Span()->Child(std::string(step), std::move(attributes));
}

}  // namespace apimesh::storage
