package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// runtimeCapabilities are those that container runtimes leave to a container
// that asks for nothing.
var runtimeCapabilities = strings.Fields("chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap")

// ids is the user and group that the container runs as.
func (c *container) ids() (uid, gid int64) {
	if s := c.r.newest().Spec.SecurityContext; s != nil {
		uid, gid = *orDefault(s.RunAsUser, uid), *orDefault(s.RunAsGroup, gid)
	}
	if s := c.spec.SecurityContext; s != nil {
		uid, gid = *orDefault(s.RunAsUser, uid), *orDefault(s.RunAsGroup, gid)
	}
	return uid, gid
}

// setpriv is the command line that gives up what the container must not have.
func (c *container) setpriv() ([]string, error) {
	uid, gid := c.ids()
	if c.mustNotBeRoot() && uid == 0 {
		return nil, errors.New("container has runAsNonRoot and image will run as root")
	}
	args := []string{"setpriv", fmt.Sprintf("--reuid=%d", uid), fmt.Sprintf("--regid=%d", gid), "--inh-caps=-all"}
	if groups := c.groups(); len(groups) > 0 {
		args = append(args, "--groups="+strings.Join(groups, ","))
	} else {
		args = append(args, "--clear-groups")
	}
	s := c.spec.SecurityContext
	if s != nil && s.Privileged != nil && *s.Privileged {
		return append(args, "--"), nil
	}
	bounding := "-all"
	for _, name := range c.capabilities() {
		bounding += ",+" + name
	}
	args = append(args, "--bounding-set="+bounding)
	if s != nil && s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		args = append(args, "--no-new-privs")
	}
	return append(args, "--"), nil
}

func (c *container) mustNotBeRoot() bool {
	must := false
	if s := c.r.newest().Spec.SecurityContext; s != nil {
		must = *orDefault(s.RunAsNonRoot, must)
	}
	if s := c.spec.SecurityContext; s != nil {
		must = *orDefault(s.RunAsNonRoot, must)
	}
	return must
}

func (c *container) groups() (groups []string) {
	s := c.r.newest().Spec.SecurityContext
	if s == nil {
		return nil
	}
	if s.FSGroup != nil {
		groups = append(groups, fmt.Sprint(*s.FSGroup))
	}
	for _, g := range s.SupplementalGroups {
		groups = append(groups, fmt.Sprint(g))
	}
	return groups
}

func (c *container) capabilities() []string {
	have := map[string]bool{}
	for _, name := range runtimeCapabilities {
		have[name] = true
	}
	if s := c.spec.SecurityContext; s != nil && s.Capabilities != nil {
		for _, drop := range s.Capabilities.Drop {
			if drop == "ALL" {
				clear(have)
			}
			delete(have, capabilityName(drop))
		}
		for _, add := range s.Capabilities.Add {
			have[capabilityName(add)] = true
		}
	}
	return slices.Sorted(maps.Keys(have))
}

func capabilityName(c corev1.Capability) string {
	return strings.TrimPrefix(strings.ToLower(string(c)), "cap_")
}
