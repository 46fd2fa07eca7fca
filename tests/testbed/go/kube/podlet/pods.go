package main

import (
	"context"
	"log"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// podlet knows which pods run.
type podlet struct {
	options
	client kubernetes.Interface

	mu   sync.Mutex
	next netip.Addr
	pods map[types.UID]*runner
}

func newPodlet(o options, client kubernetes.Interface, first netip.Addr) *podlet {
	return &podlet{options: o, client: client, next: first, pods: map[types.UID]*runner{}}
}

// watch follows pods, and the Secrets and ConfigMaps that their volumes show.
func (p *podlet) watch(ctx context.Context, f informers.SharedInformerFactory) {
	f.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { p.sync(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { p.sync(ctx, o.(*corev1.Pod)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			go p.stop(o.(*corev1.Pod).UID, 0)
		},
	})
	p.watchSources(f.Core().V1().Secrets().Informer(), "Secret")
	p.watchSources(f.Core().V1().ConfigMaps().Informer(), "ConfigMap")
	if p.networkPolicy {
		p.enforcePolicies(ctx, f)
	}
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
}

func (p *podlet) watchSources(informer cache.SharedIndexInformer, kind string) {
	changed := func(o any) {
		if m, ok := o.(metav1.Object); ok {
			p.sourceChanged(source{kind, m.GetNamespace(), m.GetName()})
		}
	}
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    changed,
		UpdateFunc: func(_, o any) { changed(o) },
		DeleteFunc: changed,
	})
}

// sourceChanged refreshes the volumes that show it, after the delay that
// stands for the kubelet's own.
func (p *podlet) sourceChanged(s source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.pods {
		if slices.Contains(volumeSources(r.newest()), s) {
			time.AfterFunc(p.volumeDelay, r.refreshSoon)
		}
	}
}

func (p *podlet) sync(ctx context.Context, pod *corev1.Pod) {
	switch {
	case pod.DeletionTimestamp != nil:
		grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
		if g := pod.DeletionGracePeriodSeconds; g != nil {
			grace = *g
		}
		go p.finish(ctx, pod, time.Duration(grace)*time.Second)
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
	case pod.Spec.NodeName == "":
		p.bind(ctx, pod)
	case pod.Spec.NodeName == p.node:
		p.start(pod)
	}
}

func (p *podlet) bind(ctx context.Context, pod *corev1.Pod) {
	b := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: p.node},
	}
	err := p.client.CoreV1().Pods(pod.Namespace).Bind(ctx, b, metav1.CreateOptions{})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		log.Printf("bind %s/%s: %v", pod.Namespace, pod.Name, err)
	}
}

// start runs a pod, or tells the one that runs of its newest state.
func (p *podlet) start(pod *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.pods[pod.UID]; r != nil {
		r.update(pod)
		return
	}
	r := newRunner(p, pod, p.next.String())
	p.next = p.next.Next()
	p.pods[pod.UID] = r
	go r.run()
}

// finish stops a pod that is to be deleted, and then lets it go.
func (p *podlet) finish(ctx context.Context, pod *corev1.Pod, grace time.Duration) {
	p.stop(pod.UID, grace)
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	err := p.client.CoreV1().Pods(pod.Namespace).Delete(context.WithoutCancel(ctx), pod.Name, now)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		log.Printf("delete %s/%s: %v", pod.Namespace, pod.Name, err)
	}
}

func (p *podlet) stop(uid types.UID, grace time.Duration) {
	p.mu.Lock()
	r := p.pods[uid]
	p.mu.Unlock()
	if r == nil {
		return
	}
	r.stop(grace)
	p.mu.Lock()
	delete(p.pods, uid)
	p.mu.Unlock()
}

func (p *podlet) stopAll() {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.pods))
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, r := range all {
		wg.Go(func() { r.stop(2 * time.Second) })
	}
	wg.Wait()
}
