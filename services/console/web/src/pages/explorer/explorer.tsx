import { useState } from "preact/hooks";
import { getJson } from "../../api/client";
import { readOperations, type Operation } from "../../logic/openapi";
import { href, type Route } from "../../router";
import { moveFocus } from "../../ui/arrows";
import { Head } from "../../ui/shell";
import { Empty, Loading, Problem } from "../../ui/states";
import { useLoaded } from "../../ui/use";
import { OperationForm } from "./operation_form";

interface Index {
  paths: Record<string, { serverRelativeURL: string }>;
}

const SHOWN = 400;

/** #/explorer?api=apis/apps/v1&op=GET /apis/apps/v1/deployments */
export function Explorer({ route }: { route: Route }) {
  const index = useLoaded((signal) => getJson<Index>("/openapi/v3", { signal }), []);
  const api = route.query.get("api") ?? "api/v1";
  const chosen = route.query.get("op") ?? "";
  const [text, setText] = useState("");
  const names = Object.keys(index.value?.paths ?? {}).sort();
  return (
    <>
      <Head title="API explorer" note="Every operation of every group, from the OpenAPI documents of the server">
        <select aria-label="API group" value={api} onChange={(event) => (location.hash = href("explorer", [], { api: event.currentTarget.value }))}>
          {(names.includes(api) ? names : [api, ...names]).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <input type="search" data-search class="search" aria-label="Search operations" placeholder="Search operations  ( / )" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Head>
      {index.error !== undefined && <Problem error={index.error} needs="get on the path /openapi/v3" />}
      {index.value && <Group key={api} url={index.value.paths[api]?.serverRelativeURL} api={api} chosen={chosen} text={text} />}
      {index.loading && !index.value && <Loading what="the groups" />}
    </>
  );
}

function Group({ url, api, chosen, text }: { url: string | undefined; api: string; chosen: string; text: string }) {
  const operations = useLoaded(async (signal) => (url ? readOperations(await getJson(url, { signal })) : []), [url]);
  if (operations.error) return <Problem error={operations.error} />;
  if (!operations.value) return <Loading what={api} />;
  const operation = operations.value.find((one) => nameOf(one) === chosen);
  if (operation) {
    return (
      <>
        <p>
          <a href={href("explorer", [], { api })}>All operations of {api}</a>
        </p>
        <OperationForm key={chosen} operation={operation} />
      </>
    );
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.value.filter((one) => words.every((word) => `${nameOf(one)} ${one.summary}`.toLowerCase().includes(word)));
  if (found.length === 0) return <Empty title="No operation matches">Methods, paths and descriptions are searched.</Empty>;
  return (
    <ul class="operations" onKeyDown={moveFocus("a")}>
      {found.slice(0, SHOWN).map((one) => (
        <li key={nameOf(one)}>
          <a href={href("explorer", [], { api, op: nameOf(one) })}>
            <span class={`method ${one.method}`}>{one.method}</span>
            <code>{one.path}</code>
            <span class="muted">{one.summary}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function nameOf(operation: Operation): string {
  return `${operation.method} ${operation.path}`;
}
