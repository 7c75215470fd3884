import { discover, type Resource } from "../../api/discovery";
import { useLoaded, type Loaded } from "../../ui/use";

let cached: Promise<Resource[]> | undefined;

/** The resources of the API server. They are read again when a page asks for one that is not known. */
export function useResources(): Loaded<Resource[]> {
  return useLoaded(() => resources(), []);
}

export function resources(again = false): Promise<Resource[]> {
  if (!cached || again) {
    cached = discover();
    cached.catch(() => (cached = undefined));
  }
  return cached;
}

export async function findResource(group: string, plural: string): Promise<Resource | undefined> {
  const match = (all: Resource[]) => all.find((one) => one.group === group && one.plural === plural);
  return match(await resources()) ?? match(await resources(true));
}

export async function findKind(apiVersion: string, kind: string): Promise<Resource | undefined> {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0]! : "";
  const match = (all: Resource[]) => all.find((one) => one.group === group && one.kind === kind && !one.plural.includes("/"));
  return match(await resources()) ?? match(await resources(true));
}
