package source

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Container images are pulled anonymously from their registry, without a container engine. Only the files below the working
// directory of the image are used, from all layers together.

// ParseImage parses the name of an image.
func ParseImage(uri string) (name.Reference, error) {
	ref, err := name.ParseReference(uri)
	if err != nil {
		return nil, fmt.Errorf("image_uri %q is not the name of an image; use <registry>/<repository>:<tag> or "+
			"…@sha256:<digest>: %w", uri, err)
	}
	return ref, nil
}

// resolveImage returns the digest of an image.
func (f *Fetcher) resolveImage(ctx context.Context, uri string) (content string, err error) {
	ref, err := ParseImage(uri)
	if err != nil {
		return "", err
	}
	found, err := f.puller.Head(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("finding the image %s: %w", ref, err)
	}
	return Digest + found.Digest.String(), nil
}

// fetchImage returns the files of an image with a digest.
func (f *Fetcher) fetchImage(ctx context.Context, uri, content string) (Archive, error) {
	ref, err := ParseImage(uri)
	if err != nil {
		return nil, err
	}
	exact := ref.Context().Digest(strings.TrimPrefix(content, Digest)) // the tag may have moved since
	found, err := f.puller.Get(ctx, exact)
	if err != nil {
		return nil, fmt.Errorf("pulling the image %s: %w", exact, err)
	}
	img, err := found.Image()
	if err != nil {
		return nil, fmt.Errorf("pulling the image %s: %w", exact, err)
	}
	archive, err := archiveImage(ctx, img)
	if err != nil {
		return nil, fmt.Errorf("reading the image %s: %w", exact, err)
	}
	return archive, nil
}

// largestConfig is the maximum size of the configuration of an image, in bytes. It is the limit of registries for
// everything except layers.
const largestConfig = 4 << 20

// archiveImage returns the regular files of an image. Links are skipped, because they may point out of the tree.
func archiveImage(ctx context.Context, img v1.Image) (archive Archive, err error) {
	manifest, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	if manifest.Config.Size > largestConfig { // the configuration is read into memory
		return nil, fmt.Errorf("the configuration of the image has %d bytes; the limit is %d",
			manifest.Config.Size, largestConfig)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	root := strings.TrimPrefix(path.Clean("/"+config.Config.WorkingDir), "/")
	layers := mutate.Extract(img)
	defer func() { err = errors.Join(err, layers.Close()) }()
	a := newArchiver()
	for files := tar.NewReader(layers); ctx.Err() == nil; {
		file, err := files.Next()
		if err == io.EOF {
			// The library always ends the archive regularly. After an error, the next read returns the error.
			if _, err := io.Copy(io.Discard, layers); err != nil {
				return nil, err
			}
			return a.finish()
		}
		if err != nil {
			return nil, err
		}
		name, inside := below(root, file.Name)
		if file.Typeflag != tar.TypeReg || !inside {
			continue
		}
		if err := a.fits(name, file.Size); err != nil {
			return nil, err
		}
		if err := a.add(name, files); err != nil {
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// below returns the name of a file relative to the root folder, and whether the file is inside of it.
func below(root, file string) (name string, inside bool) {
	file = strings.TrimPrefix(path.Clean("/"+file), "/")
	if root == "" {
		return file, true
	}
	return strings.CutPrefix(file, root+"/")
}
