package main

import (
	"context"
	"encoding/json"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// registerNode makes the node, or takes it over, and says that it is ready.
func (p *podlet) registerNode(ctx context.Context) error {
	nodes := p.client.CoreV1().Nodes()
	labels := map[string]string{corev1.LabelHostname: p.node, corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.node, Labels: labels}}
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	now := metav1.Now()
	status := corev1.NodeStatus{
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: p.host}, {Type: corev1.NodeHostName, Address: p.node}},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "PodletReady", LastHeartbeatTime: now, LastTransitionTime: now,
		}},
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"addresses": status.Addresses, "conditions": status.Conditions}})
	if err != nil {
		return err
	}
	_, err = nodes.Patch(ctx, p.node, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
