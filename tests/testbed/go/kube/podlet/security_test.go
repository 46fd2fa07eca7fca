package main

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func withSecurity(pod *corev1.PodSecurityContext, c *corev1.SecurityContext) *container {
	r := &runner{pod: &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: pod}}}
	return &container{r: r, spec: &corev1.Container{SecurityContext: c}}
}

func of[T any](v T) *T { return &v }

func TestARestrictedContainerKeepsNothing(t *testing.T) {
	c := withSecurity(
		&corev1.PodSecurityContext{RunAsNonRoot: of(true), RunAsUser: of(int64(65532)), RunAsGroup: of(int64(65532)), FSGroup: of(int64(7))},
		&corev1.SecurityContext{AllowPrivilegeEscalation: of(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}})
	args, err := c.setpriv()
	if err != nil {
		t.Fatal(err)
	}
	want := "setpriv --reuid=65532 --regid=65532 --inh-caps=-all --groups=7 --bounding-set=-all --no-new-privs --"
	if got := strings.Join(args, " "); got != want {
		t.Fatalf("got %s", got)
	}
}

func TestACapabilityThatIsAskedForIsKept(t *testing.T) {
	c := withSecurity(nil, &corev1.SecurityContext{Capabilities: &corev1.Capabilities{
		Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_ADMIN", "CAP_NET_RAW"},
	}})
	if got := c.capabilities(); !slices.Equal(got, []string{"net_admin", "net_raw"}) {
		t.Fatalf("got %v", got)
	}
}

func TestTheContainerWinsOverThePod(t *testing.T) {
	c := withSecurity(&corev1.PodSecurityContext{RunAsUser: of(int64(1)), RunAsGroup: of(int64(2))}, &corev1.SecurityContext{RunAsUser: of(int64(3))})
	if uid, gid := c.ids(); uid != 3 || gid != 2 {
		t.Fatalf("got %d:%d", uid, gid)
	}
}

func TestRunAsNonRootRefusesRoot(t *testing.T) {
	c := withSecurity(&corev1.PodSecurityContext{RunAsNonRoot: of(true)}, nil)
	if _, err := c.setpriv(); err == nil {
		t.Fatal("it would run as root")
	}
}

func TestAPrivilegedContainerKeepsAll(t *testing.T) {
	args, err := withSecurity(nil, &corev1.SecurityContext{Privileged: of(true)}).setpriv()
	if err != nil || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--bounding-set") }) {
		t.Fatalf("%v %v", args, err)
	}
}
