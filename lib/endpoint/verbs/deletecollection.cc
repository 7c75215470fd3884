#include "lib/endpoint/input/options.h"
#include "lib/endpoint/output/list_writer.h"
#include "lib/endpoint/verbs/delete_one.h"
#include "lib/endpoint/verbs/verbs.h"

namespace apimesh::endpoint {

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

  const bool namespaced = request->Resource().scope == registry::Scope::kNamespaced;
  Pieces body;
  body.Text(writer->Head(meta));
  for (const storage::EntryPtr& entry : entries) {
    const std::string& key = entry->GetKey().text;
    const std::size_t slash = namespaced ? key.find('/') : std::string::npos;
    std::string ns = slash == std::string::npos ? "" : key.substr(0, slash);
    std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
    const meta::Result<Deleted> deleted =
        co_await DeleteOne(request, std::move(ns), std::move(name), parsed.options, parsed.document);
    if (!deleted && !deleted.error().Is(meta::Reason::kNotFound)) co_return deleted.error();
    writer->AppendItem(body, entry);
  }
  body.Text(writer->Tail(meta));
  mesh::Response response;
  response.headers.emplace_back("content-type", std::string(codec::MediaTypeOf(request->output.format)));
  response.body = body.Take();
  co_return response;
}

}  // namespace apimesh::endpoint
