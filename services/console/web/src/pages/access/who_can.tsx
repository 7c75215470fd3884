import { useState } from "preact/hooks";
import { ApiError, getJson, post } from "../../api/client";
import { userOf, whoCan, type Binding, type Grant, type Question, type Role } from "../../logic/rbac";
import { Empty, Loading, Problem } from "../../ui/states";
import { href } from "../../router";
import { attributesOf, type AccessReview } from "./can_i";
import { QuestionForm } from "./question";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

interface Result {
  question: Question;
  grants?: Grant[];
  error?: unknown;
}

/** Answers from the RBAC objects who may do something, and asks the authorizers about each subject on demand. */
export function WhoCan() {
  const [result, setResult] = useState<Result>();
  const [busy, setBusy] = useState(false);
  const ask = async (question: Question) => {
    setBusy(true);
    try {
      const { roles, bindings } = await readRbac(question.namespace);
      setResult({ question, grants: whoCan(question, roles, bindings) });
    } catch (error) {
      setResult({ question, error });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <QuestionForm initial={{ verb: "delete", group: "", resource: "secrets", namespace: "", name: "" }} submit={(question) => void ask(question)} label="Find" />
      {busy && <Loading what="roles and bindings" />}
      {result?.error !== undefined && <Problem error={result.error} needs="list on roles, rolebindings, clusterroles and clusterrolebindings" />}
      {result?.grants && <Grants question={result.question} grants={result.grants} />}
    </>
  );
}

async function readRbac(namespace: string): Promise<{ roles: Role[]; bindings: Binding[] }> {
  const items = async <T,>(path: string) => (await getJson<{ items?: T[] }>(`${RBAC}${path}`)).items ?? [];
  const inNamespace = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : undefined;
  const [clusterRoles, clusterBindings, roles, bindings] = await Promise.all([
    items<Role>("/clusterroles"),
    items<Binding>("/clusterrolebindings"),
    inNamespace ? items<Role>(`${inNamespace}/roles`) : [],
    inNamespace ? items<Binding>(`${inNamespace}/rolebindings`) : [],
  ]);
  return { roles: [...clusterRoles, ...roles], bindings: [...clusterBindings, ...bindings] };
}

function Grants({ question, grants }: { question: Question; grants: Grant[] }) {
  const scope = question.namespace ? `in ${question.namespace}` : "in all namespaces";
  if (grants.length === 0) return <Empty title={`RBAC permits nobody to ${question.verb} ${question.resource} ${scope}`}>Members of system:masters may do everything, and other authorizers may permit more.</Empty>;
  return (
    <>
      <p class="muted" role="status">
        {grants.length} {grants.length === 1 ? "subject" : "subjects"} may {question.verb} {question.resource} {scope}. Members of system:masters may do everything; other authorizers are not counted.
      </p>
      <div class="scroll" tabIndex={0}>
        <table class="plain">
          <thead>
            <tr>
              <th>Subject</th>
              <th>Binding</th>
              <th>Role</th>
              <th>Check</th>
            </tr>
          </thead>
          <tbody>
            {grants.map((grant, index) => (
              <tr key={index}>
                <td>
                  <span class="badge quiet">{grant.subject.kind}</span> {grant.subject.namespace && `${grant.subject.namespace}/`}
                  {grant.subject.name}
                </td>
                <td>
                  <a href={rbacHref(grant.wide ? "clusterrolebindings" : "rolebindings", grant.binding.metadata)}>{grant.binding.metadata.name}</a>
                </td>
                <td>
                  <a href={rbacHref(grant.role.metadata.namespace ? "roles" : "clusterroles", grant.role.metadata)}>{grant.role.metadata.name}</a>
                </td>
                <td>
                  <Check question={question} grant={grant} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Asks all authorizers by a SubjectAccessReview. */
function Check({ question, grant }: { question: Question; grant: Grant }) {
  const [answer, setAnswer] = useState("");
  const ask = async () => {
    const who = grant.subject.kind === "Group" ? { groups: [grant.subject.name] } : { user: userOf(grant.subject) };
    try {
      const review = await post<AccessReview>("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { ...who, resourceAttributes: attributesOf(question) },
      });
      setAnswer(review.status.allowed ? "allowed" : "not allowed");
    } catch (error) {
      setAnswer(error instanceof ApiError && error.code === 403 ? "needs create on subjectaccessreviews" : (error as Error).message);
    }
  };
  if (answer) return <span role="status">{answer}</span>;
  return (
    <button type="button" class="small" onClick={() => void ask()}>
      Ask the authorizers
    </button>
  );
}

function rbacHref(plural: string, metadata: { name: string; namespace?: string }): string {
  return href("object", ["rbac.authorization.k8s.io", plural, metadata.namespace ?? "-", metadata.name]);
}
