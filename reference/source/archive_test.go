package source

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArchiverLimits(t *testing.T) {
	for name, file := range map[string]string{"up": "../a", "rooted": "/a", "empty": "", "dots": "a/../../b"} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, newArchiver().add(file, strings.NewReader("x")), "is outside of the tree")
		})
	}
	t.Run("one large file", func(t *testing.T) {
		err := newArchiver().add("large", io.LimitReader(zeros{}, largestFile+1))
		require.ErrorContains(t, err, "too large at the file large")
	})
	t.Run("many files", func(t *testing.T) {
		a := newArchiver()
		a.files = mostFiles
		require.ErrorContains(t, a.add("one/more", bytes.NewReader(nil)), "more than 5000 files")
	})
	t.Run("a large tree", func(t *testing.T) {
		a := newArchiver()
		a.size = largestTree
		require.ErrorContains(t, a.add("straw", strings.NewReader("x")), "too large")
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		root, file, name string
		inside           bool
	}{
		{"app", "app/a.json", "a.json", true},
		{"app", "./app/b/a.json", "b/a.json", true},
		{"app", "/app/a.json", "a.json", true},
		{"app", "application/a.json", "", false},
		{"app", "etc/passwd", "", false},
		{"app", "app/../../etc/passwd", "", false},
		{"", "etc/motd", "etc/motd", true},
	} {
		name, inside := below(c.root, c.file)
		require.Equal(t, c.inside, inside, c.file)
		if inside {
			require.Equal(t, c.name, name)
		}
	}
}
