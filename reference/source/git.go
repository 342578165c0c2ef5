package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
)

// git reads repositories without the git program: those on this machine in place, others by a shallow clone into
// memory.
type git struct{}

// place is where a repository is: a folder, or an http address.
type place struct{ folder, address string }

func locate(raw string) (place, error) {
	if filepath.IsAbs(raw) {
		return place{folder: raw}, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return place{}, errors.New("repo_url is not a URL; use https://…, http://…, file:///… or an absolute path")
	}
	switch {
	case u.Scheme == "file" && filepath.IsAbs(u.Path):
		return place{folder: filepath.FromSlash(u.Path)}, nil
	case u.Scheme == "http" || u.Scheme == "https":
		return place{address: raw}, nil
	}
	return place{}, fmt.Errorf("repo_url %s has an unsupported scheme; use https://…, http://…, file:///… or an absolute path", u.Redacted())
}

// refName returns the full name of a ref. The interface, section 2, gives branches bare and tags in full.
func refName(ref string) plumbing.ReferenceName {
	switch {
	case ref == "":
		return plumbing.HEAD
	case strings.HasPrefix(ref, "refs/"):
		return plumbing.ReferenceName(ref)
	}
	return plumbing.NewBranchReferenceName(ref)
}

func missingRef(o Origin) error {
	if o.Ref == "" {
		return fmt.Errorf("the repository %s has no default branch yet", redacted(o.RepoURL))
	}
	return fmt.Errorf("the repository %s has no ref %s; use the name of a branch, or refs/tags/<name> for a tag",
		redacted(o.RepoURL), refName(o.Ref))
}

func (g git) resolve(ctx context.Context, o Origin) (Version, error) {
	at, err := locate(o.RepoURL)
	if err != nil {
		return Version{}, err
	}
	if refName(o.Ref).Validate() != nil {
		return Version{}, missingRef(o)
	}
	find := g.resolveRemote
	if at.folder != "" {
		find = g.resolveLocal
	}
	commit, err := find(ctx, at, o)
	if err != nil {
		return Version{}, err
	}
	return Version{Content: "git:" + commit.String(), CommitSHA: commit.String()}, nil
}

func (g git) fetch(ctx context.Context, o Origin, v Version) (Archive, error) {
	at, err := locate(o.RepoURL)
	if err != nil {
		return nil, err
	}
	var repo *gogit.Repository
	if at.folder != "" {
		repo, err = gogit.PlainOpen(at.folder)
	} else {
		repo, err = clone(ctx, at, o)
	}
	if err != nil {
		return nil, cannotRead(o, err)
	}
	commit, err := repo.CommitObject(plumbing.NewHash(v.CommitSHA))
	if err != nil {
		return nil, fmt.Errorf("the commit %s is not to be had from %s (did the ref move in between?): %w", v.CommitSHA, redacted(o.RepoURL), err)
	}
	return archiveCommit(ctx, repo, commit)
}

func (g git) resolveLocal(_ context.Context, at place, o Origin) (plumbing.Hash, error) {
	repo, err := gogit.PlainOpen(at.folder)
	if err != nil {
		return plumbing.ZeroHash, cannotRead(o, err)
	}
	ref, err := repo.Reference(refName(o.Ref), true)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, missingRef(o)
	}
	if err != nil {
		return plumbing.ZeroHash, cannotRead(o, err)
	}
	return peel(repo, o, ref.Hash())
}

// peel follows annotated tags to the commit they name.
func peel(repo *gogit.Repository, o Origin, h plumbing.Hash) (plumbing.Hash, error) {
	for {
		tag, err := repo.TagObject(h)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			break
		}
		if err != nil {
			return plumbing.ZeroHash, cannotRead(o, err)
		}
		h = tag.Target
	}
	if _, err := repo.CommitObject(h); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("the ref %s of %s names no commit: %w", refName(o.Ref), redacted(o.RepoURL), err)
	}
	return h, nil
}

func (g git) resolveRemote(ctx context.Context, at place, o Origin) (plumbing.Hash, error) {
	remote := gogit.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{at.address}})
	refs, err := remote.ListContext(ctx, &gogit.ListOptions{PeelingOption: gogit.AppendPeeled})
	if err != nil {
		return plumbing.ZeroHash, cannotRead(o, err)
	}
	found := map[plumbing.ReferenceName]*plumbing.Reference{}
	for _, ref := range refs {
		found[ref.Name()] = ref
	}
	ref := found[refName(o.Ref)]
	for ref != nil && ref.Type() == plumbing.SymbolicReference {
		ref = found[ref.Target()]
	}
	if ref == nil {
		return plumbing.ZeroHash, missingRef(o)
	}
	if peeled := found[ref.Name()+"^{}"]; peeled != nil {
		ref = peeled
	}
	return ref.Hash(), nil
}

func clone(ctx context.Context, at place, o Origin) (*gogit.Repository, error) {
	return gogit.CloneContext(ctx, newBounded(), nil, &gogit.CloneOptions{
		URL: at.address, ReferenceName: refName(o.Ref), SingleBranch: true, Depth: 1, Tags: gogit.NoTags,
	})
}

// cannotRead explains an error of a repository. The library's text may repeat the address with its password.
func cannotRead(o Origin, err error) error {
	text := strings.ReplaceAll(err.Error(), o.RepoURL, redacted(o.RepoURL))
	return fmt.Errorf("read the repository %s: %s", redacted(o.RepoURL), text)
}

// archiveCommit looks at the size of each file before it reads it: the library holds a file whole.
func archiveCommit(ctx context.Context, repo *gogit.Repository, commit *object.Commit) (Archive, error) {
	tree, err := commit.Tree()
	if err != nil {
		return nil, fmt.Errorf("read the files of commit %s: %w", commit.Hash, err)
	}
	files := object.NewTreeWalker(tree, true, nil)
	defer files.Close()
	a := newArchiver()
	for ctx.Err() == nil {
		name, entry, err := files.Next()
		if errors.Is(err, io.EOF) {
			return a.finish()
		}
		if err == nil && entry.Mode.IsFile() && entry.Mode != filemode.Symlink { // links may lead out of the tree
			err = archiveFile(a, repo, name, entry.Hash)
		}
		if err != nil {
			return nil, fmt.Errorf("read the files of commit %s: %w", commit.Hash, err)
		}
	}
	return nil, ctx.Err()
}

func archiveFile(a *archiver, repo *gogit.Repository, name string, hash plumbing.Hash) error {
	size, err := repo.Storer.EncodedObjectSize(hash)
	if err != nil {
		return err
	}
	if err := a.fits(name, size); err != nil {
		return err
	}
	blob, err := repo.BlobObject(hash)
	if err != nil {
		return err
	}
	content, err := blob.Reader()
	if err != nil {
		return err
	}
	return errors.Join(a.add(name, content), content.Close())
}
