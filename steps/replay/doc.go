// Package replay judges findings of an earlier run again: it runs the scenarios that showed them, with what they need, and
// says of each finding whether it still fails.
//
// The result file says which scenarios to run, by their names. It never says what to send: requests come from the
// definitions of this version and the configuration alone, since a result file may come from anywhere.
package replay
