// Package source fetches what a deployment is built from, as a builder does: a ref of a git repository over HTTP with the git
// program, or an image from a registry. It reads the graph configuration, and says why a source cannot be built. It runs nothing of it.
package source
