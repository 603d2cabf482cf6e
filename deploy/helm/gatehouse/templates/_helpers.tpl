{{- define "gatehouse.fullname" -}}
{{- if contains "gatehouse" .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-gatehouse" .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* of a dictionary with `root` and `component` */}}
{{- define "gatehouse.component" -}}
{{ printf "%s-%s" (include "gatehouse.fullname" .root) (kebabcase .component) }}
{{- end -}}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ kebabcase .component }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "gatehouse.policiesConfigMap" -}}
{{ .Values.policies.existingConfigMap | default (printf "%s-policies" (include "gatehouse.fullname" .)) }}
{{- end -}}

{{- define "gatehouse.hasPolicies" -}}
{{- if or .Values.policies.files .Values.policies.existingConfigMap -}}true{{- end -}}
{{- end -}}

{{/* whether a gateway or decision service syncs with a control plane */}}
{{- define "gatehouse.controlPlaneUrl" -}}
{{- if .Values.controlPlane.enabled -}}
{{ ternary "https" "http" (ne .Values.controlPlane.tls.secretName "") }}://{{ include "gatehouse.component" (dict "root" . "component" "controlPlane") }}.{{ .Release.Namespace }}.svc:{{ .Values.controlPlane.service.port }}
{{- else -}}
{{ dig "control_plane" "url" "" .Values.config }}
{{- end -}}
{{- end -}}

{{/* gateway.yaml of a component: what the chart decides is put over `config` */}}
{{- define "gatehouse.config" -}}
{{- $v := .root.Values -}}
{{- $own := dict -}}
{{- if include "gatehouse.hasPolicies" .root -}}
{{- $_ := set $own "policies" (dict "directory" "/etc/gatehouse/policies") -}}
{{- end -}}
{{- if eq .component "controlPlane" -}}
{{- $api := dict "listen_address" "0.0.0.0" "port" 8080 "public_url" $v.controlPlane.publicUrl "environments" (list "production") -}}
{{- if $v.controlPlane.sandbox.enabled -}}
{{- $_ := set $api "environments" (list "production" "sandbox") -}}
{{- $_ := set $api "sandbox_port" 8081 -}}
{{- $_ := set $api "sandbox_public_url" $v.controlPlane.sandbox.publicUrl -}}
{{- end -}}
{{- if $v.controlPlane.tls.secretName -}}
{{- $_ := set $api "tls" (dict "certificate" "/etc/gatehouse/tls/tls.crt" "private_key" "/etc/gatehouse/tls/tls.key") -}}
{{- end -}}
{{- $_ := set $own "api" $api -}}
{{- $_ := set $own "telemetry" (dict "listen_address" (ternary "0.0.0.0" "127.0.0.1" $v.controlPlane.metrics) "control_plane_port" 9091) -}}
{{- else -}}
{{- /* the kubelet's probes come to the address of the pod */ -}}
{{- $_ := set $own "telemetry" (dict "listen_address" "0.0.0.0" "port" 9090) -}}
{{- if include "gatehouse.controlPlaneUrl" .root -}}
{{- $_ := set $own "control_plane" (dict "url" (include "gatehouse.controlPlaneUrl" .root) "api_key_file" "/etc/gatehouse/control-plane/key") -}}
{{- if eq (dig "audit" "destination" "" $v.config) "control_plane" -}}
{{- $_ := set $own "audit" (dict "spool_directory" "/var/lib/gatehouse/spool") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .component "gateway" -}}
{{- $gateway := dict "listen_address" "0.0.0.0" "listen_port" 8000 "backend" $v.gateway.backend -}}
{{- if $v.gateway.tls.secretName -}}
{{- $_ := set $gateway "security" (dict "tls_certificate" "/etc/gatehouse/tls/tls.crt" "tls_private_key" "/etc/gatehouse/tls/tls.key") -}}
{{- end -}}
{{- $_ := set $own "gateway" $gateway -}}
{{- else if eq .component "authz" -}}
{{- /* one worker per pod: a Service has one port for all, and more pods take more checks */ -}}
{{- $_ := set $own "gateway" (dict "cluster" (dict "nodes" 1)) -}}
{{- $authz := dict "listen" "0.0.0.0:9191" -}}
{{- if $v.authz.http.callers -}}
{{- $_ := set $authz "http_listen" "0.0.0.0:9292" -}}
{{- $_ := set $authz "http_callers" $v.authz.http.callers -}}
{{- end -}}
{{- if $v.authz.tls.secretName -}}
{{- $tls := dict "certificate" "/etc/gatehouse/tls/tls.crt" "private_key" "/etc/gatehouse/tls/tls.key" -}}
{{- if $v.authz.tls.clientCa -}}
{{- $_ := set $tls "client_ca" "/etc/gatehouse/tls/ca.crt" -}}
{{- end -}}
{{- $_ := set $authz "tls" $tls -}}
{{- end -}}
{{- $_ := set $own "authz" $authz -}}
{{- end -}}
{{- $config := $v.config -}}
{{- if eq .component "controlPlane" -}}
{{- /* sections of gateways: some need a control plane that they report to */ -}}
{{- $config = omit $config "gateway" "identity" "authz" "audit" "rollout" "control_plane" "attribute_sources" -}}
{{- end -}}
{{- toYaml (mergeOverwrite (deepCopy $config) $own) -}}
{{- end -}}

{{/* its `rollout` is followed without a restart: all else needs new pods */}}
{{- define "gatehouse.configChecksum" -}}
{{- omit (include "gatehouse.config" . | fromYaml) "rollout" | toYaml | sha256sum -}}
{{- end -}}

{{- define "gatehouse.secretEnv" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret.name }}
      key: {{ .secret.key }}
{{- end -}}
