{{/* Labels by which the pod of the platform is found. */}}
{{- define "svc.selector" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/component: platform
{{- end }}

{{- define "svc.labels" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/component: platform
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* Rights of each container. Those of the pods of services are the same. */}}
{{- define "svc.security" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
{{- end }}

{{/* The image, and what every container of it has. */}}
{{- define "svc.container" -}}
image: {{ required "image: the image of svc, such as registry.example.com/svc@sha256:…" .Values.image }}
imagePullPolicy: IfNotPresent
# Load balancers learn within this time that the pod ends.
lifecycle:
  preStop:
    exec: { command: [sleep, '5'] }
securityContext:
  {{- include "svc.security" . | nindent 2 }}
{{- end }}

{{- define "svc.baseDomain" -}}
{{ required "baseDomain: the domain of derived hostnames, such as example.org" .Values.baseDomain }}
{{- end }}

{{/* Variables of the programs that verify access tokens. */}}
{{- define "svc.auth" -}}
- name: SVC_AUTH_ISSUER
  value: {{ required "auth.issuer: the URL of the identity provider" .Values.auth.issuer | quote }}
- name: SVC_AUTH_CLIENT_ID
  value: {{ .Values.auth.clientId | quote }}
- name: SVC_AUTH_AUDIENCE
  value: {{ .Values.auth.audience | default (printf "https://api.%s" (include "svc.baseDomain" .)) | quote }}
{{- end }}

{{/* Further variables, sorted. */}}
{{- define "svc.settings" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{/*
Where a program finds the URL of its database: in the file of a Secret. With CloudNativePG it names no authority of the server, which is in a
second Secret. Both are read for each connection. `cluster`: the database of CloudNativePG.
*/}}
{{- define "svc.databaseVariables" -}}
- name: SVC_DATABASE_URL_FILE
  value: /etc/svc/database/url
{{- if .root.Values.cloudNativePg.enabled }}
- name: SVC_DATABASE_AUTHORITIES_FILE
  value: /etc/svc/database/ca.crt
{{- end }}
{{- end }}

{{- define "svc.databaseVolume" -}}
- name: {{ .name }}
  {{- if .root.Values.cloudNativePg.enabled }}
  projected:
    sources:
      - secret: { name: {{ .cluster }}-app, items: [{ key: uri, path: url }] }
      - secret: { name: {{ .cluster }}-ca, items: [{ key: ca.crt, path: ca.crt }] }
    defaultMode: 0440
  {{- else }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
  {{- end }}
{{- end }}
