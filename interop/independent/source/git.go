package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
)

// Git fetches one ref of a repository over HTTP, without its history: a branch by its bare name, a tag as refs/tags/..., the
// default branch as an empty string. The version of the tree is the commit. It needs the git program.
func Git(ctx context.Context, repository, ref string) (*Tree, error) {
	u, err := url.Parse(repository)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of a repository over HTTP", repository)
	}
	switch {
	case ref == "":
		ref = "HEAD"
	case !strings.HasPrefix(ref, "refs/tags/"):
		ref = "refs/heads/" + ref
	}
	folder, err := os.MkdirTemp("", "source")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a folder for temporary files
	var commit, archive []byte
	for _, step := range []struct {
		args []string
		into *[]byte
	}{
		{[]string{"init", "--quiet", "--bare"}, nil},
		{[]string{"fetch", "--quiet", "--depth", "1", "--no-tags", repository, "+" + ref + ":refs/source"}, nil},
		{[]string{"rev-parse", "refs/source^{commit}"}, &commit},
		{[]string{"archive", "--format", "tar", "refs/source"}, &archive},
	} {
		out, err := git(ctx, folder, step.args...)
		if err != nil {
			return nil, fmt.Errorf("fetch %s of %s: %w", ref, repository, err)
		}
		if step.into != nil {
			*step.into = out
		}
	}
	t := &Tree{Version: string(bytes.TrimSpace(commit)), files: map[string][]byte{}}
	return t, t.unpack(bytes.NewReader(archive), "")
}

// git runs the program without anything that the machine configures.
func git(ctx context.Context, folder string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GIT_DIR="+folder, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	out, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(failed.Stderr))
	}
	return out, err
}
