package main

import (
	"context"
	"fmt"
	"log"
	"os/exec"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// cluster is what NetworkPolicies are about.
type cluster struct {
	policies   []*networkingv1.NetworkPolicy
	pods       []*corev1.Pod
	namespaces map[string]labels.Set
}

// enforcePolicies keeps the kernel's rules as the cluster's NetworkPolicies say.
// Traffic to and from the node itself is always allowed, as Kubernetes has it.
func (p *podlet) enforcePolicies(ctx context.Context, f informers.SharedInformerFactory) {
	changed := make(chan struct{}, 1)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify(changed) },
		UpdateFunc: func(any, any) { notify(changed) },
		DeleteFunc: func(any) { notify(changed) },
	}
	policies, pods, namespaces := f.Networking().V1().NetworkPolicies(), f.Core().V1().Pods(), f.Core().V1().Namespaces()
	for _, informer := range []cache.SharedIndexInformer{policies.Informer(), pods.Informer(), namespaces.Informer()} {
		informer.AddEventHandler(handler)
	}
	go func() {
		last := ""
		for {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			c := cluster{namespaces: map[string]labels.Set{}}
			c.policies, _ = policies.Lister().List(labels.Everything())
			c.pods, _ = pods.Lister().List(labels.Everything())
			all, _ := namespaces.Lister().List(labels.Everything())
			for _, n := range all {
				c.namespaces[n.Name] = n.Labels
			}
			if rules := c.rules(p.host); rules != last {
				if err := load(rules); err != nil {
					log.Printf("network policies: %v", err)
					continue
				}
				last = rules
			}
		}
	}()
}

// load replaces all rules in one transaction.
func load(rules string) error {
	cmd := exec.Command("nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rules)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s\n%s", err, out, rules)
	}
	return nil
}

// rules is the whole table for nft. Filters see addresses after kube-proxy has
// put pods in the place of Services.
func (c cluster) rules(host string) string {
	slices.SortFunc(c.policies, func(a, b *networkingv1.NetworkPolicy) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	slices.SortFunc(c.pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	var jumps, chains []string
	for i, pod := range c.pods {
		if !hasAddress(pod) {
			continue
		}
		if lines, isolated := c.ingress(pod); isolated {
			jumps = append(jumps, fmt.Sprintf("ip daddr %s jump in%d", pod.Status.PodIP, i))
			chains = append(chains, chain(fmt.Sprintf("in%d", i), "ip saddr "+host, lines))
		}
		if lines, isolated := c.egress(pod); isolated {
			jumps = append(jumps, fmt.Sprintf("ip saddr %s jump out%d", pod.Status.PodIP, i))
			chains = append(chains, chain(fmt.Sprintf("out%d", i), "ip daddr "+host, lines))
		}
	}
	var b strings.Builder
	b.WriteString("table ip podlet\ndelete table ip podlet\ntable ip podlet {\n")
	b.WriteString(strings.Join(chains, ""))
	for _, hook := range []string{"forward", "output"} {
		fmt.Fprintf(&b, "  chain %s {\n    type filter hook %s priority 10; policy accept;\n    ct state established,related accept\n", hook, hook)
		for _, j := range jumps {
			b.WriteString("    " + j + "\n")
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

func chain(name, node string, allowed []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  chain %s {\n    %s return\n", name, node)
	for _, a := range allowed {
		fmt.Fprintf(&b, "    %s return\n", a)
	}
	b.WriteString("    drop\n  }\n")
	return b.String()
}

func hasAddress(pod *corev1.Pod) bool {
	return pod.Status.PodIP != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// ingress lists what may reach the pod; false means that all may.
func (c cluster) ingress(pod *corev1.Pod) (allowed []string, isolated bool) {
	for _, p := range c.policies {
		if !c.applies(p, pod, networkingv1.PolicyTypeIngress) {
			continue
		}
		isolated = true
		for _, rule := range p.Spec.Ingress {
			peers := c.peers(rule.From, p.Namespace)
			for _, peer := range peers {
				for _, port := range ports(rule.Ports, pod) {
					allowed = append(allowed, join(peer.match("saddr"), port))
				}
			}
		}
	}
	return allowed, isolated
}

// egress lists what the pod may reach; false means that it may all.
func (c cluster) egress(pod *corev1.Pod) (allowed []string, isolated bool) {
	for _, p := range c.policies {
		if !c.applies(p, pod, networkingv1.PolicyTypeEgress) {
			continue
		}
		isolated = true
		for _, rule := range p.Spec.Egress {
			for _, peer := range c.peers(rule.To, p.Namespace) {
				for _, port := range ports(rule.Ports, peer.pod) {
					allowed = append(allowed, join(peer.match("daddr"), port))
				}
			}
		}
	}
	return allowed, isolated
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func (c cluster) applies(p *networkingv1.NetworkPolicy, pod *corev1.Pod, of networkingv1.PolicyType) bool {
	types := p.Spec.PolicyTypes
	if len(types) == 0 {
		types = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			types = append(types, networkingv1.PolicyTypeEgress)
		}
	}
	return p.Namespace == pod.Namespace && slices.Contains(types, of) && selects(&p.Spec.PodSelector, pod.Labels)
}

func selects(s *metav1.LabelSelector, set labels.Set) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(set)
}
