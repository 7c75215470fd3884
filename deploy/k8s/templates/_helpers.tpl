{{- define "apimesh.etcd" -}}
{{- $servers := .Values.etcdServers | default "https://store:2379" -}}
- --etcd-servers={{ $servers }}
- --etcd-cafile=/pki/etcd-ca.crt
- --etcd-certfile=/pki/etcd.crt
- --etcd-keyfile=/pki/etcd.key
{{- end -}}

{{- define "apimesh.mesh" -}}
- --mesh-ca-file=/pki/mesh-ca.crt
- --mesh-cert-file=/pki/mesh.crt
- --mesh-key-file=/pki/mesh.key
{{- end -}}

{{- define "apimesh.tokens" -}}
- --service-account-issuer=https://kubernetes.default.svc.cluster.local
- --service-account-key-file=/pki/sa.pub
- --authorization-mode={{ .Values.authorizationMode }}
- --client-ca-file=/pki/ca.crt
{{- end -}}

{{- define "apimesh.admission" -}}
- --enable-admission-plugins={{ .Values.enableAdmissionPlugins }}
{{- end -}}

{{/* The resources of a container. Arguments: root, name. */}}
{{- define "apimesh.resources" -}}
resources: {{ get .root.Values.processResources .name | default .root.Values.resources | toJson }}
{{- end -}}

{{/* Spreads the replicas of a process. Arguments: root, name. */}}
{{- define "apimesh.spread" -}}
{{- with .root.Values.topologySpread }}{{ if .enabled -}}
topologySpreadConstraints:
  - {{ dict "maxSkew" .maxSkew "topologyKey" .topologyKey "whenUnsatisfiable" .whenUnsatisfiable "labelSelector" (dict "matchLabels" (dict "app" $.name)) | toJson }}
{{- end }}{{ end }}
{{- end -}}

{{/* The names of all processes with replicas, separated by spaces. */}}
{{- define "apimesh.replicated" -}}
{{ range concat .Values.coreApi.shards .Values.shards }}{{ .name }} {{ end }}extensions-api authn-authz aggregator envoy
{{- end -}}

{{/* A Deployment and a headless Service, so that gRPC resolves every replica. Arguments: root, name, binary, replicas, port, args, probe, and
optionally config: a ConfigMap that is mounted at /config. */}}
{{- define "apimesh.process" -}}
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .name }}, labels: {app: {{ .name }}}}
spec:
  replicas: {{ .replicas }}
  selector: {matchLabels: {app: {{ .name }}}}
  template:
    metadata: {labels: {app: {{ .name }}}}
    spec:
      securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532}
      terminationGracePeriodSeconds: 60
      {{- include "apimesh.spread" . | nindent 6 }}
      containers:
        - name: {{ .name }}
          image: {{ .root.Values.image }}
          command: [{{ .binary }}]
          args:
            {{- .args | nindent 12 }}
          ports: [{containerPort: {{ .port }}}]
          readinessProbe: {{ .probe }}
          {{- include "apimesh.resources" . | nindent 10 }}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
          volumeMounts:
            - {name: pki, mountPath: /pki, readOnly: true}
            {{- with .config }}
            - {name: config, mountPath: /config, readOnly: true}
            {{- end }}
      volumes:
        {{- with .config }}
        - {name: config, configMap: {name: {{ . }}}}
        {{- end }}
        - name: pki
          {{- include "apimesh.pki" . | nindent 10 }}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .name }}}
spec: {clusterIP: None, selector: {app: {{ .name }}}, ports: [{port: {{ .port }}}]}
---
{{ end -}}

{{/*
The source of the volume /pki: a Secret of `apimesh pki`, or the Secrets of cert-manager under the names that the flags use. Arguments: root, binary.
The last Secret is that of an external etcd.
*/}}
{{- define "apimesh.pki" -}}
{{- $sources := list }}
{{- if .root.Values.certManager.enabled }}
{{- $pair := dict "mesh" (list .binary "mesh-ca" "mesh") "etcd" (list .binary "etcd-ca" "etcd") "apiserver" (list "apiserver" "ca" "apiserver") "front-proxy-client" (list "front-proxy-client" "front-proxy-ca" "front-proxy-client") }}
{{- range get (include "apimesh.certificates" . | fromYaml) .binary }}
{{- $names := get $pair . }}
{{- $secret := ternary (printf "apimesh-%s-%s" . $.binary) (printf "apimesh-%s" .) (has . (list "mesh" "etcd")) }}
{{- if not (and (eq . "etcd") $.root.Values.etcdSecret) }}
{{- $sources = append $sources (include "apimesh.keyPair" (list $secret (index $names 1) (index $names 2)) | fromYaml) }}
{{- end }}
{{- end }}
{{- range get (include "apimesh.authorities" . | fromYaml) .binary | default list }}
{{- $sources = append $sources (dict "secret" (dict "name" (printf "apimesh-%s" .) "items" (list (dict "key" "tls.crt" "path" (printf "%s.crt" .))))) }}
{{- end }}
{{- if has .binary (list "core-api" "authn-authz") }}
{{- $items := list (dict "key" "tls.crt" "path" "sa.pub") }}
{{- if eq .binary "core-api" }}{{ $items = append $items (dict "key" "tls.key" "path" "sa.key") }}{{ end }}
{{- $sources = append $sources (dict "secret" (dict "name" "apimesh-service-account" "items" $items)) }}
{{- end }}
{{- else if and .root.Values.etcdSecret (has .binary (list "core-api" "extensions-api" "aggregator")) }}
{{- $sources = append $sources (dict "secret" (dict "name" (printf "apimesh-pki-%s" .binary))) }}
{{- end }}
{{- if and .root.Values.etcdSecret (has .binary (list "core-api" "extensions-api" "aggregator")) }}
{{- $sources = append $sources (include "apimesh.keyPair" (list .root.Values.etcdSecret "etcd-ca" "etcd") | fromYaml) }}
{{- end }}
{{- if $sources -}}
projected: {{ dict "defaultMode" 288 "sources" $sources | toJson }}
{{- else -}}
secret: {secretName: apimesh-pki-{{ .binary }}, defaultMode: 288}
{{- end }}
{{- end -}}

{{/* A Secret of cert-manager as files AUTHORITY.crt, NAME.crt and NAME.key. Arguments: secret, authority, name. */}}
{{- define "apimesh.keyPair" -}}
secret:
  name: {{ index . 0 }}
  items:
    - {key: ca.crt, path: {{ index . 1 }}.crt}
    - {key: tls.crt, path: {{ index . 2 }}.crt}
    - {key: tls.key, path: {{ index . 2 }}.key}
{{- end -}}

{{/* The certificates that each process has, as in services/launcher/pki/mesh_pki.cc. */}}
{{- define "apimesh.certificates" -}}
aggregator: [mesh, etcd, apiserver, front-proxy-client]
core-api: [mesh, etcd]
extensions-api: [mesh, etcd]
authn-authz: [mesh]
envoy: [mesh, apiserver]
store: [etcd]
{{- end -}}

{{/* The authorities without a certificate of their own in the volume of a process. */}}
{{- define "apimesh.authorities" -}}
core-api: [ca, front-proxy-ca]
authn-authz: [ca, front-proxy-ca]
{{- end -}}

{{/* The end of the spec of a Certificate. Arguments: root, issuer. */}}
{{- define "apimesh.certificate" -}}
duration: {{ .root.Values.certManager.duration }}
renewBefore: {{ .root.Values.certManager.renewBefore }}
privateKey: {algorithm: ECDSA, size: 256, rotationPolicy: Always}
issuerRef: {name: apimesh-{{ .issuer }}}
{{- end -}}
