// Package source finds and fetches what revisions are built from: a commit of a git repository, or an image of a
// container registry (interface, section 2).
//
// Both come in two steps. Resolve turns a moving name (a branch, a tag of an image) into the id of exact content;
// Fetch returns that content as an [Archive]. What has an id never changes, so archives can be kept for as long as
// one likes; this package keeps none.
//
// It does not know what is in the files.
package source
