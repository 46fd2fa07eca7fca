package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// peer is the other end of allowed traffic: a pod, a block, or any.
type peer struct {
	pod    *corev1.Pod
	block  string
	except []string
}

// match is the condition on the peer's address; "" for any.
func (p peer) match(direction string) string {
	switch {
	case p.pod != nil:
		return fmt.Sprintf("ip %s %s", direction, p.pod.Status.PodIP)
	case p.block == "":
		return ""
	case len(p.except) > 0:
		return fmt.Sprintf("ip %s %s ip %s != { %s }", direction, p.block, direction, strings.Join(p.except, ", "))
	}
	return fmt.Sprintf("ip %s %s", direction, p.block)
}

// peers resolves selectors to the pods that they select now. No peers at all
// in a rule means any.
func (c cluster) peers(list []networkingv1.NetworkPolicyPeer, namespace string) (out []peer) {
	if len(list) == 0 {
		return []peer{{}}
	}
	for _, p := range list {
		if p.IPBlock != nil {
			if !strings.Contains(p.IPBlock.CIDR, ":") {
				out = append(out, peer{block: p.IPBlock.CIDR, except: p.IPBlock.Except})
			}
			continue
		}
		for _, pod := range c.pods {
			if hasAddress(pod) && c.peerSelects(&p, namespace, pod) {
				out = append(out, peer{pod: pod})
			}
		}
	}
	return out
}

func (c cluster) peerSelects(p *networkingv1.NetworkPolicyPeer, namespace string, pod *corev1.Pod) bool {
	if p.NamespaceSelector == nil && pod.Namespace != namespace {
		return false
	}
	if p.NamespaceSelector != nil && !selects(p.NamespaceSelector, c.namespaces[pod.Namespace]) {
		return false
	}
	return p.PodSelector == nil || selects(p.PodSelector, pod.Labels)
}

// ports lists conditions on the port; named ones are those of the pod that is
// reached. No ports at all in a rule means any.
func ports(list []networkingv1.NetworkPolicyPort, reached *corev1.Pod) []string {
	if len(list) == 0 {
		return []string{""}
	}
	var out []string
	for _, p := range list {
		protocol := "tcp"
		if p.Protocol != nil {
			protocol = strings.ToLower(string(*p.Protocol))
		}
		switch {
		case p.Port == nil:
			out = append(out, "meta l4proto "+protocol)
		case p.EndPort != nil:
			out = append(out, fmt.Sprintf("%s dport %d-%d", protocol, p.Port.IntValue(), *p.EndPort))
		case p.Port.Type == intstr.Int:
			out = append(out, fmt.Sprintf("%s dport %d", protocol, p.Port.IntValue()))
		default:
			for _, n := range namedPorts(reached, p.Port.StrVal) {
				out = append(out, fmt.Sprintf("%s dport %d", protocol, n))
			}
		}
	}
	return out
}

func namedPorts(pod *corev1.Pod, name string) (out []int32) {
	if pod == nil {
		return nil
	}
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == name {
				out = append(out, p.ContainerPort)
			}
		}
	}
	return out
}
