package main

import (
	"context"
	"encoding/json"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reportStatus writes the pod's status whenever it is another, and once more
// at the end.
func (r *runner) reportStatus() {
	last := ""
	for {
		text := r.status()
		if text != last {
			switch err := r.writeStatus(text); {
			case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
				last = text
			default:
				log.Printf("status of %s: %v", r.name, err)
				if !r.sleep(retry) {
					return
				}
				continue
			}
		}
		select {
		case <-r.poke:
		case <-r.ctx.Done():
			return
		}
	}
}

// status is the patch that says how the pod is.
func (r *runner) status() string {
	pod := r.newest()
	r.mu.Lock()
	defer r.mu.Unlock()
	st := corev1.PodStatus{StartTime: &r.started, HostIP: r.p.host, HostIPs: []corev1.HostIP{{IP: r.p.host}}}
	if r.network != nil {
		st.PodIP, st.PodIPs = r.ip, []corev1.PodIP{{IP: r.ip}}
	}
	for _, c := range r.inits {
		st.InitContainerStatuses = append(st.InitContainerStatuses, c.status(r.trouble))
	}
	for _, c := range r.mains {
		st.ContainerStatuses = append(st.ContainerStatuses, c.status(r.trouble))
	}
	st.Phase = phase(&st, pod.Spec.RestartPolicy)
	st.Conditions = r.conditions(pod, &st)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": st})
	if err != nil {
		log.Printf("status of %s: %v", r.name, err)
	}
	return string(patch)
}

func (c *container) status(trouble string) corev1.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	started := c.started
	s := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image, State: c.state, LastTerminationState: c.last,
		RestartCount: c.restarts, Ready: c.ready, Started: &started,
		ContainerID: "podlet://" + string(c.r.pod.UID) + "/" + c.spec.Name,
	}
	if t := c.state.Terminated; t != nil && t.ExitCode == 0 && c.isInit() {
		s.Ready = true
	}
	if s.State.Waiting != nil && s.State.Waiting.Message == "" && trouble != "" {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: trouble}
	}
	return s
}

func (c *container) isInit() bool {
	for _, init := range c.r.inits {
		if init == c {
			return true
		}
	}
	return false
}

// phase is what the containers come to. One that ended and will be restarted
// has not ended: a pod that is Succeeded for a moment would be replaced.
func phase(st *corev1.PodStatus, policy corev1.RestartPolicy) corev1.PodPhase {
	for _, s := range st.InitContainerStatuses {
		if t := s.State.Terminated; t == nil || t.ExitCode != 0 {
			return corev1.PodPending
		}
	}
	ended, failed, begun := 0, 0, 0
	for _, s := range st.ContainerStatuses {
		if s.State.Running != nil || s.RestartCount > 0 {
			begun++
		}
		switch t := s.State.Terminated; {
		case t == nil:
		case restarts(policy, int(t.ExitCode)):
			begun++
		default:
			ended++
			if t.ExitCode != 0 {
				failed++
			}
		}
	}
	switch {
	case ended == len(st.ContainerStatuses) && failed > 0:
		return corev1.PodFailed
	case ended == len(st.ContainerStatuses):
		return corev1.PodSucceeded
	case begun+ended > 0:
		return corev1.PodRunning
	}
	return corev1.PodPending
}

// conditions are ours, with the time of their last change, and those that
// others wrote, as they are.
func (r *runner) conditions(pod *corev1.Pod, st *corev1.PodStatus) []corev1.PodCondition {
	initialized, ready := true, len(st.ContainerStatuses) > 0
	for _, s := range st.InitContainerStatuses {
		initialized = initialized && s.Ready
	}
	for _, s := range st.ContainerStatuses {
		ready = ready && s.Ready
	}
	gates := true
	for _, g := range pod.Spec.ReadinessGates {
		gates = gates && conditionTrue(pod, g.ConditionType)
	}
	ours := []struct {
		of corev1.PodConditionType
		is bool
	}{
		{corev1.PodReadyToStartContainers, r.network != nil}, {corev1.PodInitialized, initialized},
		{corev1.ContainersReady, ready}, {corev1.PodReady, ready && gates}, {corev1.PodScheduled, true},
	}
	out := []corev1.PodCondition{}
	known := map[corev1.PodConditionType]bool{}
	for _, c := range ours {
		known[c.of] = true
		out = append(out, r.condition(c.of, c.is))
	}
	for _, c := range pod.Status.Conditions {
		if !known[c.Type] {
			out = append(out, c)
		}
	}
	return out
}

func (r *runner) condition(of corev1.PodConditionType, is bool) corev1.PodCondition {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	have, ok := r.since[of]
	if !ok || have.Status != status {
		have = corev1.PodCondition{Type: of, Status: status, LastTransitionTime: metav1.Now()}
		if !is && (of == corev1.PodReady || of == corev1.ContainersReady) {
			have.Reason = "ContainersNotReady"
		}
		r.since[of] = have
	}
	return have
}

func conditionTrue(pod *corev1.Pod, of corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == of {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (r *runner) writeStatus(patch string) error {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	pod := r.newest()
	_, err := r.p.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}
