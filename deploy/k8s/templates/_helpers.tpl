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
          secret: {secretName: apimesh-pki-{{ .binary }}, defaultMode: 288}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .name }}}
spec: {clusterIP: None, selector: {app: {{ .name }}}, ports: [{port: {{ .port }}}]}
---
{{ end -}}
