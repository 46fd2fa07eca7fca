package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// environment resolves the container's env as of now: a restarted container
// sees what Secrets have become.
func (c *container) environment() (map[string]string, error) {
	p := c.r.p
	env := map[string]string{
		"KUBERNETES_SERVICE_HOST": p.apiHost, "KUBERNETES_SERVICE_PORT": p.apiPort, "KUBERNETES_SERVICE_PORT_HTTPS": p.apiPort,
	}
	for _, from := range c.spec.EnvFrom {
		data, err := c.r.envSource(from)
		if err != nil {
			return nil, err
		}
		for k, v := range data {
			env[from.Prefix+k] = string(v)
		}
	}
	for _, e := range c.spec.Env {
		v, ok, err := c.r.envValue(e)
		if err != nil {
			return nil, fmt.Errorf("env %s: %w", e.Name, err)
		}
		if ok {
			env[e.Name] = expansion.Expand(v, expansion.MappingFuncFor(env))
		}
	}
	return env, nil
}

func (r *runner) envSource(from corev1.EnvFromSource) (map[string][]byte, error) {
	switch {
	case from.SecretRef != nil:
		data, _, err := r.data(source{"Secret", r.newest().Namespace, from.SecretRef.Name}, from.SecretRef.Optional)
		return data, err
	case from.ConfigMapRef != nil:
		data, _, err := r.data(source{"ConfigMap", r.newest().Namespace, from.ConfigMapRef.Name}, from.ConfigMapRef.Optional)
		return data, err
	}
	return nil, nil
}

// envValue reports false for a variable whose optional source is not there.
func (r *runner) envValue(e corev1.EnvVar) (string, bool, error) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return e.Value, true, nil
	case from.FieldRef != nil:
		return r.field(from.FieldRef.FieldPath), true, nil
	case from.SecretKeyRef != nil:
		k := from.SecretKeyRef
		return r.keyOf(source{"Secret", r.newest().Namespace, k.Name}, k.Key, k.Optional)
	case from.ConfigMapKeyRef != nil:
		k := from.ConfigMapKeyRef
		return r.keyOf(source{"ConfigMap", r.newest().Namespace, k.Name}, k.Key, k.Optional)
	}
	return "", false, fmt.Errorf("this kind of valueFrom is not known here")
}

func (r *runner) keyOf(s source, key string, optional *bool) (string, bool, error) {
	data, ok, err := r.data(s, optional)
	if err != nil || !ok {
		return "", false, err
	}
	v, ok := data[key]
	if !ok && (optional == nil || !*optional) {
		return "", false, fmt.Errorf("%s %s has no key %s", s.kind, s.name, key)
	}
	return string(v), ok, nil
}

// data reads a Secret or ConfigMap; false means that it is optional and not there.
func (r *runner) data(s source, optional *bool) (map[string][]byte, bool, error) {
	data, err := r.p.read(r.ctx, s)
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil, false, nil
	}
	return data, err == nil, err
}

// field is the downward API.
func (r *runner) field(path string) string {
	pod := r.newest()
	fields := map[string]string{
		"metadata.name": pod.Name, "metadata.namespace": pod.Namespace, "metadata.uid": string(pod.UID),
		"spec.nodeName": r.p.node, "spec.serviceAccountName": pod.Spec.ServiceAccountName,
		"status.podIP": r.ip, "status.podIPs": r.ip, "status.hostIP": r.p.host, "status.hostIPs": r.p.host,
		"metadata.labels": mapFile(pod.Labels), "metadata.annotations": mapFile(pod.Annotations),
	}
	if v, ok := fields[path]; ok {
		return v
	}
	kind, key, _ := strings.Cut(strings.TrimSuffix(path, "']"), "['")
	switch kind {
	case "metadata.labels":
		return pod.Labels[key]
	case "metadata.annotations":
		return pod.Annotations[key]
	}
	return ""
}

// mapFile is a map as the downward API writes it into a file.
func mapFile(m map[string]string) string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, fmt.Sprintf("%s=%q", k, m[k]))
	}
	return strings.Join(lines, "\n")
}
