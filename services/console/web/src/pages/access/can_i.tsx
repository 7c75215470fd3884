import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { Question } from "../../logic/rbac";
import { Problem } from "../../ui/states";
import { QuestionForm } from "./question";

export interface AccessReview {
  status: { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string };
}

export function attributesOf(question: Question) {
  const [resource, subresource] = question.resource.split("/");
  return { verb: question.verb, group: question.group, resource, subresource, namespace: question.namespace, name: question.name };
}

export function CanI() {
  const [result, setResult] = useState<{ question: Question; review?: AccessReview; error?: unknown }>();
  const ask = async (question: Question) => {
    try {
      const review = await post<AccessReview>("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: attributesOf(question) },
      });
      setResult({ question, review });
    } catch (error) {
      setResult({ question, error });
    }
  };
  return (
    <>
      <QuestionForm initial={{ verb: "create", group: "apps", resource: "deployments", namespace: "default", name: "" }} submit={(question) => void ask(question)} label="Ask" />
      {result?.error !== undefined && <Problem error={result.error} />}
      {result?.review && (
        <div class={`verdict ${result.review.status.allowed ? "yes" : "no"}`} role="status">
          <strong>{result.review.status.allowed ? "Yes" : "No"}</strong>
          <p class="wrap">{result.review.status.reason || (result.review.status.allowed ? "An authorizer permits it." : "No authorizer permits it.")}</p>
          {result.review.status.evaluationError && <p class="muted wrap">{result.review.status.evaluationError}</p>}
        </div>
      )}
    </>
  );
}
