// Package store keeps the control plane's deployments and revisions in one embedded file database (bbolt), along
// with snapshots of the sources that were built, so that what was in service can be put in service again after a
// restart without asking the place it came from.
//
// What a method has acknowledged is on the disk: it survives kill -9. A store that is opened as ephemeral skips
// the waiting for the disk; it is for data that dies with the process.
//
// Records are JSON, so that a person can read a file with any bbolt viewer. Keys are made so that the order of the
// file is the order of creation, and a list, newest first, is a walk backwards.
package store
