package source

import (
	"context"
	"errors"
	"net/url"
)

// Origin says where content comes from: a ref of a repository, or an image.
type Origin struct {
	RepoURL  string
	Ref      string // a bare branch name, or a full ref path such as refs/tags/v1; empty is the default branch
	ImageURI string // in place of the two above
}

// Version is exact content.
type Version struct {
	Content   string // id of the content: "git:<commit>" or "oci:<digest>"
	CommitSHA string // of a git origin
}

// Fetcher finds and fetches content of every kind of origin.
type Fetcher struct {
	git    git
	images *images
}

// New makes a fetcher. Close it when it is no longer used.
func New() (*Fetcher, error) {
	images, err := newImages()
	if err != nil {
		return nil, err
	}
	return &Fetcher{images: images}, nil
}

// Close gives up the connections that are kept for reuse.
func (f *Fetcher) Close() { f.images.close() }

// Resolve finds out which exact content the origin has now. Nothing that is fetched or answered carries the
// credentials of a URL; errors show it without them.
func (f *Fetcher) Resolve(ctx context.Context, o Origin) (Version, error) {
	switch {
	case o.ImageURI != "":
		return f.images.resolve(ctx, o.ImageURI)
	case o.RepoURL != "":
		return f.git.resolve(ctx, o)
	}
	return Version{}, errNowhere
}

// Fetch returns the content of a version of the origin.
func (f *Fetcher) Fetch(ctx context.Context, o Origin, v Version) (Archive, error) {
	switch {
	case o.ImageURI != "":
		return f.images.fetch(ctx, o.ImageURI, v)
	case o.RepoURL != "":
		return f.git.fetch(ctx, o, v)
	}
	return nil, errNowhere
}

var errNowhere = errors.New("there is neither a repository nor an image to build from; give source_config.repo_url or source_revision_config.image_uri")

// redacted shows a URL without the password it may hold.
func redacted(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Redacted()
	}
	return "(an address that cannot be read)"
}
