// Package graphs holds the sources that the reference deploys: the conformance graph with its authentication handler, the
// next revision of it, and a broken one.
//
// What the conformance graph must do on any server is in CONTRACT.md in this folder.
package graphs
