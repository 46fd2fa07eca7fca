package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 5 * time.Second // a kubelet's is 5 minutes: tests can't wait
	settled      = 10 * time.Second
)

// container runs one container of a pod, again and again.
type container struct {
	r    *runner
	spec *corev1.Container

	kill chan struct{} // holds one: end the process, its liveness probe failed

	mu       sync.Mutex
	process  *os.Process
	state    corev1.ContainerState
	last     corev1.ContainerState
	restarts int32
	started  bool
	ready    bool
}

func newContainer(r *runner, spec *corev1.Container) *container {
	c := &container{r: r, spec: spec, kill: make(chan struct{}, 1)}
	c.state.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	return c
}

func (c *container) set(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	notify(c.r.poke)
}

// keepRunning restarts the container as the pod's restartPolicy says, until
// the pod is stopped.
func (c *container) keepRunning() {
	policy := c.r.newest().Spec.RestartPolicy
	c.repeat(func(code int) bool { return restarts(policy, code) })
}

// restarts reports whether a container that ended so is started again.
func restarts(policy corev1.RestartPolicy, code int) bool {
	switch policy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return code != 0
	}
	return true
}

// runToSuccess is for init containers; false means that they won't succeed.
func (c *container) runToSuccess() bool {
	never := c.r.newest().Spec.RestartPolicy == corev1.RestartPolicyNever
	code := c.repeat(func(code int) bool { return code != 0 && !never })
	return code == 0 && c.r.ctx.Err() == nil
}

func (c *container) repeat(again func(code int) bool) int {
	backoff := firstBackoff
	for {
		began := time.Now()
		code := c.runOnce()
		if c.r.ctx.Err() != nil || !again(code) {
			return code
		}
		if time.Since(began) > settled {
			backoff = firstBackoff
		}
		c.set(func() {
			c.last, c.restarts = c.state, c.restarts+1
			c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "CrashLoopBackOff", Message: fmt.Sprintf("back-off %s restarting container %s", backoff, c.spec.Name),
			}}
		})
		if !c.r.sleep(backoff) {
			return code
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// errNoProgram says that nothing here stands for the image.
var errNoProgram = errors.New("no program for this image")

// runOnce runs the process to its end and returns its exit code.
func (c *container) runOnce() int {
	cmd, err := c.command()
	if errors.Is(err, errNoProgram) {
		return c.pretend()
	}
	if err == nil {
		err = cmd.Start()
		cmd.Stdout.(*os.File).Close() // the process has its own
	}
	if err != nil {
		c.set(func() {
			c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: err.Error()}}
		})
		log.Printf("pod %s %s: %v", c.r.name, c.spec.Name, err)
		c.r.sleep(retry)
		return 128
	}
	began := metav1.Now()
	c.set(func() {
		c.process = cmd.Process
		c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}
		c.started, c.ready = c.spec.StartupProbe == nil, c.spec.StartupProbe == nil && c.spec.ReadinessProbe == nil
	})
	log.Printf("pod %s %s: runs as process %d", c.r.name, c.spec.Name, cmd.Process.Pid)
	code := c.await(cmd)
	c.set(func() {
		c.process, c.started, c.ready = nil, false, false
		c.state = corev1.ContainerState{Terminated: terminated(code, began)}
	})
	log.Printf("pod %s %s: ended with %d", c.r.name, c.spec.Name, code)
	return code
}

func terminated(code int, began metav1.Time) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{ExitCode: int32(code), Reason: reason, StartedAt: began, FinishedAt: metav1.Now()}
}

// await waits for the end of the process, which it brings about when the pod
// stops or the liveness probe fails: first gently, then by force.
func (c *container) await(cmd *exec.Cmd) int {
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	ctx, stopProbes := context.WithCancel(c.r.ctx)
	var probes sync.WaitGroup
	probes.Go(func() { c.probe(ctx) })
	defer probes.Wait()
	defer stopProbes()
	select {
	case <-exited:
		return exitCode(cmd)
	case <-c.kill:
		c.end(exited, time.Duration(*orDefault(c.r.newest().Spec.TerminationGracePeriodSeconds, 30))*time.Second)
	case <-c.r.ctx.Done():
		c.end(exited, c.r.gracePeriod())
	}
	<-exited
	return exitCode(cmd)
}

func (c *container) end(exited <-chan struct{}, grace time.Duration) {
	c.signal(syscall.SIGTERM)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-exited:
	case <-t.C:
		c.signal(syscall.SIGKILL)
	}
}

func (c *container) killNow() { c.signal(syscall.SIGKILL) }

// signal reaches the container's first process; the kernel kills the others
// of its process namespace when that ends.
func (c *container) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		c.process.Signal(s)
	}
}

func exitCode(cmd *exec.Cmd) int {
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// pretend stands for a container that nothing here can run.
func (c *container) pretend() int {
	c.set(func() {
		c.started, c.ready = true, true
		c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	})
	for _, init := range c.r.inits {
		if init == c {
			began := metav1.Now()
			c.set(func() { c.state = corev1.ContainerState{Terminated: terminated(0, began)} })
			return 0
		}
	}
	<-c.r.ctx.Done()
	return 0
}

func orDefault[T any](v *T, or T) *T {
	if v == nil {
		return &or
	}
	return v
}
