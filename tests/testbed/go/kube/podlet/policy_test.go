package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func podAt(namespace, app, ip string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "connect", ContainerPort: 1055}}}}},
		Status:     corev1.PodStatus{PodIP: ip, Phase: corev1.PodRunning},
	}
}

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func proxies(spec networkingv1.NetworkPolicySpec) cluster {
	spec.PodSelector = *selector("proxy")
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}, Spec: spec}
	return cluster{
		policies:   []*networkingv1.NetworkPolicy{policy},
		pods:       []*corev1.Pod{podAt("a", "proxy", "10.0.0.1"), podAt("b", "envoy", "10.0.0.2"), podAt("a", "envoy", "10.0.0.3")},
		namespaces: map[string]labels.Set{"a": {"name": "a"}, "b": {"name": "b"}},
	}
}

func TestOnlyTheSelectedPodsReachAnIsolatedOne(t *testing.T) {
	port := intstr.FromString("connect")
	c := proxies(networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{
		From: []networkingv1.NetworkPolicyPeer{{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "b"}}, PodSelector: selector("envoy"),
		}},
		Ports: []networkingv1.NetworkPolicyPort{{Port: &port}},
	}}})
	allowed, isolated := c.ingress(c.pods[0])
	if !isolated || strings.Join(allowed, ";") != "ip saddr 10.0.0.2 tcp dport 1055" {
		t.Fatalf("%v %q", isolated, allowed)
	}
	if _, isolated := c.ingress(c.pods[1]); isolated {
		t.Fatal("a pod that no policy selects is isolated")
	}
	if _, isolated := c.egress(c.pods[0]); isolated {
		t.Fatal("an ingress policy isolates egress")
	}
}

func TestEgressHasBlocksWithExceptionsAndRanges(t *testing.T) {
	udp, first, last := corev1.ProtocolUDP, intstr.FromInt32(100), int32(200)
	c := proxies(networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
		Egress: []networkingv1.NetworkPolicyEgressRule{
			{Ports: []networkingv1.NetworkPolicyPort{{Protocol: &udp}}},
			{
				To:    []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{"10.0.0.0/8"}}}},
				Ports: []networkingv1.NetworkPolicyPort{{Port: &first, EndPort: &last}},
			},
		},
	})
	allowed, _ := c.egress(c.pods[0])
	want := "meta l4proto udp;ip daddr 0.0.0.0/0 ip daddr != { 10.0.0.0/8 } tcp dport 100-200"
	if got := strings.Join(allowed, ";"); got != want {
		t.Fatalf("got %q", got)
	}
}

func TestTheNodeIsAlwaysAllowed(t *testing.T) {
	c := proxies(networkingv1.NetworkPolicySpec{})
	rules := c.rules("10.244.0.1")
	for _, want := range []string{"ip daddr 10.0.0.1 jump in1", "chain in1 {\n    ip saddr 10.244.0.1 return\n    drop"} {
		if !strings.Contains(rules, want) {
			t.Fatalf("no %q in %s", want, rules)
		}
	}
}
