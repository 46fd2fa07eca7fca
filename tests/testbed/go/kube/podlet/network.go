package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// network is a pod's network namespace, which lives as long as a process that
// sleeps in it, and the veth pair by which the machine routes to it.
type network struct {
	holder *exec.Cmd
	veth   string
}

const connect = `
pid=$1 veth=$2 ip=$3 host=$4
ip link add "$veth" type veth peer name eth0 netns "$pid"
ip link set "$veth" up
ip route add "$ip/32" dev "$veth"
exec nsenter --net="/proc/$pid/ns/net" -- bash -euc '
  ip link set lo up
  ip link set eth0 up
  ip addr add "$1/32" dev eth0
  ip route add "$2" dev eth0 scope link
  ip route add default via "$2"
' pod "$ip" "$host"`

func newNetwork(uid, ip, host string) (*network, error) {
	holder := exec.Command("sleep", "infinity")
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := holder.Start(); err != nil {
		return nil, err
	}
	n := &network{holder: holder, veth: "pod" + uid[:8]}
	out, err := exec.Command("bash", "-euc", connect, "podlet", strconv.Itoa(holder.Process.Pid), n.veth, ip, host).CombinedOutput()
	if err != nil {
		n.remove()
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return n, nil
}

func (n *network) path() string { return fmt.Sprintf("/proc/%d/ns/net", n.holder.Process.Pid) }

// remove also removes the link now: the kernel takes its time with namespaces.
func (n *network) remove() {
	exec.Command("ip", "link", "delete", n.veth).Run()
	n.holder.Process.Kill()
	n.holder.Wait()
}
