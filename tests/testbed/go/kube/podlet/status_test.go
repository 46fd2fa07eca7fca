package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func states(s ...corev1.ContainerState) *corev1.PodStatus {
	st := &corev1.PodStatus{}
	for _, state := range s {
		st.ContainerStatuses = append(st.ContainerStatuses, corev1.ContainerStatus{State: state})
	}
	return st
}

func ended(code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
}

func TestThePhaseFollowsTheContainers(t *testing.T) {
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	init := states(running)
	init.InitContainerStatuses = []corev1.ContainerStatus{{State: running}}
	for name, c := range map[string]struct {
		status *corev1.PodStatus
		want   corev1.PodPhase
	}{
		"nothing started":              {states(waiting), corev1.PodPending},
		"one runs":                     {states(waiting, running), corev1.PodRunning},
		"an init container runs":       {init, corev1.PodPending},
		"one ended, another runs":      {states(ended(0), running), corev1.PodRunning},
		"all ended well":               {states(ended(0), ended(0)), corev1.PodSucceeded},
		"all ended, one of them badly": {states(ended(0), ended(1)), corev1.PodFailed},
	} {
		if got := phase(c.status, corev1.RestartPolicyNever); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAPodWhoseContainersAreRestartedGoesOn(t *testing.T) {
	if got := phase(states(ended(0)), corev1.RestartPolicyAlways); got != corev1.PodRunning {
		t.Errorf("Always: %s", got)
	}
	if got := phase(states(ended(1)), corev1.RestartPolicyOnFailure); got != corev1.PodRunning {
		t.Errorf("OnFailure: %s", got)
	}
}
