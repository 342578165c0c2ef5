// Package source finds and fetches what revisions are built from: a commit of a git repository, or an image of a
// container registry (interface, section 2).
//
// Both come in two steps. Resolve turns a moving name (a branch, a tag of an image) into the id of exact content;
// Fetch returns that content as an [Archive]. What has an id never changes, so archives can be kept for as long as
// one likes; this package keeps none.
package source

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Origin says where content comes from: a ref of a repository, or an image.
type Origin struct {
	RepoURL  string
	Ref      string // a bare branch name, or a full ref path such as refs/tags/v1; empty is the default branch
	ImageURI string // in place of the two above
}

// What an id of exact content begins with: a commit of a repository, or the digest of an image follows.
const (
	Commit = "git:"
	Digest = "oci:"
)

// Fetcher finds and fetches content of every kind of origin.
type Fetcher struct {
	transport *http.Transport // to registries
	puller    *remote.Puller
}

// New makes a fetcher. Close it when it is no longer used.
func New() (*Fetcher, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone() // its own, so that Close ends its connections only
	transport.MaxIdleConnsPerHost = 8
	transport.IdleConnTimeout = 30 * time.Second
	puller, err := remote.NewPuller(remote.WithTransport(transport), remote.WithAuth(authn.Anonymous))
	if err != nil {
		return nil, fmt.Errorf("prepare to pull images: %w", err)
	}
	return &Fetcher{transport: transport, puller: puller}, nil
}

// Close gives up the connections that are kept for reuse.
func (f *Fetcher) Close() { f.transport.CloseIdleConnections() }

// Resolve finds out which exact content the origin has now, and returns its id. Nothing that is fetched or answered
// carries the credentials of a URL; errors show it without them.
func (f *Fetcher) Resolve(ctx context.Context, o Origin) (content string, err error) {
	switch {
	case o.ImageURI != "":
		return f.resolveImage(ctx, o.ImageURI)
	case o.RepoURL != "":
		return resolveGit(ctx, o)
	}
	return "", ErrNowhere
}

// Fetch returns the content with the id that Resolve has found.
func (f *Fetcher) Fetch(ctx context.Context, o Origin, content string) (Archive, error) {
	if o.ImageURI != "" {
		return f.fetchImage(ctx, o.ImageURI, content)
	}
	return fetchGit(ctx, o, content)
}

// ErrNowhere is the error of an origin without a repository and an image.
var ErrNowhere = errors.New("no repository and no image to build from; " +
	"set source_config.repo_url or source_revision_config.image_uri")

// Redacted shows a URL without the password it may hold.
func Redacted(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		text := u.Redacted()
		if !strings.Contains(strings.TrimPrefix(text, u.Scheme+"://"), "://") { // else there may be another password in it
			return text
		}
	}
	return "(an address that cannot be read)"
}

// Archive is a tree of files as one value that can be stored, and opened again as a file system (a zip file).
type Archive []byte

// Bounds of what is built: a graph's files are small.
const (
	largestFile = 8 << 20
	largestTree = 32 << 20
	mostFiles   = 5000
)

// Open returns the files.
func (a Archive) Open() (fs.FS, error) {
	tree, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		return nil, fmt.Errorf("open the snapshot of the source: %w", err)
	}
	return tree, nil
}

// NewArchive returns an archive of files by path.
func NewArchive(files map[string][]byte) (Archive, error) {
	a := newArchiver()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := a.add(name, bytes.NewReader(files[name])); err != nil {
			return nil, err
		}
	}
	return a.finish()
}

// archiver makes an archive.
type archiver struct {
	buffer bytes.Buffer
	zip    *zip.Writer
	files  int
	size   int64
}

func newArchiver() *archiver {
	a := &archiver{}
	a.zip = zip.NewWriter(&a.buffer)
	return a
}

// add adds a file. Names that lead out of the tree are refused, as are trees beyond the bounds.
func (a *archiver) add(name string, content io.Reader) error {
	if !fs.ValidPath(name) {
		return fmt.Errorf("the source contains the file name %q, which is outside of the tree", name)
	}
	if a.files++; a.files > mostFiles {
		return fmt.Errorf("the source contains more than %d files; use a smaller one", mostFiles)
	}
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return fmt.Errorf("snapshot the file %s: %w", name, err)
	}
	n, err := io.Copy(w, io.LimitReader(content, largestFile+1))
	if err != nil {
		return fmt.Errorf("snapshot the file %s: %w", name, err)
	}
	err = a.fits(name, n)
	a.size += n
	return err
}

// fits tells whether there is room for a file of this size.
func (a *archiver) fits(name string, size int64) error {
	if size > largestFile || a.size+size > largestTree {
		return fmt.Errorf("the source is too large at the file %s; the bounds are %d MiB a file and %d MiB in all",
			name, largestFile>>20, largestTree>>20)
	}
	return nil
}

func (a *archiver) finish() (Archive, error) {
	if err := a.zip.Close(); err != nil {
		return nil, fmt.Errorf("snapshot the source: %w", err)
	}
	return a.buffer.Bytes(), nil
}
