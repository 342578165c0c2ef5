// Package source fetches the sources of revisions: a commit of a git repository, or an image of a container registry
// (interface, section 2).
//
// Start reading with [Fetcher]. [Fetcher.Resolve] returns the ID of the exact content for a name that can move, such as a
// branch or the tag of an image. [Fetcher.Fetch] returns that content as an [Archive]. The content of an ID never changes,
// so callers can cache archives. This package does not.
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

// Origin is the origin of content: a ref of a repository, or an image.
type Origin struct {
	RepoURL  string
	Ref      string // the name of a branch, or a full ref such as refs/tags/v1; empty means the default branch
	ImageURI string // instead of the fields above
}

// The prefixes of IDs of exact content.
const (
	Commit = "git:" // followed by the ID of a commit
	Digest = "oci:" // followed by the digest of an image
)

// Fetcher resolves and fetches content of all kinds of origins.
type Fetcher struct {
	transport *http.Transport // for requests to registries
	puller    *remote.Puller
}

// New returns a fetcher. The caller must close it.
func New() (*Fetcher, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone() // a copy, so that Close closes only its own connections
	transport.MaxIdleConnsPerHost = 8
	transport.IdleConnTimeout = 30 * time.Second
	puller, err := remote.NewPuller(remote.WithTransport(transport), remote.WithAuth(authn.Anonymous))
	if err != nil {
		return nil, fmt.Errorf("creating the client for registries: %w", err)
	}
	return &Fetcher{transport: transport, puller: puller}, nil
}

// Close closes idle connections.
func (f *Fetcher) Close() { f.transport.CloseIdleConnections() }

// Resolve returns the ID of the current content of an origin. Neither the ID nor an error contains the credentials of a
// URL.
func (f *Fetcher) Resolve(ctx context.Context, o Origin) (content string, err error) {
	switch {
	case o.ImageURI != "":
		return f.resolveImage(ctx, o.ImageURI)
	case o.RepoURL != "":
		return resolveGit(ctx, o)
	}
	return "", ErrNoOrigin
}

// Fetch returns the content with an ID that Resolve returned.
func (f *Fetcher) Fetch(ctx context.Context, o Origin, content string) (Archive, error) {
	if o.ImageURI != "" {
		return f.fetchImage(ctx, o.ImageURI, content)
	}
	return fetchGit(ctx, o, content)
}

// ErrNoOrigin is returned for an origin with neither a repository nor an image.
var ErrNoOrigin = errors.New("there is neither a repository nor an image to build; " +
	"set source_config.repo_url or source_revision_config.image_uri")

// Redacted returns a URL without its password.
func Redacted(raw string) string {
	const invalid = "(an invalid address)"
	u, err := url.Parse(raw)
	if err != nil {
		return invalid
	}
	text := u.Redacted()
	if strings.Contains(strings.TrimPrefix(text, u.Scheme+"://"), "://") { // a URL in the URL may contain another password
		return invalid
	}
	return text
}

// Archive is a tree of files as a zip file.
type Archive []byte

// Limits of a source. The files of a graph are small.
const (
	largestFile = 8 << 20
	largestTree = 32 << 20
	mostFiles   = 5000
)

// Open returns the files as a file system.
func (a Archive) Open() (fs.FS, error) {
	tree, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		return nil, fmt.Errorf("opening the archive of the source: %w", err)
	}
	return tree, nil
}

// NewArchive returns an archive with files by path.
func NewArchive(files map[string][]byte) (Archive, error) {
	a := newArchiver()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := a.add(name, bytes.NewReader(files[name])); err != nil {
			return nil, err
		}
	}
	return a.finish()
}

// archiver creates an archive.
type archiver struct {
	buffer bytes.Buffer
	zip    *zip.Writer
	files  int
	size   int64
}

// newArchiver returns an archiver without files.
func newArchiver() *archiver {
	a := &archiver{}
	a.zip = zip.NewWriter(&a.buffer)
	return a
}

// add adds a file. It returns an error if the name points out of the tree, or if the source exceeds a limit.
func (a *archiver) add(name string, content io.Reader) error {
	if !fs.ValidPath(name) {
		return fmt.Errorf("the source contains the file name %q, which is outside of the tree", name)
	}
	a.files++
	if a.files > mostFiles {
		return fmt.Errorf("the source contains more than %d files; use a smaller one", mostFiles)
	}
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return fmt.Errorf("archiving the file %s: %w", name, err)
	}
	n, err := io.Copy(w, io.LimitReader(content, largestFile+1))
	if err != nil {
		return fmt.Errorf("archiving the file %s: %w", name, err)
	}
	err = a.fits(name, n)
	a.size += n
	return err
}

// fits returns an error if a file of this size exceeds a limit.
func (a *archiver) fits(name string, size int64) error {
	if size > largestFile || a.size+size > largestTree {
		return fmt.Errorf("the source is too large at the file %s; the limits are %d MiB per file and %d MiB in total",
			name, largestFile>>20, largestTree>>20)
	}
	return nil
}

func (a *archiver) finish() (Archive, error) {
	if err := a.zip.Close(); err != nil {
		return nil, fmt.Errorf("archiving the source: %w", err)
	}
	return a.buffer.Bytes(), nil
}
