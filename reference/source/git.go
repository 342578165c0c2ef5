package source

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
)

// CheckURL returns an error if the URL of a repository is not supported.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("repo_url is not a valid URL; use https://… or http://…")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("repo_url %s has an unsupported scheme; use https://… or http://…", Redacted(raw))
	}
	return nil
}

// RefName returns the full name of a ref. Clients send branches without and tags with the full path (interface, section 2).
func RefName(ref string) plumbing.ReferenceName {
	switch {
	case ref == "":
		return plumbing.HEAD
	case strings.HasPrefix(ref, "refs/"):
		return plumbing.ReferenceName(ref)
	}
	return plumbing.NewBranchReferenceName(ref)
}

// MissingRef returns the error for a ref that does not exist in its repository.
func MissingRef(o Origin) error {
	if o.Ref == "" {
		return fmt.Errorf("the repository %s has no default branch yet", Redacted(o.RepoURL))
	}
	return fmt.Errorf("the repository %s has no ref %s; use the name of a branch, or refs/tags/<name> for a tag",
		Redacted(o.RepoURL), RefName(o.Ref))
}

// resolveGit returns the commit of a ref.
func resolveGit(ctx context.Context, o Origin) (content string, err error) {
	if err := CheckURL(o.RepoURL); err != nil {
		return "", err
	}
	if RefName(o.Ref).Validate() != nil {
		return "", MissingRef(o)
	}
	remote := gogit.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{o.RepoURL}})
	refs, err := remote.ListContext(ctx, &gogit.ListOptions{PeelingOption: gogit.AppendPeeled})
	if err != nil {
		return "", cannotRead(o, err)
	}
	found := map[plumbing.ReferenceName]*plumbing.Reference{}
	for _, ref := range refs {
		found[ref.Name()] = ref
	}
	ref := found[RefName(o.Ref)]
	for ref != nil && ref.Type() == plumbing.SymbolicReference {
		ref = found[ref.Target()]
	}
	if ref == nil {
		return "", MissingRef(o)
	}
	if peeled := found[ref.Name()+"^{}"]; peeled != nil {
		ref = peeled
	}
	return Commit + ref.Hash().String(), nil
}

// fetchGit returns the files of a commit. It makes a shallow clone in memory and does not need the git program.
func fetchGit(ctx context.Context, o Origin, content string) (Archive, error) {
	if err := CheckURL(o.RepoURL); err != nil {
		return nil, err
	}
	repo, err := gogit.CloneContext(ctx, memory.NewStorage(), nil, &gogit.CloneOptions{
		URL: o.RepoURL, ReferenceName: RefName(o.Ref), SingleBranch: true, Depth: 1, Tags: gogit.NoTags,
	})
	if err != nil {
		return nil, cannotRead(o, err)
	}
	sha := strings.TrimPrefix(content, Commit)
	commit, err := repo.CommitObject(plumbing.NewHash(sha))
	if err != nil {
		return nil, fmt.Errorf("finding the commit %s in %s (the ref may have moved): %w", sha, Redacted(o.RepoURL), err)
	}
	return archiveCommit(ctx, commit)
}

// cannotRead returns an error of a repository without the password of its URL, which the text of the library may contain.
func cannotRead(o Origin, err error) error {
	text := strings.ReplaceAll(err.Error(), o.RepoURL, Redacted(o.RepoURL))
	return fmt.Errorf("reading the repository %s: %s", Redacted(o.RepoURL), text)
}

// archiveCommit returns the files of a commit without symbolic links, which may point out of the tree.
func archiveCommit(ctx context.Context, commit *object.Commit) (Archive, error) {
	files, err := commit.Files()
	if err != nil {
		return nil, fmt.Errorf("reading the files of commit %s: %w", commit.Hash, err)
	}
	a := newArchiver()
	err = files.ForEach(func(f *object.File) error {
		if f.Mode == filemode.Symlink {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.fits(f.Name, f.Size); err != nil {
			return err
		}
		content, err := f.Reader()
		if err != nil {
			return err
		}
		return errors.Join(a.add(f.Name, content), content.Close())
	})
	if err != nil {
		return nil, fmt.Errorf("reading the files of commit %s: %w", commit.Hash, err)
	}
	return a.finish()
}
