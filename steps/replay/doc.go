// Package replay sends recorded exchanges again, to the same or another target, and tells what is different.
//
// A finding is replayed with what led to it: the exchanges of its scenario up to the one that shows it, and before
// them those that created the deployments, threads and runs that they name. Ids that come back differently are
// replaced in everything that follows. Exchanges that were made at the same time are sent one after the other.
package replay
