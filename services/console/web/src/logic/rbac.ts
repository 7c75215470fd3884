export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface Role {
  metadata: { name: string; namespace?: string };
  rules?: PolicyRule[] | null;
}

export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

export interface Binding {
  kind?: string;
  metadata: { name: string; namespace?: string };
  roleRef: { kind: string; name: string };
  subjects?: Subject[] | null;
}

export interface Question {
  verb: string;
  group: string;
  resource: string; // "pods", "pods/log"
  namespace: string; // "" is all namespaces
  name: string;
}

/** A subject that may do what was asked, with the binding and the role that permit it. */
export interface Grant {
  subject: Subject;
  binding: Binding;
  role: Role;
  wide: boolean; // in all namespaces
}

/** The same decision as that of the RBAC authorizer. */
export function allows(rule: PolicyRule, question: Question): boolean {
  const has = (list: string[] | undefined, value: string) => (list ?? []).some((one) => one === "*" || one === value);
  const subresource = question.resource.split("/")[1];
  const resource = has(rule.resources, question.resource) || (subresource !== undefined && (rule.resources ?? []).includes(`*/${subresource}`));
  const name = (rule.resourceNames ?? []).length === 0 || (question.name !== "" && rule.resourceNames!.includes(question.name));
  return has(rule.verbs, question.verb) && has(rule.apiGroups, question.group) && resource && name;
}

/** Who may do it: a question about a namespace counts the bindings of that namespace and of the cluster. */
export function whoCan(question: Question, roles: Role[], bindings: Binding[]): Grant[] {
  const key = (kind: string, name: string, namespace: string | undefined) => `${kind}/${kind === "Role" ? namespace : ""}/${name}`;
  const byName = new Map(roles.map((role) => [key(role.metadata.namespace ? "Role" : "ClusterRole", role.metadata.name, role.metadata.namespace), role]));
  const grants: Grant[] = [];
  for (const binding of bindings) {
    const namespace = binding.metadata.namespace;
    if (namespace && namespace !== question.namespace) continue;
    const role = byName.get(key(binding.roleRef.kind, binding.roleRef.name, namespace));
    if (!role?.rules?.some((rule) => allows(rule, question))) continue;
    for (const subject of binding.subjects ?? []) grants.push({ subject, binding, role, wide: !namespace });
  }
  return grants.sort((one, other) => one.subject.kind.localeCompare(other.subject.kind) || one.subject.name.localeCompare(other.subject.name));
}

/** The name of a subject as the authorizer knows it. */
export function userOf(subject: Subject): string {
  return subject.kind === "ServiceAccount" ? `system:serviceaccount:${subject.namespace}:${subject.name}` : subject.name;
}
