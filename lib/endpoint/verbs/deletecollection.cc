#include <algorithm>
#include <optional>

#include "lib/base/async/run_all.h"
#include "lib/endpoint/input/options.h"
#include "lib/endpoint/output/list_writer.h"
#include "lib/endpoint/verbs/delete_one.h"
#include "lib/endpoint/verbs/verbs.h"

namespace apimesh::endpoint {
namespace {

/// The objects that are still to be deleted. Used by several coroutines of one thread.
struct Collection {
  RequestPtr request;
  ParsedDeleteOptions parsed;
  std::vector<storage::EntryPtr> entries;
  std::size_t next = 0;
  std::optional<meta::ApiError> error = {};  // the first one; nothing else is begun after it
};

/// Deletes one object after the other until there is no other left.
Task<> Work(std::shared_ptr<Collection> collection) {
  const bool namespaced = collection->request->Resource().scope == registry::Scope::kNamespaced;
  while (collection->next < collection->entries.size() && !collection->error) {
    const std::string& key = collection->entries[collection->next++]->GetKey().text;
    const std::size_t slash = namespaced ? key.find('/') : std::string::npos;
    std::string ns = slash == std::string::npos ? "" : key.substr(0, slash);
    std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
    const meta::Result<Deleted> deleted = co_await DeleteOne(collection->request, std::move(ns), std::move(name),
                                                             collection->parsed.options, collection->parsed.document);
    if (!deleted && !deleted.error().Is(meta::Reason::kNotFound) && !collection->error)
      collection->error = deleted.error();
  }
}

Task<meta::Result<>> DeleteAll(std::shared_ptr<Collection> collection, std::size_t workers) {
  workers = std::min(std::max<std::size_t>(workers, 1), collection->entries.size());
  if (workers <= 1) {
    co_await Work(collection);
  } else {
    std::vector<Task<>> tasks;
    for (std::size_t i = 0; i < workers; ++i) tasks.push_back(Work(collection));
    co_await RunAll(std::move(tasks));
  }
  if (collection->error) co_return *collection->error;
  co_return meta::Result<>();
}

}  // namespace

Task<Answer> DeleteCollection(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(ListQuery query, ParseListQuery(request->query, request->Resource(), request->ObjectNamespace(),
                                                      request->Name(), request->env->watch_list));
  ASSIGN_OR_CO_RETURN(const ParsedDeleteOptions parsed, ParseDeleteOptions(*request));
  ASSIGN_OR_CO_RETURN(const std::unique_ptr<ListWriter> writer, NewListWriter(request));
  ASSIGN_OR_CO_RETURN(const std::unique_ptr<storage::ListCursor> cursor,
                      co_await request->served->store->List(request->ctx, std::move(query.list)));
  std::vector<storage::EntryPtr> entries;
  while (true) {
    const std::vector<storage::EntryPtr> some = cursor->Next(64);
    if (some.empty()) break;
    entries.insert(entries.end(), some.begin(), some.end());
  }
  ListMeta meta;
  meta.resource_version = std::to_string(cursor->At());
  meta.continue_token = cursor->ContinueToken();
  meta.remaining = cursor->Remaining();

  const auto collection = std::make_shared<Collection>(Collection{request, parsed, std::move(entries)});
  const int workers = std::max(request->env->delete_collection_workers, 1);
  CO_RETURN_IF_ERROR(co_await DeleteAll(collection, static_cast<std::size_t>(workers)));
  Pieces body;
  body.Text(writer->Head(meta));
  for (const storage::EntryPtr& entry : collection->entries) writer->AppendItem(body, entry);
  body.Text(writer->Tail(meta));
  mesh::Response response;
  response.headers.emplace_back("content-type", std::string(codec::MediaTypeOf(request->output.format)));
  response.body = body.Take();
  co_return response;
}

}  // namespace apimesh::endpoint
