import { useEffect, useState } from "preact/hooks";
import { fullName, type Resource } from "../../api/discovery";
import { go, href, type Route } from "../../router";
import { Head } from "../../ui/shell";
import { Empty, Loading, Problem } from "../../ui/states";
import { useLoaded } from "../../ui/use";
import { findResource } from "./use_resources";
import { ObjectTable } from "./object_table";
import { ResourceList } from "./resource_list";

/** #/objects lists all resources; #/objects/GROUP/PLURAL lists the objects of one ("-" is the core group). */
export function Objects({ route }: { route: Route }) {
  const [group, plural] = route.parts;
  if (!plural) return <ResourceList query={route.query.get("q") ?? ""} />;
  return <OneResource key={`${group}/${plural}`} group={group === "-" ? "" : group!} plural={plural} route={route} />;
}

function OneResource({ group, plural, route }: { group: string; plural: string; route: Route }) {
  const found = useLoaded(() => findResource(group, plural), [group, plural]);
  if (found.error) return <Problem error={found.error} />;
  if (found.loading) return <Loading what="resources" />;
  if (!found.value) return <Empty title={`There is no resource ${fullName({ group, plural })}`}>It may have been removed. The other resources are on the page Objects.</Empty>;
  if (!found.value.verbs.includes("list")) return <Empty title={`${fullName(found.value)} cannot be listed`}>The API explorer can create it.</Empty>;
  return <Listing resource={found.value} route={route} />;
}

function Listing({ resource, route }: { resource: Resource; route: Route }) {
  const [text, setText] = useState(route.query.get("q") ?? "");
  const namespace = route.query.get("ns") ?? "";
  const here = (query: Record<string, string>) => href("objects", [resource.group || "-", resource.plural], { ns: namespace, ...query });
  useEffect(() => {
    history.replaceState(null, "", here({ q: text }));
  }, [text]);
  return (
    <>
      <Head title={resource.kind} note={`${fullName(resource)} · ${resource.version}${resource.shortNames.length > 0 ? ` · ${resource.shortNames.join(", ")}` : ""}`}>
        <a class="button" href="#/objects">
          All resources
        </a>
        {resource.namespaced && (
          <input
            class="namespace"
            aria-label="Namespace"
            placeholder="all namespaces"
            value={namespace}
            onChange={(event) => go(here({ ns: event.currentTarget.value.trim(), q: text }))}
          />
        )}
        <input type="search" data-search class="search" aria-label="Search" placeholder="Search, or app=web  ( / )" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Head>
      <ObjectTable key={namespace} resource={resource} namespace={namespace} filter={text} />
    </>
  );
}
