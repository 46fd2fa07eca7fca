package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// enterRoot runs in the container's own mount and process namespaces. It makes
// a root out of the machine's programs (read-only), the pod's names and the
// volumes, and becomes the container's command in it.
const enterRoot = `
root=$1 bin=$2 etc=$3 read_only=$4 dir=$5
shift 5
mount --make-rprivate /
mount -t tmpfs -o mode=755 none "$root"
for d in usr lib lib32 lib64 bin sbin; do
  if [ -L "/$d" ]; then cp -a "/$d" "$root/$d"
  elif [ -d "/$d" ]; then mkdir "$root/$d"; mount --bind "/$d" "$root/$d"; mount -o remount,bind,ro "$root/$d"
  fi
done
mkdir -p "$root"/{etc,proc,dev,sys,tmp,run,var/run,var/lib,root,testbed/bin}
chmod 1777 "$root/tmp"
for f in passwd group nsswitch.conf ld.so.cache ld.so.conf ssl ca-certificates protocols services mime.types alternatives; do
  [ ! -e "/etc/$f" ] || cp -aL "/etc/$f" "$root/etc/$f" 2>/dev/null || true
done
cp "$etc"/* "$root/etc/"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
[ ! -d /dev/shm ] || mount -t tmpfs -o mode=1777 none "$root/dev/shm"
mount --rbind /sys "$root/sys"
mount --bind "$bin" "$root/testbed/bin"
mount -o remount,bind,ro "$root/testbed/bin"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$2"
  else mkdir -p "$root$(dirname "$2")"; [ -e "$root$2" ] || : >"$root$2"
  fi
  mount --rbind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
[ "$read_only" = no ] || mount -o remount,ro "$root"
export PATH=$CONTAINER_PATH
unset CONTAINER_PATH
exec /usr/sbin/chroot "$root" "$@"`

const path = "/testbed/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// command makes the process of the container.
func (c *container) command() (*exec.Cmd, error) {
	argv, env, err := c.commandLine()
	if err != nil {
		return nil, err
	}
	as, err := c.setpriv()
	if err != nil {
		return nil, err
	}
	mounts, err := c.mounts(env)
	if err != nil {
		return nil, err
	}
	root := filepath.Join(c.r.dir, "root-"+c.spec.Name)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	dir := c.spec.WorkingDir
	if dir == "" {
		dir = "/"
	}
	readOnly := "no"
	if s := c.spec.SecurityContext; s != nil && s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem {
		readOnly = "yes"
	}
	full := []string{"--net=" + c.r.network.path(), "--", "bash", "-euc", enterRoot, "podlet", root, c.r.p.bin, filepath.Join(c.r.dir, "etc"), readOnly, dir}
	full = append(append(full, mounts...), "--")
	full = append(full, as...)
	full = append(append(full, "sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", dir), argv...)
	return c.prepare(exec.Command("nsenter", full...), env)
}

func (c *container) prepare(cmd *exec.Cmd, env map[string]string) (*exec.Cmd, error) {
	home := "/"
	if uid, _ := c.ids(); uid == 0 {
		home = "/root"
	}
	// The set-up needs the machine's own PATH.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "CONTAINER_PATH=" + path, "HOME=" + home, "HOSTNAME=" + hostname(c.r.newest())}
	for k, v := range env {
		if k == "PATH" {
			k = "CONTAINER_PATH"
		}
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	logs := filepath.Join(c.r.p.dir, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	name := strings.ReplaceAll(c.r.name, "/", "_") + "_" + c.spec.Name + ".log"
	file, err := os.OpenFile(filepath.Join(logs, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	// Programs open /dev/stdout by name, which asks for the right to.
	uid, gid := c.ids()
	if err := file.Chown(int(uid), int(gid)); err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL, Setpgid: true,
	}
	return cmd, nil
}

// commandLine is what the image, the command and the args of the container
// come to, and its environment.
func (c *container) commandLine() ([]string, map[string]string, error) {
	i := slices.IndexFunc(c.r.p.images, func(im image) bool { return strings.Contains(c.spec.Image, im.Image) })
	if i < 0 {
		return nil, nil, errNoProgram
	}
	env, err := c.environment()
	if err != nil {
		return nil, nil, err
	}
	expand := expansion.MappingFuncFor(env)
	argv := []string{}
	for _, s := range c.spec.Command {
		argv = append(argv, expansion.Expand(s, expand))
	}
	if len(argv) == 0 {
		argv = append(argv, c.r.p.images[i].Exec...)
	}
	if len(argv) == 0 {
		return nil, nil, errNoProgram
	}
	for _, s := range c.spec.Args {
		argv = append(argv, expansion.Expand(s, expand))
	}
	return argv, env, nil
}

// mounts lists source, target and ro or rw of each volume, outer ones first.
func (c *container) mounts(env map[string]string) ([]string, error) {
	list := slices.Clone(c.spec.VolumeMounts)
	slices.SortStableFunc(list, func(a, b corev1.VolumeMount) int { return len(a.MountPath) - len(b.MountPath) })
	var out []string
	for _, m := range list {
		source := c.r.volumePath(m.Name)
		sub := m.SubPath
		if m.SubPathExpr != "" {
			sub = expansion.Expand(m.SubPathExpr, expansion.MappingFuncFor(env))
		}
		if sub != "" {
			// As a kubelet does: what the path leads to now, for good.
			real, err := filepath.EvalSymlinks(filepath.Join(source, sub))
			if os.IsNotExist(err) {
				real = filepath.Join(source, sub)
				err = os.MkdirAll(real, 0o755)
			}
			if err != nil {
				return nil, fmt.Errorf("volume %s: %w", m.Name, err)
			}
			source = real
		}
		mode := "rw"
		if m.ReadOnly || c.r.readOnlyVolume(m.Name) {
			mode = "ro"
		}
		out = append(out, source, m.MountPath, mode)
	}
	return out, nil
}
