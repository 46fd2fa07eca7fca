package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// payload is what a volume shows: files by path.
type payload map[string]file

type file struct {
	data []byte
	mode os.FileMode
}

func (p payload) put(path string, data []byte, own *int32, mode os.FileMode) {
	if own != nil {
		mode = os.FileMode(*own)
	}
	p[filepath.Clean(path)] = file{data, mode}
}

const dataLink = "..data"

// writeAtomically gives the volume its new files in the kubelet's way: they lie
// in a folder of their own, "..data" is a link to it, the names that containers
// open are links through "..data", and the one rename of "..data" changes all
// of them at once. That rename is also what watchers of the volume see.
func writeAtomically(dir string, files payload, group *int64) error {
	old, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if old != "" {
		same, err := holds(filepath.Join(dir, old), files)
		if err != nil || same {
			return err
		}
	}
	fresh, err := os.MkdirTemp(dir, ".."+time.Now().UTC().Format("2006_01_02_15_04_05."))
	if err != nil {
		return err
	}
	if err := writeFiles(fresh, files, group); err != nil {
		return err
	}
	link := filepath.Join(dir, dataLink+"_tmp")
	if err := os.Symlink(filepath.Base(fresh), link); err != nil {
		return err
	}
	if err := os.Rename(link, filepath.Join(dir, dataLink)); err != nil {
		return err
	}
	if err := linkNames(dir, files); err != nil {
		return err
	}
	if old == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(dir, old))
}

func writeFiles(dir string, files payload, group *int64) error {
	for path, f := range files {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, f.data, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(full, mode(f, group)); err != nil {
			return err
		}
		if group != nil {
			if err := os.Chown(full, -1, int(*group)); err != nil {
				return err
			}
		}
	}
	return os.Chmod(dir, 0o755)
}

// mode lets the group read what the owner may, when there is one.
func mode(f file, group *int64) os.FileMode {
	if group != nil {
		return f.mode | 0o440
	}
	return f.mode
}

// holds reports whether the folder has just these files.
func holds(dir string, files payload) (bool, error) {
	have := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		have[strings.TrimPrefix(path, dir+"/")] = b
		return err
	})
	want := map[string][]byte{}
	for path, f := range files {
		want[path] = f.data
	}
	return maps.EqualFunc(have, want, bytes.Equal), err
}

// linkNames makes the names that containers see, and takes away those of files
// that are gone.
func linkNames(dir string, files payload) error {
	wanted := map[string]bool{}
	for path := range files {
		first, _, _ := strings.Cut(path, "/")
		wanted[first] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "..") || wanted[e.Name()] {
			delete(wanted, e.Name())
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	for name := range wanted {
		if err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}
