import { useState } from "preact/hooks";
import { fullName, type Resource } from "../../api/discovery";
import { href } from "../../router";
import { Head } from "../../ui/shell";
import { Empty, Loading, Problem } from "../../ui/states";
import { moveFocus } from "../../ui/arrows";
import { useResources } from "./use_resources";

const COMMON = ["pods", "deployments", "services", "configmaps", "secrets", "namespaces", "nodes", "events"];

/** All resources that can be listed, by group. */
export function ResourceList({ query }: { query: string }) {
  const resources = useResources();
  const [text, setText] = useState(query);
  const listable = (resources.value ?? []).filter((one) => one.verbs.includes("list"));
  const found = listable.filter((one) => matches(one, text.toLowerCase().trim()));
  const groups = [...new Set(found.map((one) => one.group))].sort();
  const common = text.trim() === "" ? COMMON.flatMap((plural) => listable.find((one) => one.plural === plural && (one.group === "" || one.group === "apps")) ?? []) : [];
  return (
    <>
      <Head title="Objects" note={resources.value ? `${listable.length} resources` : undefined}>
        <input type="search" data-search class="search" aria-label="Search resources" placeholder="Search resources  ( / )" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Head>
      {resources.error !== undefined && <Problem error={resources.error} />}
      {resources.loading && !resources.value && <Loading what="resources" />}
      {resources.value && found.length === 0 && <Empty title="No resource matches">Names, kinds and short names are searched.</Empty>}
      <div onKeyDown={moveFocus("a.tile")}>
        {common.length > 0 && <Group name="Often used" resources={common} />}
        {groups.map((group) => (
          <Group key={group} name={group || "core"} resources={found.filter((one) => one.group === group)} />
        ))}
      </div>
    </>
  );
}

function Group({ name, resources }: { name: string; resources: Resource[] }) {
  return (
    <section class="group">
      <h2>{name}</h2>
      <div class="tiles">
        {resources.map((one) => (
          <a key={fullName(one)} class="tile" href={href("objects", [one.group || "-", one.plural])}>
            <strong>{one.kind}</strong>
            <span class="muted">
              {one.plural}
              {one.shortNames.length > 0 && ` (${one.shortNames.join(", ")})`}
            </span>
          </a>
        ))}
      </div>
    </section>
  );
}

function matches(resource: Resource, text: string): boolean {
  return text === "" || [fullName(resource), resource.kind, ...resource.shortNames].some((name) => name.toLowerCase().includes(text));
}
