package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// retry is how soon something that failed for now is tried again.
const retry = 300 * time.Millisecond

// runner runs one pod from its sandbox to its end.
type runner struct {
	p    *podlet
	ip   string
	dir  string
	name string // namespace/name, for messages

	poke    chan struct{} // holds one: the status may be different
	refresh chan struct{} // holds one: volumes may be different
	ended   chan struct{} // closed when all is torn down
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex
	pod     *corev1.Pod
	grace   time.Duration
	started metav1.Time
	trouble string // why containers don't start yet
	inits   []*container
	mains   []*container
	since   map[corev1.PodConditionType]corev1.PodCondition
	tokens  map[string]token
	network *network
}

func newRunner(p *podlet, pod *corev1.Pod, ip string) *runner {
	r := &runner{
		p: p, ip: ip, pod: pod.DeepCopy(), name: pod.Namespace + "/" + pod.Name,
		dir:  filepath.Join(p.dir, fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID)),
		poke: make(chan struct{}, 1), refresh: make(chan struct{}, 1), ended: make(chan struct{}),
		started: metav1.Now(), since: map[corev1.PodConditionType]corev1.PodCondition{}, tokens: map[string]token{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for i := range pod.Spec.InitContainers {
		r.inits = append(r.inits, newContainer(r, &r.pod.Spec.InitContainers[i]))
	}
	for i := range pod.Spec.Containers {
		r.mains = append(r.mains, newContainer(r, &r.pod.Spec.Containers[i]))
	}
	return r
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (r *runner) refreshSoon() { notify(r.refresh) }

// newest is the pod as last seen; its spec is that of the start.
func (r *runner) newest() *corev1.Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pod
}

// update takes the pod's newest state. Changed annotations make a kubelet sync
// the pod at once, and so refresh its volumes.
func (r *runner) update(pod *corev1.Pod) {
	r.mu.Lock()
	old := r.pod
	next := pod.DeepCopy()
	next.Spec = old.Spec
	r.pod = next
	r.mu.Unlock()
	if !maps.Equal(old.Annotations, pod.Annotations) || !maps.Equal(old.Labels, pod.Labels) {
		r.refreshSoon()
	}
}

func (r *runner) run() {
	defer close(r.ended)
	defer r.tearDown()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(r.reportStatus)
	if !r.until("network", r.setUpNetwork) || !r.until("volumes", r.layVolumes) {
		return
	}
	wg.Go(r.refreshVolumes)
	for _, c := range r.inits {
		if !c.runToSuccess() {
			<-r.ctx.Done()
			return
		}
	}
	for _, c := range r.mains {
		wg.Go(c.keepRunning)
	}
	<-r.ctx.Done()
}

// until repeats a step until it succeeds; false means that the pod was stopped.
func (r *runner) until(what string, step func() error) bool {
	for {
		err := step()
		r.setTrouble(what, err)
		if err == nil {
			return true
		}
		if !r.sleep(retry) {
			return false
		}
	}
}

func (r *runner) setTrouble(what string, err error) {
	text := ""
	if err != nil {
		text = fmt.Sprintf("%s: %v", what, err)
	}
	r.mu.Lock()
	changed := text != r.trouble
	r.trouble = text
	r.mu.Unlock()
	if changed {
		if text != "" {
			log.Printf("pod %s: %s", r.name, text)
		}
		notify(r.poke)
	}
}

// sleep reports whether the pod still runs afterwards.
func (r *runner) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// stop ends the containers within the grace period and waits for the end.
func (r *runner) stop(grace time.Duration) {
	r.mu.Lock()
	if r.ctx.Err() == nil || grace < r.grace {
		r.grace = grace
	}
	r.mu.Unlock()
	r.cancel()
	if grace == 0 {
		for _, c := range append(r.inits, r.mains...) {
			c.killNow()
		}
	}
	<-r.ended
}

func (r *runner) gracePeriod() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.grace
}

func (r *runner) setUpNetwork() error {
	n, err := newNetwork(string(r.pod.UID), r.ip, r.p.host)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.network = n
	r.mu.Unlock()
	return r.writeNames()
}

// writeNames makes the files by which the pod finds itself and others.
func (r *runner) writeNames() error {
	if err := os.MkdirAll(filepath.Join(r.dir, "etc"), 0o755); err != nil {
		return err
	}
	pod := r.newest()
	hosts := fmt.Sprintf("127.0.0.1 localhost\n::1 localhost\n%s %s\n", r.ip, hostname(pod))
	resolv := ""
	if r.p.dns != "" {
		resolv = fmt.Sprintf("nameserver %s\nsearch %s.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n", r.p.dns, pod.Namespace)
	}
	for name, text := range map[string]string{"hosts": hosts, "resolv.conf": resolv} {
		if err := os.WriteFile(filepath.Join(r.dir, "etc", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func hostname(pod *corev1.Pod) string {
	if pod.Spec.Hostname != "" {
		return pod.Spec.Hostname
	}
	return pod.Name
}

func (r *runner) tearDown() {
	r.cancel()
	r.mu.Lock()
	n := r.network
	r.mu.Unlock()
	if n != nil {
		n.remove()
	}
	if err := os.RemoveAll(r.dir); err != nil {
		log.Printf("pod %s: %v", r.name, err)
	}
	log.Printf("pod %s: ended", r.name)
}
