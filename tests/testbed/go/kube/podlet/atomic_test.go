package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, dir string, files payload) {
	t.Helper()
	if err := writeAtomically(dir, files, nil); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "..") {
			out = append(out, e.Name())
		}
	}
	return out
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAVolumeChangesByOneRenameOfItsDataLink(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, payload{"a": {[]byte("1"), 0o644}, "sub/b": {[]byte("2"), 0o644}})
	before, _ := os.Readlink(filepath.Join(dir, "..data"))
	write(t, dir, payload{"a": {[]byte("3"), 0o644}, "c": {[]byte("4"), 0o600}})
	after, _ := os.Readlink(filepath.Join(dir, "..data"))
	if before == after {
		t.Fatal("the link leads to the same folder")
	}
	if link, _ := os.Readlink(filepath.Join(dir, "a")); link != "..data/a" {
		t.Fatalf("a is a link to %q", link)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a", "c"}) {
		t.Fatalf("visible: %v", got)
	}
	if got := content(t, filepath.Join(dir, "a")); got != "3" {
		t.Fatalf("a is %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, before)); !os.IsNotExist(err) {
		t.Fatalf("the old folder is still there: %v", err)
	}
}

func TestAVolumeThatIsTheSameIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	files := payload{"a": {[]byte("1"), 0o644}}
	write(t, dir, files)
	before, _ := os.Readlink(filepath.Join(dir, "..data"))
	write(t, dir, files)
	if after, _ := os.Readlink(filepath.Join(dir, "..data")); after != before {
		t.Fatal("it was written again")
	}
}

func TestAnOptionalVolumeIsEmptyUntilItsSourceAppears(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, payload{})
	if got := names(t, dir); len(got) != 0 {
		t.Fatalf("visible: %v", got)
	}
	write(t, dir, payload{"late": {[]byte("x"), 0o644}})
	if got := content(t, filepath.Join(dir, "late")); got != "x" {
		t.Fatalf("late is %q", got)
	}
}

func TestAGroupMayReadWhatTheOwnerMay(t *testing.T) {
	group := int64(os.Getgid())
	if got := mode(file{nil, 0o600}, &group); got != 0o640 {
		t.Fatalf("mode %o", got)
	}
	if got := mode(file{nil, 0o600}, nil); got != 0o600 {
		t.Fatalf("mode %o", got)
	}
}
