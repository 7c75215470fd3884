import { formatAge } from "../../logic/format";
import { fieldTree, type FieldNode, type ManagedFields } from "../../logic/yaml";
import { Empty } from "../../ui/states";
import { useNow } from "../../ui/use";

/** Who has set which fields. */
export function Fields({ entries }: { entries: ManagedFields[] }) {
  const now = useNow(10000);
  if (entries.length === 0) return <Empty title="No managed fields">The server records who sets a field when the object is written.</Empty>;
  return (
    <>
      {entries.map((entry, index) => (
        <section key={index} class="card">
          <h2>
            {entry.manager} <span class="badge">{entry.operation}</span>
            {entry.subresource && <span class="badge">{entry.subresource}</span>}
          </h2>
          <p class="muted">
            {entry.apiVersion}, {formatAge(entry.time, now)} ago
          </p>
          <Tree nodes={fieldTree(entry.fieldsV1)} />
        </section>
      ))}
    </>
  );
}

function Tree({ nodes }: { nodes: FieldNode[] }) {
  return (
    <ul class="fields">
      {nodes.map((node) => (
        <li key={node.name}>
          <code>{node.name}</code>
          {node.children.length > 0 && <Tree nodes={node.children} />}
        </li>
      ))}
    </ul>
  );
}
