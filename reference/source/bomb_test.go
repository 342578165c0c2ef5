package source

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blob is an object of a repository, without being held in memory.
type blob struct {
	kind    string
	size    int64
	content func() io.Reader
}

func text(kind string, content []byte) blob {
	return blob{kind, int64(len(content)), func() io.Reader { return bytes.NewReader(content) }}
}

func (b blob) hash(t *testing.T) []byte {
	sum := sha1.New()
	_, err := fmt.Fprintf(sum, "%s %d\x00", b.kind, b.size)
	require.NoError(t, err)
	_, err = io.Copy(sum, b.content())
	require.NoError(t, err)
	return sum.Sum(nil)
}

// zlibbed is the object behind a prefix, compressed.
func (b blob) zlibbed(t *testing.T, prefix string) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, err := io.WriteString(z, prefix)
	require.NoError(t, err)
	_, err = io.Copy(z, b.content())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

const bombSize = 2 * largestFile

// bomb is a commit with one file of zeros: its objects, and the id of the commit.
func bomb(t *testing.T) (objects []blob, commit string) {
	file := blob{"blob", bombSize, func() io.Reader { return io.LimitReader(zeros{}, bombSize) }}
	tree := text("tree", append([]byte("100644 zeros\x00"), file.hash(t)...))
	head := text("commit", fmt.Appendf(nil, "tree %x\nauthor a <a@example.org> 0 +0000\ncommitter a <a@example.org> 0 +0000\n\nx\n", tree.hash(t)))
	return []blob{head, tree, file}, hex.EncodeToString(head.hash(t))
}

// packed writes the objects as git sends them.
func packed(t *testing.T, objects []blob) []byte {
	b := bytes.NewBufferString("PACK")
	require.NoError(t, binary.Write(b, binary.BigEndian, []uint32{2, uint32(len(objects))}))
	for _, o := range objects {
		kind := map[string]int64{"commit": 1, "tree": 2, "blob": 3}[o.kind]
		first, rest := kind<<4|o.size&15, o.size>>4
		for ; rest > 0; rest >>= 7 {
			b.WriteByte(byte(first | 0x80))
			first = rest & 0x7f
		}
		b.WriteByte(byte(first))
		b.Write(o.zlibbed(t, ""))
	}
	sum := sha1.Sum(b.Bytes())
	return append(b.Bytes(), sum[:]...)
}

// serving is a repository with one branch that sends this pack, whatever is asked.
func serving(t *testing.T, commit string, pack []byte) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			refs := packp.NewAdvRefs()
			refs.Prefix = [][]byte{[]byte("# service=git-upload-pack"), {}}
			assert.NoError(t, refs.Capabilities.Set(capability.Shallow))
			head := plumbing.NewHash(commit)
			refs.Head = &head
			assert.NoError(t, refs.AddReference(plumbing.NewHashReference("refs/heads/main", head)))
			assert.NoError(t, refs.Encode(w))
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		_, _ = fmt.Fprintf(w, "0034shallow %s00000008NAK\n", commit)
		_, _ = w.Write(pack)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/r.git"
}

// allocated is how many bytes a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestSizesAreReadBeforeContents: a repository of a few KB that holds a file of twice the bound is refused, and costs a small part of that.
func TestSizesAreReadBeforeContents(t *testing.T) {
	objects, commit := bomb(t)
	pack := packed(t, objects)
	f, err := New()
	require.NoError(t, err)
	defer f.Close()
	o := Origin{RepoURL: serving(t, commit, pack)}
	used := allocated(func() {
		v, err := f.Resolve(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, commit, v.CommitSHA)
		_, err = f.Fetch(t.Context(), o, v)
		require.ErrorContains(t, err, "too large")
	})
	t.Logf("%d KiB allocated", used>>10)
	assert.Less(t, used, uint64(bombSize/8), "allocated")
}

// TestPacksKeepTheirBounds: too many objects, a delta that makes too much of little, and objects that are too large together are refused.
func TestPacksKeepTheirBounds(t *testing.T) {
	many := []byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff")
	require.ErrorContains(t, checkPack(bytes.NewReader(many)), "objects")
	var all int64
	require.NoError(t, checkSize(largestFile, &all))
	require.Error(t, checkSize(largestFile+1, &all))
	all = largestPack - 1
	require.Error(t, checkSize(2, &all))
	delta := &head{}
	_, err := delta.Write(binary.AppendUvarint(binary.AppendUvarint(nil, 10), 1<<40))
	require.NoError(t, err)
	size, err := delta.target()
	require.NoError(t, err)
	require.Error(t, checkSize(size, new(int64)))
	_, err = (&head{}).target()
	require.ErrorIs(t, err, errDelta)
	full := &pack{}
	_, err = full.Write(make([]byte, largestPack+1))
	require.ErrorContains(t, err, "too large")
}
