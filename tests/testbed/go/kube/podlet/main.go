// Command podlet is a kubelet without containers, for tests on real parts. It
// binds every pod to its one node and runs it as a kubelet does, but as plain
// processes: a network namespace with an address per pod, a root folder, a
// mount and a process namespace per container, users, capabilities and
// read-only roots as the pod asks, volumes that follow their Secrets by the
// kubelet's atomic swap, probes, restarts, grace periods, and status.
//
// A container runs the local program that its image's name maps to. One that
// maps to none is reported as running without a process, so that controllers
// go on.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// options are what podlet is told by its flags.
type options struct {
	node, dir, bin, host, dns string
	apiHost, apiPort          string
	images                    []image
	volumeDelay               time.Duration
	networkPolicy             bool
}

// image says what to run for container images of that name.
type image struct {
	Image string   `json:"image"` // part of the name
	Exec  []string `json:"exec"`  // stands for the entry point; absent: command only
}

func main() {
	var o options
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of an admin")
	first := flag.String("first-ip", "10.244.1.1", "first pod address")
	api := flag.String("api", "10.96.0.1:443", "where pods are told that the API server is")
	images := flag.String("images", "", "JSON file: [{image, exec}]")
	flag.StringVar(&o.node, "node", "testbed", "name of the one node")
	flag.StringVar(&o.dir, "dir", "", "folder for volumes and logs")
	flag.StringVar(&o.bin, "bin", "", "folder of the programs, first in each container's PATH")
	flag.StringVar(&o.host, "host", "10.244.0.1", "this machine's address, the pods' default route")
	flag.StringVar(&o.dns, "dns", "", "address of the cluster's DNS server")
	flag.DurationVar(&o.volumeDelay, "volume-delay", time.Second, "how long after a Secret's change its volumes change, when no annotation hurries it")
	flag.BoolVar(&o.networkPolicy, "network-policy", true, "enforce NetworkPolicies")
	flag.Parse()
	o.apiHost, o.apiPort, _ = splitHostPort(*api)
	text, err := os.ReadFile(*images)
	check(err)
	check(json.Unmarshal(text, &o.images))
	ip, err := netip.ParseAddr(*first)
	check(err)

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.QPS, config.Burst = 500, 1000
	client, err := kubernetes.NewForConfig(config)
	check(err)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	p := newPodlet(o, client, ip)
	check(p.registerNode(ctx))
	p.watch(ctx, informers.NewSharedInformerFactory(client, 0))
	fmt.Println("podlet ready")
	<-ctx.Done()
	p.stopAll()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func splitHostPort(s string) (string, string, error) {
	a, err := netip.ParseAddrPort(s)
	if err != nil {
		return "", "", err
	}
	return a.Addr().String(), fmt.Sprint(a.Port()), nil
}
