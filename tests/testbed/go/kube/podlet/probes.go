package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// eager is how often is probed what is not yet as it should be. A kubelet
// keeps to periodSeconds; tests have no time for that.
const eager = 200 * time.Millisecond

var probeClient = &http.Client{
	Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// probe runs the container's probes until the context ends: startup first,
// then readiness and liveness.
func (c *container) probe(ctx context.Context) {
	if p := c.spec.StartupProbe; p != nil {
		if !c.startUp(ctx, p) {
			return
		}
		c.set(func() { c.started, c.ready = true, c.spec.ReadinessProbe == nil })
	}
	if p := c.spec.LivenessProbe; p != nil {
		go c.watch(ctx, p, func(ok bool) {
			if !ok {
				notify(c.kill)
			}
		})
	}
	if p := c.spec.ReadinessProbe; p != nil {
		c.watch(ctx, p, func(ok bool) { c.set(func() { c.ready = ok }) })
	}
}

func (c *container) startUp(ctx context.Context, p *corev1.Probe) bool {
	if !pause(ctx, seconds(p.InitialDelaySeconds, 0)) {
		return false
	}
	deadline := time.Now().Add(time.Duration(max(p.FailureThreshold, 3)) * seconds(p.PeriodSeconds, 10))
	for {
		if c.once(ctx, p) == nil {
			return true
		}
		if time.Now().After(deadline) {
			notify(c.kill)
			return false
		}
		if !pause(ctx, eager) {
			return false
		}
	}
}

// watch calls changed when enough probes in a row say something else.
func (c *container) watch(ctx context.Context, p *corev1.Probe, changed func(ok bool)) {
	if !pause(ctx, seconds(p.InitialDelaySeconds, 0)) {
		return
	}
	isLiveness := p == c.spec.LivenessProbe
	ok, row := isLiveness, int32(0)
	for {
		now := c.once(ctx, p) == nil
		if ctx.Err() != nil {
			return
		}
		needed := max(p.SuccessThreshold, 1)
		if ok {
			needed = max(p.FailureThreshold, 1)
		}
		if now == ok {
			row = 0
		} else if row++; row >= needed {
			ok, row = now, 0
			changed(ok)
		}
		wait := min(seconds(p.PeriodSeconds, 10), time.Second)
		if !ok {
			wait = eager
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

func seconds(n, or int32) time.Duration {
	if n == 0 {
		n = or
	}
	return time.Duration(n) * time.Second
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (c *container) once(ctx context.Context, p *corev1.Probe) error {
	ctx, stop := context.WithTimeout(ctx, seconds(p.TimeoutSeconds, 1))
	defer stop()
	switch {
	case p.HTTPGet != nil:
		return c.httpProbe(ctx, p.HTTPGet)
	case p.TCPSocket != nil:
		return c.tcpProbe(ctx, c.port(p.TCPSocket.Port))
	case p.GRPC != nil:
		return c.tcpProbe(ctx, int(p.GRPC.Port))
	case p.Exec != nil:
		return c.execProbe(ctx, p.Exec.Command)
	}
	return nil
}

func (c *container) port(p intstr.IntOrString) int {
	if p.Type == intstr.Int {
		return p.IntValue()
	}
	for _, named := range c.spec.Ports {
		if named.Name == p.StrVal {
			return int(named.ContainerPort)
		}
	}
	return 0
}

func (c *container) httpProbe(ctx context.Context, g *corev1.HTTPGetAction) error {
	host := g.Host
	if host == "" {
		host = c.r.ip
	}
	scheme := strings.ToLower(string(g.Scheme))
	if scheme == "" {
		scheme = "http"
	}
	url := fmt.Sprintf("%s://%s/%s", scheme, net.JoinHostPort(host, strconv.Itoa(c.port(g.Port))), strings.TrimPrefix(g.Path, "/"))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	for _, h := range g.HTTPHeaders {
		req.Header.Add(h.Name, h.Value)
	}
	res, err := probeClient.Do(req)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode >= 400 {
		return fmt.Errorf("%s answers %d", url, res.StatusCode)
	}
	return nil
}

func (c *container) tcpProbe(ctx context.Context, port int) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(c.r.ip, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return conn.Close()
}

// execProbe runs the command in the container's namespaces, as its user.
func (c *container) execProbe(ctx context.Context, argv []string) error {
	c.mu.Lock()
	process := c.process
	c.mu.Unlock()
	if process == nil {
		return fmt.Errorf("not running")
	}
	as, err := c.setpriv()
	if err != nil {
		return err
	}
	args := []string{"--target", strconv.Itoa(process.Pid), "--mount", "--net", "--pid", "--root", "--wd", "--", "env", "PATH=" + path}
	args = append(append(args, as...), argv...)
	return exec.CommandContext(ctx, "nsenter", args...).Run()
}
