import { getJson } from "./client";

export interface Resource {
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  shortNames: string[];
  subresources: string[];
}

interface Discovery {
  items?: {
    metadata?: { name?: string };
    versions?: {
      version: string;
      resources?: {
        resource: string;
        scope: string;
        verbs: string[];
        shortNames?: string[];
        responseKind?: { kind: string };
        subresources?: { subresource: string }[];
      }[];
    }[];
  }[];
}

const ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The resources of all groups, each in its preferred version. */
export async function discover(): Promise<Resource[]> {
  const documents = await Promise.all(["/api", "/apis"].map((path) => getJson<Discovery>(path, { accept: ACCEPT })));
  return documents.flatMap(readDiscovery).sort((one, other) => one.plural.localeCompare(other.plural) || one.group.localeCompare(other.group));
}

export function readDiscovery(document: Discovery): Resource[] {
  const found = new Map<string, Resource>();
  for (const group of document.items ?? []) {
    const name = group.metadata?.name ?? "";
    for (const version of group.versions ?? []) {
      for (const entry of version.resources ?? []) {
        if (found.has(`${name}/${entry.resource}`)) continue; // an earlier version is preferred
        found.set(`${name}/${entry.resource}`, {
          group: name,
          version: version.version,
          plural: entry.resource,
          kind: entry.responseKind?.kind ?? entry.resource,
          namespaced: entry.scope === "Namespaced",
          verbs: entry.verbs,
          shortNames: entry.shortNames ?? [],
          subresources: (entry.subresources ?? []).map((one) => one.subresource),
        });
      }
    }
  }
  return [...found.values()];
}

/** The path of a collection or, with a name, of an object. */
export function pathOf(resource: Pick<Resource, "group" | "version" | "plural" | "namespaced">, namespace?: string, name?: string): string {
  const base = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const inNamespace = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${base}${inNamespace}/${resource.plural}${name ? `/${encodeURIComponent(name)}` : ""}`;
}

/** "deployments.apps" */
export function fullName(resource: Pick<Resource, "group" | "plural">): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}
