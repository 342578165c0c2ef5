// Package script runs Starlark code: graphs and authentication handlers. A call is bounded by a number of instructions
// and by a time, and ends with its context; errors carry the place in the source. Its memory is not bounded: the
// reference runs scripts of those who run it (SECURITY.md).
//
// The package does not depend on threads, runs or HTTP.
package script
