package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// source is a Secret or ConfigMap.
type source struct{ kind, namespace, name string }

// read gets it from the API server, not from a cache: an annotation may be
// seen before the Secret that it announces.
func (p *podlet) read(ctx context.Context, s source) (map[string][]byte, error) {
	if s.kind == "Secret" {
		secret, err := p.client.CoreV1().Secrets(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return secret.Data, nil
	}
	m, err := p.client.CoreV1().ConfigMaps(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{}
	for k, v := range m.Data {
		data[k] = []byte(v)
	}
	for k, v := range m.BinaryData {
		data[k] = v
	}
	return data, nil
}

// projections lists the sources of a volume that is made of API objects, as a
// projected volume has them, and the files' mode; nil for other volumes.
func projections(v *corev1.Volume) (list []corev1.VolumeProjection, mode *int32) {
	switch {
	case v.Secret != nil:
		s := v.Secret
		p := &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: s.SecretName}, Items: s.Items, Optional: s.Optional}
		return []corev1.VolumeProjection{{Secret: p}}, s.DefaultMode
	case v.ConfigMap != nil:
		m := v.ConfigMap
		p := &corev1.ConfigMapProjection{LocalObjectReference: m.LocalObjectReference, Items: m.Items, Optional: m.Optional}
		return []corev1.VolumeProjection{{ConfigMap: p}}, m.DefaultMode
	case v.DownwardAPI != nil:
		return []corev1.VolumeProjection{{DownwardAPI: &corev1.DownwardAPIProjection{Items: v.DownwardAPI.Items}}}, v.DownwardAPI.DefaultMode
	case v.Projected != nil:
		return v.Projected.Sources, v.Projected.DefaultMode
	}
	return nil, nil
}

// volumeSources lists the Secrets and ConfigMaps that the pod's volumes show.
func volumeSources(pod *corev1.Pod) (all []source) {
	for i := range pod.Spec.Volumes {
		list, _ := projections(&pod.Spec.Volumes[i])
		for _, p := range list {
			if p.Secret != nil {
				all = append(all, source{"Secret", pod.Namespace, p.Secret.Name})
			}
			if p.ConfigMap != nil {
				all = append(all, source{"ConfigMap", pod.Namespace, p.ConfigMap.Name})
			}
		}
	}
	return all
}

func (r *runner) volume(name string) *corev1.Volume {
	pod := r.newest()
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == name {
			return &pod.Spec.Volumes[i]
		}
	}
	return nil
}

func (r *runner) volumePath(name string) string {
	if v := r.volume(name); v != nil && v.HostPath != nil {
		return v.HostPath.Path
	}
	return filepath.Join(r.dir, "volumes", name)
}

// readOnlyVolume: what shows API objects can't be written by containers.
func (r *runner) readOnlyVolume(name string) bool {
	v := r.volume(name)
	if v == nil {
		return false
	}
	list, _ := projections(v)
	return list != nil
}

// refreshVolumes lays the volumes anew whenever something may have changed.
func (r *runner) refreshVolumes() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.refresh:
		}
		if err := r.layVolumes(); err != nil {
			r.setTrouble("refresh volumes", err)
			time.AfterFunc(retry, r.refreshSoon)
			continue
		}
		r.setTrouble("", nil)
	}
}

func (r *runner) layVolumes() error {
	pod := r.newest()
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.HostPath != nil {
			continue
		}
		if err := r.layVolume(v); err != nil {
			return fmt.Errorf("volume %s: %w", v.Name, err)
		}
	}
	return nil
}

func (r *runner) layVolume(v *corev1.Volume) error {
	dir := r.volumePath(v.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	list, mode := projections(v)
	if list == nil {
		// An emptyDir, or what is not known here and so is empty.
		if g := r.fsGroup(); g != nil {
			if err := os.Chown(dir, -1, int(*g)); err != nil {
				return err
			}
		}
		return os.Chmod(dir, 0o777|os.ModeSetgid)
	}
	files := payload{}
	for _, p := range list {
		if err := r.project(p, os.FileMode(*orDefault(mode, 0o644)), files); err != nil {
			return err
		}
	}
	return writeAtomically(dir, files, r.fsGroup())
}

func (r *runner) fsGroup() *int64 {
	if s := r.newest().Spec.SecurityContext; s != nil {
		return s.FSGroup
	}
	return nil
}

func (r *runner) project(p corev1.VolumeProjection, mode os.FileMode, into payload) error {
	namespace := r.newest().Namespace
	switch {
	case p.Secret != nil:
		return r.projectData(source{"Secret", namespace, p.Secret.Name}, p.Secret.Items, p.Secret.Optional, func(path string, m *int32, b []byte) { into.put(path, b, m, mode) })
	case p.ConfigMap != nil:
		return r.projectData(source{"ConfigMap", namespace, p.ConfigMap.Name}, p.ConfigMap.Items, p.ConfigMap.Optional, func(path string, m *int32, b []byte) { into.put(path, b, m, mode) })
	case p.DownwardAPI != nil:
		for _, f := range p.DownwardAPI.Items {
			if f.FieldRef != nil {
				into.put(f.Path, []byte(r.field(f.FieldRef.FieldPath)), f.Mode, mode)
			}
		}
	case p.ServiceAccountToken != nil:
		text, err := r.token(p.ServiceAccountToken)
		if err != nil {
			return err
		}
		into.put(p.ServiceAccountToken.Path, []byte(text), nil, mode)
	}
	return nil
}

func (r *runner) projectData(s source, items []corev1.KeyToPath, optional *bool, put func(path string, mode *int32, b []byte)) error {
	data, ok, err := r.data(s, optional)
	if err != nil || !ok {
		return err
	}
	if len(items) == 0 {
		for k, b := range data {
			put(k, nil, b)
		}
		return nil
	}
	for _, it := range items {
		b, ok := data[it.Key]
		if ok {
			put(it.Path, it.Mode, b)
		} else if optional == nil || !*optional {
			return fmt.Errorf("%s %s has no key %s", s.kind, s.name, it.Key)
		}
	}
	return nil
}

// token is a service account token and when to get the next one.
type token struct {
	text  string
	renew time.Time
}

func (r *runner) token(t *corev1.ServiceAccountTokenProjection) (string, error) {
	if have, ok := r.tokens[t.Path]; ok && time.Now().Before(have.renew) {
		return have.text, nil
	}
	pod := r.newest()
	req := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{
		ExpirationSeconds: t.ExpirationSeconds,
		BoundObjectRef:    &authv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	if t.Audience != "" {
		req.Spec.Audiences = []string{t.Audience}
	}
	got, err := r.p.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(r.ctx, pod.Spec.ServiceAccountName, req, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	life := time.Until(got.Status.ExpirationTimestamp.Time)
	r.tokens[t.Path] = token{got.Status.Token, time.Now().Add(life * 8 / 10)}
	time.AfterFunc(life*8/10, r.refreshSoon)
	return got.Status.Token, nil
}
